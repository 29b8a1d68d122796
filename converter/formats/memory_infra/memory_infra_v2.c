/* SPDX-License-Identifier: Apache-2.0 */
/* Parses heaps_v2: maps of names, and columns of numbers. */
#include <inttypes.h>

#include "converter/formats/memory_infra/memory_infra_event.h"

/* Parses an array of objects of heaps_v2, each with some numbers and a text. */
static enum step_status take_v2_items(struct infra_reading *reading, enum infra_name_kind kind)
{
    enum json_token token;
    enum step_status status;
    while ((status = infra_next(reading, &token)) == STEP_STATUS_OK && token == JSON_OBJECT) {
        size_t id = 0, name = 0, parent = 0;
        while ((status = infra_next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
            size_t *target =
                infra_text_is(reading, "id")                                             ? &id
                : infra_text_is(reading, "name_sid") || infra_text_is(reading, "string") ? &name
                : infra_text_is(reading, "parent")                                       ? &parent
                                                                                         : NULL;
            if ((status = infra_take_text(reading, target)) != STEP_STATUS_OK)
                return status;
        }
        if (status == STEP_STATUS_OK && id != 0)
            status = infra_add_name(reading, kind, id, name, parent);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (status == STEP_STATUS_OK && token != JSON_ARRAY_END) {
        memory_infra_fault(reading->infra, "something in a map of heaps_v2 is no object");
        while (status == STEP_STATUS_OK && token != JSON_ARRAY_END) {
            status = infra_skip(reading, token);
            if (status == STEP_STATUS_OK)
                status = infra_next(reading, &token);
        }
    }
    return status;
}

static enum step_status take_v2_map(struct infra_reading *reading, enum json_token token,
                                    size_t key)
{
    if (token == JSON_ARRAY && reading->takes_names) {
        if (infra_key_is(reading, key, "nodes"))
            return take_v2_items(reading, INFRA_V2_FRAME);
        if (infra_key_is(reading, key, "types"))
            return take_v2_items(reading, INFRA_V2_TYPE);
        if (infra_key_is(reading, key, "strings"))
            return take_v2_items(reading, INFRA_V2_STRING);
    }
    return infra_skip(reading, token);
}

/* Stores a column of heaps_v2 in the values from `first` on, which are created as needed. */
static enum step_status take_v2_column(struct infra_reading *reading, size_t first, char column)
{
    enum json_token token;
    enum step_status status;
    for (size_t i = first; (status = infra_next(reading, &token)) == STEP_STATUS_OK; i++) {
        if (token == JSON_ARRAY_END)
            return status;
        uint64_t number = 0;
        if (token != JSON_NUMBER || !infra_read_decimal(json_input_text(reading->json), &number)) {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": a whole number is expected",
                               json_input_offset(reading->json));
            if ((status = infra_skip(reading, token)) != STEP_STATUS_OK)
                return status;
        }
        if (i == reading->event.count) {
            const struct infra_value value = {.is_v2 = true};
            if ((status = infra_add_value(reading, &value)) != STEP_STATUS_OK)
                return status;
        }
        struct infra_value *value = &reading->event.values[i];
        size_t text = column == 'n' || column == 't' ? infra_keep_text(reading) : 1;
        if (text == 0)
            return infra_no_memory(reading);
        if (column == 'n')
            value->frame = number != 0 ? text : 0;
        else if (column == 't')
            value->type = number != 0 ? text : 0;
        else
            *(column == 's' ? &value->bytes : &value->objects) = number;
    }
    return status;
}

static enum step_status take_v2_allocator(struct infra_reading *reading, enum json_token token,
                                          size_t name)
{
    size_t first = reading->event.count;
    if (token != JSON_OBJECT ||
        (reading->heap != NULL && !infra_key_is(reading, name, reading->heap)))
        return infra_skip(reading, token);
    reading->event.is_dump = true;
    enum step_status status;
    while ((status = infra_next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
        char column = infra_text_is(reading, "nodes")    ? 'n'
                      : infra_text_is(reading, "types")  ? 't'
                      : infra_text_is(reading, "sizes")  ? 's'
                      : infra_text_is(reading, "counts") ? 'c'
                                                         : '\0';
        if ((status = infra_next(reading, &token)) != STEP_STATUS_OK)
            return status;
        status = token == JSON_ARRAY && column != '\0' ? take_v2_column(reading, first, column)
                                                       : infra_skip(reading, token);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return status;
}

enum step_status infra_take_v2_part(struct infra_reading *reading, enum json_token token,
                                    size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "maps"))
        return infra_each_member(reading, take_v2_map);
    if (token == JSON_OBJECT && infra_key_is(reading, key, "allocators") && !reading->takes_names)
        return infra_each_member(reading, take_v2_allocator);
    return infra_skip(reading, token);
}
