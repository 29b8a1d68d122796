/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the record types by their names, and checks their fields. */
#include "converter/files/joined_types.h"

static bool joined_is_number(const struct step_definition *definition, uint32_t record,
                             size_t field, bool is_id)
{
    if (record == STEP_NO_RECORD || field >= definition->records[record].field_count)
        return false;
    const struct step_field *found = &definition->records[record].fields[field];
    return is_id ? step_field_is_identifier(found) : found->kind == STEP_TYPE_INT;
}

/* Returns true if a record extends another one by nothing. */
static bool has_fields_of(const struct step_definition *definition, uint32_t record,
                          uint32_t parent)
{
    return record != STEP_NO_RECORD && parent != STEP_NO_RECORD &&
           definition->records[record].parent == parent &&
           definition->records[record].field_count == definition->records[parent].field_count;
}

static bool has_types(const struct step_definition *definition, const struct joined_types *types)
{
    const uint32_t frees[] = {types->object_free, types->object_free_earlier};
    for (size_t i = 0; i < 2; i++)
        if (!joined_is_number(definition, frees[i], 0, false) ||
            !joined_is_number(definition, frees[i], 1, true) ||
            !joined_is_number(definition, frees[i], 2, false) ||
            definition->records[frees[i]].field_count != 3)
            return false;
    return has_fields_of(definition, types->class_existing, types->class_load) &&
           has_fields_of(definition, types->thread_existing, types->thread_start) &&
           joined_is_number(definition, types->vm_init, 0, false) &&
           joined_is_number(definition, types->class_existing, 2, true) &&
           joined_is_number(definition, types->thread_existing, 1, true) &&
           joined_is_number(definition, types->thread_end, 1, true);
}

/* All fields have one slot. */
static bool is_plain(const struct step_definition *definition)
{
    bool plain = true;
    for (uint32_t i = 0; i < definition->record_count; i++)
        for (size_t k = 0; k < definition->records[i].field_count; k++) {
            const struct step_field *field = &definition->records[i].fields[k];
            plain = plain && field->array_depth == 0 && !step_field_is_nested(field) &&
                    !step_field_is_variant(field);
        }
    return plain;
}

bool joined_types_fit(const struct step_definition *definition, const struct joined_types *types)
{
    return is_plain(definition) && has_types(definition, types);
}

struct joined_types joined_types_find(const struct step_definition *definition)
{
    return (struct joined_types){
        .vm_start = step_definition_find(definition, "java.VMStart"),
        .vm_init = step_definition_find(definition, "java.VMInit"),
        .vm_death = step_definition_find(definition, "java.VMDeath"),
        .class_load = step_definition_find(definition, "java.ClassLoad"),
        .class_existing = step_definition_find(definition, "java.ClassExisting"),
        .thread_start = step_definition_find(definition, "java.ThreadStart"),
        .thread_existing = step_definition_find(definition, "java.ThreadExisting"),
        .thread_end = step_definition_find(definition, "java.ThreadEnd"),
        .object_free = step_definition_find(definition, "java.ObjectFree"),
        .object_free_earlier = step_definition_find(definition, "java.ObjectFreeEarlier")};
}
