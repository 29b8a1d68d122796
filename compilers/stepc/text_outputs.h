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

/* Writes the type in STEP-DL syntax, user types by absolute name. */
void doc_put_type(FILE *out, const struct step_definition *definition,
                  const struct step_field *field);
/* Returns the number of the record's inherited fields. */
size_t doc_inherited_count(const struct step_definition *definition, uint32_t record);
#endif
