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

#endif
