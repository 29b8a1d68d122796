/* SPDX-License-Identifier: Apache-2.0 */
/* Parses an event: its process and time, frames and types, and the entries of its heaps. */
#include <inttypes.h>
#include <stdlib.h>

#include "converter/formats/memory_infra/memory_infra_event.h"

/* Parses heaps_v2: maps of names, and columns of numbers. */

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

/* Parses a member of "heaps_v2" (memory_infra_dump.c). */
static enum step_status infra_take_v2_part(struct infra_reading *reading, enum json_token token,
                                           size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "maps"))
        return infra_each_member(reading, take_v2_map);
    if (token == JSON_OBJECT && infra_key_is(reading, key, "allocators") && !reading->takes_names)
        return infra_each_member(reading, take_v2_allocator);
    return infra_skip(reading, token);
}

/* Sizes are strings of hexadecimal digits.  Returns false if this one is not, or is too large. */
static bool read_hexadecimal(struct step_bytes text, uint64_t *value)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    *value = 0;
    if (text.length == 0 || text.length > 16)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        const char *digit = memchr(digits, text.data[i], sizeof digits - 1);
        if (digit == NULL)
            return false;
        *value = *value << 4 | (uint64_t) ((digit - digits) % 16);
    }
    return true;
}

/* "id": {"name": ..., "parent": ...} */
static enum step_status take_stack_frame(struct infra_reading *reading, enum json_token token,
                                         size_t id)
{
    size_t name = 0, parent = 0;
    enum step_status status = STEP_STATUS_OK;
    if (token != JSON_OBJECT) {
        memory_infra_fault(reading->infra, "a stack frame is no object");
        return infra_skip(reading, token);
    }
    while ((status = infra_next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
        bool is_name = infra_text_is(reading, "name"), is_parent = infra_text_is(reading, "parent");
        status = infra_take_text(reading, is_name ? &name : is_parent ? &parent : NULL);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (status == STEP_STATUS_OK && name == 0)
        memory_infra_fault(reading->infra, "frame %s has no name", reading->event.texts + id);
    return status == STEP_STATUS_OK ? infra_add_name(reading, INFRA_FRAME, id, name, parent)
                                    : status;
}

static enum step_status take_type_name(struct infra_reading *reading, enum json_token token,
                                       size_t id)
{
    if (token != JSON_STRING) {
        memory_infra_fault(reading->infra, "the name of type %s is no string",
                           reading->event.texts + id);
        return infra_skip(reading, token);
    }
    size_t name = infra_keep_text(reading);
    return name != 0 ? infra_add_name(reading, INFRA_TYPE, id, name, 0) : infra_no_memory(reading);
}

/* {"size": "...", "bt": "...", "type": "...", "count": "..."} */
static enum step_status take_entry(struct infra_reading *reading, bool *is_old, bool is_first)
{
    struct infra_value value = {.frame = 0};
    bool has_frame = false, has_size = false, is_good = true;
    enum json_token token;
    enum step_status status;
    while ((status = infra_next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
        char key = infra_text_is(reading, "bt")      ? 'b'
                   : infra_text_is(reading, "type")  ? 't'
                   : infra_text_is(reading, "size")  ? 's'
                   : infra_text_is(reading, "count") ? 'c'
                                                     : '\0';
        if ((status = infra_next(reading, &token)) != STEP_STATUS_OK)
            return status;
        struct step_bytes text = json_input_text(reading->json);
        if (key == '\0' || (token != JSON_STRING && (token != JSON_NUMBER || key == 's'))) {
            is_good = is_good && key == '\0';
            status = infra_skip(reading, token);
        } else if (key == 's' || key == 'c') {
            is_good = read_hexadecimal(text, key == 's' ? &value.bytes : &value.objects) && is_good;
            has_size = has_size || key == 's';
        } else {
            has_frame = has_frame || key == 'b';
            if (text.length > 0 || key == 't') {
                size_t at = infra_keep_text(reading);
                if (at == 0)
                    return infra_no_memory(reading);
                *(key == 'b' ? &value.frame : &value.type) = at;
            }
        }
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (status != STEP_STATUS_OK)
        return status;
    if (is_first)
        *is_old = !has_frame;
    /* In an old dump, an entry without a backtrace is a total. */
    value.is_old = *is_old && has_frame;
    if (!has_size || !is_good || (!has_frame && !*is_old)) {
        memory_infra_fault(reading->infra, "offset %" PRIu64 ": an entry has %s",
                           json_input_offset(reading->json),
                           !has_size ? "no size"
                           : is_good ? "no backtrace"
                                     : "a size or count that is no hexadecimal number of 64 bits");
        return STEP_STATUS_OK;
    }
    return infra_add_value(reading, &value);
}

static enum step_status take_entries(struct infra_reading *reading)
{
    enum json_token token;
    enum step_status status;
    bool is_old = false, is_first = true;
    while ((status = infra_next(reading, &token)) == STEP_STATUS_OK && token != JSON_ARRAY_END) {
        if (token == JSON_OBJECT) {
            status = take_entry(reading, &is_old, is_first);
            is_first = false;
        } else {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": an entry is no object",
                               json_input_offset(reading->json));
            status = infra_skip(reading, token);
        }
        if (status != STEP_STATUS_OK)
            return status;
    }
    return status;
}

static enum step_status take_heap_part(struct infra_reading *reading, enum json_token token,
                                       size_t key)
{
    return token == JSON_ARRAY && infra_key_is(reading, key, "entries")
               ? take_entries(reading)
               : infra_skip(reading, token);
}

static enum step_status take_heap(struct infra_reading *reading, enum json_token token, size_t name)
{
    if (token != JSON_OBJECT || reading->takes_names ||
        (reading->heap != NULL && !infra_key_is(reading, name, reading->heap)))
        return infra_skip(reading, token);
    reading->event.is_dump = true;
    return infra_each_member(reading, take_heap_part);
}

static enum step_status take_dumps_part(struct infra_reading *reading, enum json_token token,
                                        size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "heaps"))
        return infra_each_member(reading, take_heap);
    if (token == JSON_OBJECT && infra_key_is(reading, key, "heaps_v2"))
        return infra_each_member(reading, infra_take_v2_part);
    return infra_skip(reading, token);
}

static enum step_status take_argument(struct infra_reading *reading, enum json_token token,
                                      size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "stackFrames") && reading->takes_names)
        return infra_each_member(reading, take_stack_frame);
    if (token == JSON_OBJECT && infra_key_is(reading, key, "typeNames") && reading->takes_names)
        return infra_each_member(reading, take_type_name);
    if (token == JSON_OBJECT && infra_key_is(reading, key, "dumps"))
        return infra_each_member(reading, take_dumps_part);
    return infra_skip(reading, token);
}

/* Microseconds, possibly with a fraction. */
static void read_time(struct infra_reading *reading)
{
    struct step_bytes text = json_input_text(reading->json);
    uint64_t us;
    if (infra_read_decimal(text, &us) && us < UINT64_MAX / 1000) {
        reading->event.time_ns = us * 1000;
        return;
    }
    double value = strtod((const char *) text.data, NULL) * 1000;
    if (value >= 0 && value < 1.8e19)
        reading->event.time_ns = (uint64_t) value;
    else if (!reading->takes_names)
        memory_infra_fault(reading->infra, "a time is out of range");
}

enum step_status infra_take_event_part(struct infra_reading *reading, enum json_token token,
                                       size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "args"))
        return infra_each_member(reading, take_argument);
    if (token == JSON_NUMBER && infra_key_is(reading, key, "pid")) {
        if (!infra_read_decimal(json_input_text(reading->json), &reading->event.process) &&
            !reading->takes_names)
            memory_infra_fault(reading->infra, "a process number is out of range");
    } else if (token == JSON_NUMBER && infra_key_is(reading, key, "ts")) {
        read_time(reading);
    }
    return infra_skip(reading, token);
}
