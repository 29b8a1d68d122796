/* SPDX-License-Identifier: Apache-2.0 */
/* One byte per field, for a record type and all types that extend it. */
#include "converter/tables/wanted_fields.h"

#include <stdlib.h>

uint8_t **wanted_fields_create(const struct step_definition *definition, uint32_t record)
{
    uint8_t **fields = calloc(definition->record_count + 1, sizeof *fields);
    for (uint32_t i = 0; fields != NULL && i < definition->record_count; i++) {
        if (!step_record_extends(definition, i, record))
            continue;
        fields[i] = calloc(definition->records[i].field_count + 1, 1);
        if (fields[i] == NULL) {
            wanted_fields_destroy(fields, definition);
            return NULL;
        }
    }
    return fields;
}

void wanted_fields_add(uint8_t **fields, const struct step_definition *definition, uint32_t owner,
                       uint32_t field)
{
    for (uint32_t i = 0; i < definition->record_count; i++)
        if (fields[i] != NULL && step_record_extends(definition, i, owner))
            fields[i][field] = 1;
}

void wanted_fields_destroy(uint8_t **fields, const struct step_definition *definition)
{
    for (uint32_t i = 0; fields != NULL && i < definition->record_count; i++)
        free(fields[i]);
    free(fields);
}
