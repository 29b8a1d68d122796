/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the source that metatfc writes, in the order in which they stand there. */
#ifndef COMPILERS_METATFC_METATFC_SOURCE_H
#define COMPILERS_METATFC_METATFC_SOURCE_H

#include "compilers/metatfc/metatfc_model.h"

/* The DTD as constants. */
void mc_write_tables(const struct mc_model *model, FILE *out);
/* Of a record: a function that reads it, one that writes it, one that takes it apart. */
void mc_write_reader(const struct mc_record *mc, FILE *out);
void mc_write_writer(const struct mc_record *mc, FILE *out);
void mc_write_list(const struct mc_record *mc, FILE *out);
/* Of all: the functions that find these by tag or kind. */
void mc_write_get(const struct mc_model *model, FILE *out);
void mc_write_put(const struct mc_model *model, FILE *out);
void mc_write_values(const struct mc_model *model, FILE *out);

#endif
