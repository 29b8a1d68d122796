/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields of records are to be decoded. */
#ifndef CONVERTER_TABLES_WANTED_FIELDS_H
#define CONVERTER_TABLES_WANTED_FIELDS_H

#include "steptrace/reader.h"

/* A byte for each field of the record type and of those that extend it, for
 * step_reader_load_fields(): by record of the definition.  NULL: out of memory. */
uint8_t **wanted_fields_create(const struct step_definition *definition, uint32_t record);
/* Wants a field of `owner`, and of what extends it. */
void wanted_fields_add(uint8_t **fields, const struct step_definition *definition, uint32_t owner,
                       uint32_t field);
void wanted_fields_destroy(uint8_t **fields, const struct step_definition *definition);

#endif
