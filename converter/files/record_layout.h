/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of fields in decoded STEP records, and the record types of a block. */
#ifndef CONVERTER_FILES_RECORD_LAYOUT_H
#define CONVERTER_FILES_RECORD_LAYOUT_H

#include <stdbool.h>

#include "steptrace/reader.h"

/* Returns the index of a field's first slot in a decoded record (reader.h). */
static inline size_t record_field_slot(const struct step_definition *definition, uint32_t record,
                                       size_t field)
{
    size_t slot = 0;
    for (size_t i = 0; i < field; i++) {
        const struct step_field *before = &definition->records[record].fields[i];
        slot +=
            step_field_is_nested(before) ? step_record_slot_count(definition, before->record) : 1;
    }
    return slot;
}

/* Returns whether the block has records of a wanted type.  `wanted` is indexed by record. */
static inline bool block_has_wanted(const struct step_block_info *info, const uint8_t *wanted)
{
    bool found = false;
    for (size_t i = 0; !found && i < info->type_count; i++)
        found = wanted[info->counts[i].record] != 0;
    return found;
}

#endif
