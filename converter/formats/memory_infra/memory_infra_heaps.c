/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the heaps of a dump, in the old form and as heaps_v2, and the frames and types that they
 * name. */
#include <inttypes.h>
#include <string.h>

#include "converter/formats/memory_infra/memory_infra_event.h"

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

/* ---- heaps_v2: maps of names, and columns of numbers ---- */

/* Parses an array of objects of heaps_v2, each with some numbers and a text. */
static void take_v2_items(struct infra_reading *reading, enum infra_name_kind kind)
{
    enum json_token token;
    while ((token = infra_next(reading)) == JSON_OBJECT) {
        size_t id = 0, name = 0, parent = 0;
        while (infra_next(reading) == JSON_KEY)
            infra_take_text(reading,
                            infra_text_is(reading, "id") ? &id
                            : infra_text_is(reading, "name_sid") || infra_text_is(reading, "string")
                                ? &name
                            : infra_text_is(reading, "parent") ? &parent
                                                               : NULL);
        if (id != 0)
            infra_add_name(reading, kind, id, name, parent);
    }
    if (token == JSON_ARRAY_END || token == JSON_END)
        return;
    memory_infra_fault(reading->infra, "an entry in a map of heaps_v2 is not an object");
    do
        infra_skip(reading, token);
    while (infra_next_item(reading, &token));
}

static void take_v2_map(struct infra_reading *reading, enum json_token token, size_t key)
{
    bool is_wanted = token == JSON_ARRAY && reading->takes_names;
    if (is_wanted && infra_key_is(reading, key, "nodes"))
        take_v2_items(reading, INFRA_V2_FRAME);
    else if (is_wanted && infra_key_is(reading, key, "types"))
        take_v2_items(reading, INFRA_V2_TYPE);
    else if (is_wanted && infra_key_is(reading, key, "strings"))
        take_v2_items(reading, INFRA_V2_STRING);
    else
        infra_skip(reading, token);
}

/* Stores a column of heaps_v2 in the values from `first` on, which are created as needed. */
static void take_v2_column(struct infra_reading *reading, size_t first, char column)
{
    enum json_token token;
    for (size_t i = first; infra_next_item(reading, &token); i++) {
        uint64_t number = 0;
        if (token != JSON_NUMBER || !infra_read_decimal(json_input_text(reading->json), &number)) {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": a whole number is expected",
                               json_input_offset(reading->json));
            infra_skip(reading, token);
        }
        if (reading->status == STEP_STATUS_OK && i == reading->event.count)
            infra_add_value(reading, &(struct infra_value){.is_v2 = true});
        size_t text = column == 'n' || column == 't' ? infra_keep_text(reading) : 0;
        if (reading->status != STEP_STATUS_OK)
            return;
        struct infra_value *value = &reading->event.values[i];
        if (column == 'n')
            value->frame = number != 0 ? text : 0;
        else if (column == 't')
            value->type = number != 0 ? text : 0;
        else
            *(column == 's' ? &value->bytes : &value->objects) = number;
    }
}

static void take_v2_allocator(struct infra_reading *reading, enum json_token token, size_t name)
{
    size_t first = reading->event.count;
    if (token != JSON_OBJECT ||
        (reading->heap != NULL && !infra_key_is(reading, name, reading->heap))) {
        infra_skip(reading, token);
        return;
    }
    reading->event.is_dump = true;
    while (infra_next(reading) == JSON_KEY) {
        char column = infra_text_is(reading, "nodes")    ? 'n'
                      : infra_text_is(reading, "types")  ? 't'
                      : infra_text_is(reading, "sizes")  ? 's'
                      : infra_text_is(reading, "counts") ? 'c'
                                                         : '\0';
        token = infra_next(reading);
        if (token == JSON_ARRAY && column != '\0')
            take_v2_column(reading, first, column);
        else
            infra_skip(reading, token);
    }
}

static void take_v2_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "maps"))
        infra_each_member(reading, take_v2_map);
    else if (token == JSON_OBJECT && infra_key_is(reading, key, "allocators") &&
             !reading->takes_names)
        infra_each_member(reading, take_v2_allocator);
    else
        infra_skip(reading, token);
}

/* ---- frames, types, and the entries of heaps ---- */

