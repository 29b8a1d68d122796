/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of C that metatfc writes for one record, and what they call its fields: the number of field
 * I is vI, the struct at hand e, e1, ... by depth. */
#ifndef COMPILERS_METATFC_METATFC_TEXT_H
#define COMPILERS_METATFC_METATFC_TEXT_H

#include "compilers/metatfc/metatfc_model.h"

struct mc_text {
    FILE *out;
    const struct mc_record *mc;
    unsigned depth; /* of repeated groups */
};

/* A line, indented. */
__attribute__((format(printf, 2, 3))) void mc_text_line(const struct mc_text *text,
                                                        const char *format, ...);

/* Names and expressions in C; each gives what it wrote to `out`, or a constant. */
const char *mc_text_element(unsigned depth, char out[16]);
const char *mc_text_argument(const struct mc_text *text, uint32_t i, char out[96]);
const char *mc_text_width(const struct mc_text *text, uint32_t i, char out[32]);
const char *mc_text_value(const struct mc_text *text, uint32_t i, char out[48]);

/* Declares what the function for a record begins with: `s`, its fields' states, and `c`, the cells;
 * `side` is the reader or the writer there. */
void mc_text_declare_states(const struct mc_text *text, const char *side);
/* Declares vI: the value of a number as the struct has it; a length that another field tells is
 * that field's. */
void mc_text_declare_value(const struct mc_text *text, uint32_t i);
/* Declares the item that the loop over a repetition is at, under the name `inner`. */
void mc_text_declare_item(const struct mc_text *text, uint32_t i, const char *outer,
                          const char *inner);

#endif
