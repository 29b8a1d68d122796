/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the fields of records to decode. */
#ifndef CONVERTER_TABLES_WANTED_FIELDS_H
#define CONVERTER_TABLES_WANTED_FIELDS_H

#include "steptrace/reader.h"

/* Returns an array for step_reader_load_fields(), by record of the definition, with a byte per
 * field for the record type and those that extend it.  NULL: out of memory. */
uint8_t **wanted_fields_create(const struct step_definition *definition, uint32_t record);
/* Selects a field of `owner`, also in the types that extend it. */
void wanted_fields_add(uint8_t **fields, const struct step_definition *definition, uint32_t owner,
                       uint32_t field);
void wanted_fields_destroy(uint8_t **fields, const struct step_definition *definition);

#endif