void infra_take_stack_frame(struct infra_reading *reading, enum json_token token, size_t id)
{
    size_t name = 0, parent = 0;
    if (token != JSON_OBJECT) {
        memory_infra_fault(reading->infra, "a stack frame is no object");
        infra_skip(reading, token);
        return;
    }
    while (infra_next(reading) == JSON_KEY)
        infra_take_text(reading, infra_text_is(reading, "name")     ? &name
                                 : infra_text_is(reading, "parent") ? &parent
                                                                    : NULL);
    if (reading->status != STEP_STATUS_OK)
        return;
    if (name == 0)
        memory_infra_fault(reading->infra, "frame %s has no name", reading->event.texts + id);
    infra_add_name(reading, INFRA_FRAME, id, name, parent);
}

void infra_take_type_name(struct infra_reading *reading, enum json_token token, size_t id)
{
    if (token == JSON_STRING) {
        infra_add_name(reading, INFRA_TYPE, id, infra_keep_text(reading), 0);
        return;
    }
    memory_infra_fault(reading->infra, "the name of type %s is no string",
                       reading->event.texts + id);
    infra_skip(reading, token);
}

/* {"size": "...", "bt": "...", "type": "...", "count": "..."} */
static void infra_read_take_entry(struct infra_reading *reading, bool *is_old, bool is_first)
{
    struct infra_value value = {.frame = 0};
    bool has_frame = false, has_size = false, is_good = true;
    while (infra_next(reading) == JSON_KEY) {
        char key = infra_text_is(reading, "bt")      ? 'b'
                   : infra_text_is(reading, "type")  ? 't'
                   : infra_text_is(reading, "size")  ? 's'
                   : infra_text_is(reading, "count") ? 'c'
                                                     : '\0';
        enum json_token token = infra_next(reading);
        struct step_bytes text = json_input_text(reading->json);
        if (key == '\0' || (token != JSON_STRING && (token != JSON_NUMBER || key == 's'))) {
            is_good = is_good && key == '\0';
            infra_skip(reading, token);
        } else if (key == 's' || key == 'c') {
            is_good = read_hexadecimal(text, key == 's' ? &value.bytes : &value.objects) && is_good;
            has_size = has_size || key == 's';
        } else {
            has_frame = has_frame || key == 'b';
            if (text.length > 0 || key == 't')
                *(key == 'b' ? &value.frame : &value.type) = infra_keep_text(reading);
        }
    }
    if (reading->status != STEP_STATUS_OK)
        return;
    if (is_first)
        *is_old = !has_frame;
    /* In an old dump, an entry without a backtrace is a total. */
    value.is_old = *is_old && has_frame;
    if (has_size && is_good && (has_frame || *is_old))
        infra_add_value(reading, &value);
    else
        memory_infra_fault(reading->infra, "offset %" PRIu64 ": an entry has %s",
                           json_input_offset(reading->json),
                           !has_size ? "no size"
                           : is_good ? "no backtrace"
                                     : "a size or count that is no hexadecimal number of 64 bits");
}

static void take_entries(struct infra_reading *reading)
{
    enum json_token token;
    bool is_old = false, is_first = true;
    while (infra_next_item(reading, &token)) {
        if (token == JSON_OBJECT) {
            infra_read_take_entry(reading, &is_old, is_first);
            is_first = false;
        } else {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": an entry is no object",
                               json_input_offset(reading->json));
            infra_skip(reading, token);
        }
    }
}

static void take_heap_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_ARRAY && infra_key_is(reading, key, "entries"))
        take_entries(reading);
    else
        infra_skip(reading, token);
}

static void infra_read_take_heap(struct infra_reading *reading, enum json_token token, size_t name)
{
    if (token != JSON_OBJECT || reading->takes_names ||
        (reading->heap != NULL && !infra_key_is(reading, name, reading->heap))) {
        infra_skip(reading, token);
        return;
    }
    reading->event.is_dump = true;
    infra_each_member(reading, take_heap_part);
}

void infra_take_dumps_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "heaps"))
        infra_each_member(reading, infra_read_take_heap);
    else if (token == JSON_OBJECT && infra_key_is(reading, key, "heaps_v2"))
        infra_each_member(reading, take_v2_part);
    else
        infra_skip(reading, token);
}
