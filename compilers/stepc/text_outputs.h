/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of stepc that are one text: what they are given, and what those for people share. */
#ifndef COMPILERS_STEPC_TEXT_OUTPUTS_H
#define COMPILERS_STEPC_TEXT_OUTPUTS_H

#include <stdio.h>

#include "steptrace/definition.h"

struct text_output {
    const struct step_definition *definition; /* a parsed one */
    const char *title;                        /* "zoo", of the file's name */
    FILE *out;
};

void print_canonical(const struct text_output *output);
void print_schema(const struct text_output *output);
void print_markdown(const struct text_output *output);
void print_man_page(const struct text_output *output);

/* Which records extend which; UINT32_MAX ends each list. */
struct doc_children {
    uint32_t *first; /* of each record */
    uint32_t *next;  /* the next child of the same parent */
    uint32_t roots;
};

/* False: out of memory. */
bool doc_children_init(struct doc_children *children, const struct step_definition *definition);
void doc_children_reset(struct doc_children *children);

/* The type as it is written in STEP-DL, user types by their absolute names. */
void doc_put_type(FILE *out, const struct step_definition *definition,
                  const struct step_field *field);
/* How many of its fields the record inherits. */
size_t doc_inherited_count(const struct step_definition *definition, uint32_t record);
/* Where in `attributes` those begin that a thing does not have from `inherited`. */
size_t doc_own_attributes(const struct step_attributes *attributes,
                          const struct step_attributes *inherited);
/* The parts of the record's name: "java." of "java.Event", and "Event". */
size_t doc_package_length(const char *name);

#endif
