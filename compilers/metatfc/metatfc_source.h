/* SPDX-License-Identifier: Apache-2.0 */
/* Writers for the parts of metatfc's generated source, in the order of that source. */
#ifndef COMPILERS_METATFC_METATFC_SOURCE_H
#define COMPILERS_METATFC_METATFC_SOURCE_H

#include "compilers/metatfc/metatfc_model.h"

/* Writes the DTD as constants. */
void mc_write_tables(const struct mc_model *model, FILE *out);
/* Write the functions of a record that read it, write it, and list its values. */
void mc_write_reader(const struct mc_record *mc, FILE *out);
void mc_write_writer(const struct mc_record *mc, FILE *out);
/* Write the functions for all records, which dispatch by tag or kind. */
void mc_write_get(const struct mc_model *model, FILE *out);
void mc_write_put(const struct mc_model *model, FILE *out);
void mc_write_values(const struct mc_model *model, FILE *out);

/* Lines of C that metatfc generates for one record.  In them the number of field I is vI; the
 * current struct is e, e1, ... by depth. */
struct mc_text {
    FILE *out;
    const struct mc_record *mc;
    unsigned depth; /* nesting depth of repeated groups */
};

/* Writes one indented line. */
__attribute__((format(printf, 2, 3))) void mc_text_line(const struct mc_text *text,
                                                        const char *format, ...);

/* Return names and expressions in C, written to `out` or constant. */
const char *mc_text_element(unsigned depth, char out[16]);
const char *mc_text_argument(const struct mc_text *text, uint32_t i, char out[96]);
const char *mc_text_width(const struct mc_text *text, uint32_t i, char out[32]);
const char *mc_text_value(const struct mc_text *text, uint32_t i, char out[48]);

/* Declares `s`, the states of the record's fields, and `c`, the cells.  `side` is the expression
 * for the reader or the writer. */
void mc_text_declare_states(const struct mc_text *text, const char *side);
/* Declares vI, the value of a number from the struct.  For a field that stores a length it is the
 * length of that field. */
void mc_text_declare_value(const struct mc_text *text, uint32_t i);
/* Declares `inner`, the current element of a loop over a repetition. */
void mc_text_declare_item(const struct mc_text *text, uint32_t i, const char *outer,
                          const char *inner);

#endif
