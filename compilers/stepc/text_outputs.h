/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of stepc that write one text, and helpers that those for people share. */
#ifndef COMPILERS_STEPC_TEXT_OUTPUTS_H
#define COMPILERS_STEPC_TEXT_OUTPUTS_H

#include <stdio.h>

#include "steptrace/definition.h"

struct text_output {
    const struct step_definition *definition; /* a parsed one */
    const char *title;                        /* "zoo", from the file's name */
    FILE *out;
};

void print_canonical(const struct text_output *output);
void print_schema(const struct text_output *output);
void print_markdown(const struct text_output *output);
void print_man_page(const struct text_output *output);

/* For each record, the list of its direct children; UINT32_MAX ends a list. */
struct doc_children {
    uint32_t *first; /* first child of each record */
    uint32_t *next;  /* the next child of the same parent */
    uint32_t roots;
};

/* Returns false if out of memory. */
bool doc_children_init(struct doc_children *children, const struct step_definition *definition);
void doc_children_reset(struct doc_children *children);

/* Writes the type in STEP-DL syntax, user types by absolute name. */
void doc_put_type(FILE *out, const struct step_definition *definition,
                  const struct step_field *field);
/* Returns the number of the record's inherited fields. */
size_t doc_inherited_count(const struct step_definition *definition, uint32_t record);
/* Returns the index in `attributes` after those that come from `inherited`. */
size_t doc_own_attributes(const struct step_attributes *attributes,
                          const struct step_attributes *inherited);
/* Returns the length of the package in a record's name, with its dot: 5 for "java.Event", 0 without
 * a package. */
size_t doc_package_length(const char *name);

#endif
