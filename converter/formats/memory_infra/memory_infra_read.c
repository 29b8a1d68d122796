/* SPDX-License-Identifier: Apache-2.0 */
/* Trace events into frames, types and dumps. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "converter/formats/memory_infra/memory_infra.h"
#include "format/core/grow.h"
#include "format/json/json_input.h"

#define VALUES_MAX ((size_t) 1 << 26) /* of one dump */

/* A value whose frame and type are still the file's ids: places in the event's texts, 0 for none.
 */
struct raw_value {
    size_t frame, type;
    bool is_v2, is_old;
    uint64_t bytes, objects;
};

/* One event of the file, until its end: the process may be named last. */
struct event {
    uint64_t process;
    uint64_t time_ns;
    bool is_dump;
    char *texts; /* ids, NUL-terminated, behind each other; the first byte is not used */
    size_t text_length, text_capacity;
    struct raw_value *values;
    size_t count, capacity;
    /* frames and types that it tells of, as numbers of texts: id, name, parent */
    size_t (*names)[4]; /* kind, id, name, parent */
    size_t name_count, name_capacity;
};

enum name_kind { NAME_FRAME, NAME_TYPE, NAME_V2_FRAME, NAME_V2_TYPE, NAME_V2_STRING };

struct reading {
    struct memory_infra *infra;
    struct json_input *json;
    struct step_error *error;
    bool takes_names; /* the first pass */
    const char *heap;
    memory_infra_receive receive;
    void *user;
    uint64_t dump_count;
    struct event event;
};

void memory_infra_fault(struct memory_infra *infra, const char *format, ...)
{
    if (infra->fault_count < sizeof infra->first_faults / sizeof infra->first_faults[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(infra->first_faults[infra->fault_count], sizeof infra->first_faults[0], format,
                  arguments);
        va_end(arguments);
    }
    infra->fault_count++;
}

static enum step_status no_memory(struct reading *reading)
{
    return step_error_set(reading->error, STEP_STATUS_NO_MEMORY, reading->infra->path,
                          STEP_NO_OFFSET, "out of memory");
}

static enum step_status next(struct reading *reading, enum json_token *token)
{
    return json_input_next(reading->json, token, reading->error);
}

static enum step_status skip(struct reading *reading, enum json_token token)
{
    return json_input_skip(reading->json, token, reading->error);
}

static bool text_is(const struct reading *reading, const char *wanted)
{
    struct step_bytes text = json_input_text(reading->json);
    return text.length == strlen(wanted) && memcmp(text.data, wanted, text.length) == 0;
}

/* Room for one more. */
static bool make_room(void **items, size_t *capacity, size_t count, size_t item_bytes)
{
    if (count < *capacity)
        return true;
    void *grown = step_grown(*items, capacity, count + 1, item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    return true;
}

/* Keeps the last token's text until the event ends; 0: out of memory. */
static size_t keep_text(struct reading *reading)
{
    struct event *event = &reading->event;
    struct step_bytes text = json_input_text(reading->json);
    size_t wanted = event->text_length + text.length + 2;
    if (wanted > event->text_capacity) {
        char *texts = step_grown(event->texts, &event->text_capacity, wanted, 1);
        if (texts == NULL)
            return 0;
        event->texts = texts;
    }
    if (event->text_length == 0)
        event->text_length = 1;
    size_t at = event->text_length;
    memcpy(event->texts + at, text.data, text.length);
    event->texts[at + text.length] = '\0';
    event->text_length += text.length + 1;
    return at;
}

static struct step_bytes kept(const struct reading *reading, size_t at)
{
    const char *text = reading->event.texts + at;
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

/* Sizes are hexadecimal digits in a string.  False: they are not, or too large. */
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

static bool read_decimal(struct step_bytes text, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned) text.data[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(*value, 10u, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return text.length > 0;
}

/* Calls `take` for each key of the object that has just begun, with the token of its value. */
typedef enum step_status (*take_member)(struct reading *reading, enum json_token token, size_t key);

static enum step_status each_member(struct reading *reading, take_member take)
{
    enum json_token token;
    for (;;) {
        enum step_status status = next(reading, &token);
        if (status != STEP_STATUS_OK || token == JSON_OBJECT_END)
            return status;
        size_t key = keep_text(reading);
        if (key == 0)
            return no_memory(reading);
        status = next(reading, &token);
        if (status == STEP_STATUS_OK)
            status = take(reading, token, key);
        if (status != STEP_STATUS_OK)
            return status;
    }
}

static bool key_is(const struct reading *reading, size_t key, const char *wanted)
{
    return strcmp(reading->event.texts + key, wanted) == 0;
}

static enum step_status add_name(struct reading *reading, enum name_kind kind, size_t id,
                                 size_t name, size_t parent)
{
    struct event *event = &reading->event;
    if (!make_room((void **) &event->names, &event->name_capacity, event->name_count,
                   sizeof *event->names))
        return no_memory(reading);
    size_t *row = event->names[event->name_count++];
    row[0] = (size_t) kind;
    row[1] = id;
    row[2] = name;
    row[3] = parent;
    return STEP_STATUS_OK;
}

/* "id": {"name": ..., "parent": ...} */
static enum step_status take_stack_frame(struct reading *reading, enum json_token token, size_t id)
{
    size_t name = 0, parent = 0;
    enum step_status status = STEP_STATUS_OK;
    if (token != JSON_OBJECT) {
        memory_infra_fault(reading->infra, "a stack frame is no object");
        return skip(reading, token);
    }
    while ((status = next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
        bool is_name = text_is(reading, "name"), is_parent = text_is(reading, "parent");
        if ((status = next(reading, &token)) != STEP_STATUS_OK)
            return status;
        size_t *target = is_name ? &name : is_parent ? &parent : NULL;
        if (target != NULL && (token == JSON_STRING || token == JSON_NUMBER)) {
            if ((*target = keep_text(reading)) == 0)
                return no_memory(reading);
        } else if ((status = skip(reading, token)) != STEP_STATUS_OK) {
            return status;
        }
    }
    if (status == STEP_STATUS_OK && name == 0)
        memory_infra_fault(reading->infra, "frame %s has no name", reading->event.texts + id);
    return status == STEP_STATUS_OK ? add_name(reading, NAME_FRAME, id, name, parent) : status;
}

static enum step_status take_type_name(struct reading *reading, enum json_token token, size_t id)
{
    if (token != JSON_STRING) {
        memory_infra_fault(reading->infra, "the name of type %s is no string",
                           reading->event.texts + id);
        return skip(reading, token);
    }
    size_t name = keep_text(reading);
    return name != 0 ? add_name(reading, NAME_TYPE, id, name, 0) : no_memory(reading);
}

/* An array of objects with some numbers and a text in each, as heaps_v2 has them. */
static enum step_status take_v2_items(struct reading *reading, enum name_kind kind)
{
    enum json_token token;
    enum step_status status;
    while ((status = next(reading, &token)) == STEP_STATUS_OK && token == JSON_OBJECT) {
        size_t id = 0, name = 0, parent = 0;
        while ((status = next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
            size_t *target = text_is(reading, "id")                                       ? &id
                             : text_is(reading, "name_sid") || text_is(reading, "string") ? &name
                             : text_is(reading, "parent")                                 ? &parent
                                                                                          : NULL;
            if ((status = next(reading, &token)) != STEP_STATUS_OK)
                return status;
            if (target != NULL && (token == JSON_STRING || token == JSON_NUMBER)) {
                if ((*target = keep_text(reading)) == 0)
                    return no_memory(reading);
            } else if ((status = skip(reading, token)) != STEP_STATUS_OK) {
                return status;
            }
        }
        if (status == STEP_STATUS_OK && id != 0)
            status = add_name(reading, kind, id, name, parent);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (status == STEP_STATUS_OK && token != JSON_ARRAY_END) {
        memory_infra_fault(reading->infra, "something in a map of heaps_v2 is no object");
        while (status == STEP_STATUS_OK && token != JSON_ARRAY_END) {
            status = skip(reading, token);
            if (status == STEP_STATUS_OK)
                status = next(reading, &token);
        }
    }
    return status;
}

static enum step_status take_v2_map(struct reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_ARRAY && reading->takes_names) {
        if (key_is(reading, key, "nodes"))
            return take_v2_items(reading, NAME_V2_FRAME);
        if (key_is(reading, key, "types"))
            return take_v2_items(reading, NAME_V2_TYPE);
        if (key_is(reading, key, "strings"))
            return take_v2_items(reading, NAME_V2_STRING);
    }
    return skip(reading, token);
}

static enum step_status add_value(struct reading *reading, const struct raw_value *value)
{
    struct event *event = &reading->event;
    if (event->count >= VALUES_MAX)
        return step_error_set(reading->error, STEP_STATUS_LIMIT, reading->infra->path,
                              json_input_offset(reading->json), "a dump has too many entries");
    if (!make_room((void **) &event->values, &event->capacity, event->count, sizeof *value))
        return no_memory(reading);
    event->values[event->count++] = *value;
    return STEP_STATUS_OK;
}

/* Numbers of heaps_v2 into a field of the values from `first` on, made as needed. */
static enum step_status take_v2_column(struct reading *reading, size_t first, char column)
{
    enum json_token token;
    enum step_status status;
    for (size_t i = first; (status = next(reading, &token)) == STEP_STATUS_OK; i++) {
        if (token == JSON_ARRAY_END)
            return status;
        uint64_t number = 0;
        if (token != JSON_NUMBER || !read_decimal(json_input_text(reading->json), &number)) {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": a whole number is expected",
                               json_input_offset(reading->json));
            if ((status = skip(reading, token)) != STEP_STATUS_OK)
                return status;
        }
        if (i == reading->event.count) {
            const struct raw_value value = {.is_v2 = true};
            if ((status = add_value(reading, &value)) != STEP_STATUS_OK)
                return status;
        }
        struct raw_value *value = &reading->event.values[i];
        size_t text = column == 'n' || column == 't' ? keep_text(reading) : 1;
        if (text == 0)
            return no_memory(reading);
        if (column == 'n')
            value->frame = number != 0 ? text : 0;
        else if (column == 't')
            value->type = number != 0 ? text : 0;
        else
            *(column == 's' ? &value->bytes : &value->objects) = number;
    }
    return status;
}

static enum step_status take_v2_allocator(struct reading *reading, enum json_token token,
                                          size_t name)
{
    size_t first = reading->event.count;
    if (token != JSON_OBJECT || (reading->heap != NULL && !key_is(reading, name, reading->heap)))
        return skip(reading, token);
    reading->event.is_dump = true;
    enum step_status status;
    while ((status = next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
        char column = text_is(reading, "nodes")    ? 'n'
                      : text_is(reading, "types")  ? 't'
                      : text_is(reading, "sizes")  ? 's'
                      : text_is(reading, "counts") ? 'c'
                                                   : '\0';
        if ((status = next(reading, &token)) != STEP_STATUS_OK)
            return status;
        status = token == JSON_ARRAY && column != '\0' ? take_v2_column(reading, first, column)
                                                       : skip(reading, token);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return status;
}

static enum step_status take_v2_part(struct reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "maps"))
        return each_member(reading, take_v2_map);
    if (token == JSON_OBJECT && key_is(reading, key, "allocators") && !reading->takes_names)
        return each_member(reading, take_v2_allocator);
    return skip(reading, token);
}

/* {"size": "...", "bt": "...", "type": "...", "count": "..."} */
static enum step_status take_entry(struct reading *reading, bool *is_old, bool is_first)
{
    struct raw_value value = {.frame = 0};
    bool has_frame = false, has_size = false, is_good = true;
    enum json_token token;
    enum step_status status;
    while ((status = next(reading, &token)) == STEP_STATUS_OK && token == JSON_KEY) {
        char key = text_is(reading, "bt")      ? 'b'
                   : text_is(reading, "type")  ? 't'
                   : text_is(reading, "size")  ? 's'
                   : text_is(reading, "count") ? 'c'
                                               : '\0';
        if ((status = next(reading, &token)) != STEP_STATUS_OK)
            return status;
        struct step_bytes text = json_input_text(reading->json);
        if (key == '\0' || (token != JSON_STRING && (token != JSON_NUMBER || key == 's'))) {
            is_good = is_good && key == '\0';
            status = skip(reading, token);
        } else if (key == 's' || key == 'c') {
            is_good = read_hexadecimal(text, key == 's' ? &value.bytes : &value.objects) && is_good;
            has_size = has_size || key == 's';
        } else {
            has_frame = has_frame || key == 'b';
            if (text.length > 0 || key == 't') {
                size_t at = keep_text(reading);
                if (at == 0)
                    return no_memory(reading);
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
    /* In an old dump an entry without a backtrace is a sum over all. */
    value.is_old = *is_old && has_frame;
    if (!has_size || !is_good || (!has_frame && !*is_old)) {
        memory_infra_fault(reading->infra, "offset %" PRIu64 ": an entry has %s",
                           json_input_offset(reading->json),
                           !has_size ? "no size"
                           : is_good ? "no backtrace"
                                     : "a size or count that is no hexadecimal number of 64 bits");
        return STEP_STATUS_OK;
    }
    return add_value(reading, &value);
}

static enum step_status take_entries(struct reading *reading)
{
    enum json_token token;
    enum step_status status;
    bool is_old = false, is_first = true;
    while ((status = next(reading, &token)) == STEP_STATUS_OK && token != JSON_ARRAY_END) {
        if (token == JSON_OBJECT) {
            status = take_entry(reading, &is_old, is_first);
            is_first = false;
        } else {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": an entry is no object",
                               json_input_offset(reading->json));
            status = skip(reading, token);
        }
        if (status != STEP_STATUS_OK)
            return status;
    }
    return status;
}

static enum step_status take_heap_part(struct reading *reading, enum json_token token, size_t key)
{
    return token == JSON_ARRAY && key_is(reading, key, "entries") ? take_entries(reading)
                                                                  : skip(reading, token);
}

static enum step_status take_heap(struct reading *reading, enum json_token token, size_t name)
{
    if (token != JSON_OBJECT || reading->takes_names ||
        (reading->heap != NULL && !key_is(reading, name, reading->heap)))
        return skip(reading, token);
    reading->event.is_dump = true;
    return each_member(reading, take_heap_part);
}

static enum step_status take_dumps_part(struct reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "heaps"))
        return each_member(reading, take_heap);
    if (token == JSON_OBJECT && key_is(reading, key, "heaps_v2"))
        return each_member(reading, take_v2_part);
    return skip(reading, token);
}

static enum step_status take_argument(struct reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "stackFrames") && reading->takes_names)
        return each_member(reading, take_stack_frame);
    if (token == JSON_OBJECT && key_is(reading, key, "typeNames") && reading->takes_names)
        return each_member(reading, take_type_name);
    if (token == JSON_OBJECT && key_is(reading, key, "dumps"))
        return each_member(reading, take_dumps_part);
    return skip(reading, token);
}

/* Microseconds, with a fraction perhaps. */
static void read_time(struct reading *reading)
{
    struct step_bytes text = json_input_text(reading->json);
    uint64_t us;
    if (read_decimal(text, &us) && us < UINT64_MAX / 1000) {
        reading->event.time_ns = us * 1000;
        return;
    }
    double value = strtod((const char *) text.data, NULL) * 1000;
    if (value >= 0 && value < 1.8e19)
        reading->event.time_ns = (uint64_t) value;
    else if (!reading->takes_names)
        memory_infra_fault(reading->infra, "a time is out of range");
}

static enum step_status take_event_part(struct reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "args"))
        return each_member(reading, take_argument);
    if (token == JSON_NUMBER && key_is(reading, key, "pid")) {
        if (!read_decimal(json_input_text(reading->json), &reading->event.process) &&
            !reading->takes_names)
            memory_infra_fault(reading->infra, "a process number is out of range");
    } else if (token == JSON_NUMBER && key_is(reading, key, "ts")) {
        read_time(reading);
    }
    return skip(reading, token);
}

/* A number for a name; 0: out of memory. */
static uint32_t name_number(struct memory_infra *infra, uint64_t space, struct step_bytes name,
                            bool *is_new)
{
    uint32_t id = name_index_put(&infra->names_used, space, name, is_new);
    struct step_bytes copy;
    if (id == 0 || !*is_new)
        return id;
    if (!trace_names_copy(&infra->names, name, &copy))
        return 0;
    name_index_set_text(&infra->names_used, id, copy);
    return id;
}

static uint32_t class_of(struct memory_infra *infra, struct step_bytes name)
{
    bool is_new;
    uint32_t id = name_number(infra, 0, name, &is_new);
    struct trace_class *class = id != 0 ? id_table_get(&infra->names.classes, id) : NULL;
    if (class == NULL)
        return 0;
    if (!class->known)
        *class = (struct trace_class){.name = infra->names_used.entries[id].text, .known = true};
    return id;
}

static uint32_t method_of(struct memory_infra *infra, struct step_bytes name)
{
    bool is_new;
    uint32_t id = name_number(infra, 1, name, &is_new);
    struct trace_method *method = id != 0 ? id_table_get(&infra->names.methods, id) : NULL;
    if (method == NULL)
        return 0;
    if (!method->known)
        *method = (struct trace_method){.name = infra->names_used.entries[id].text, .known = true};
    return id;
}

/* Puts an id of the event into an index, with a copy of its text; 0: out of memory. */
static uint32_t put_id(struct reading *reading, struct name_index *index, struct step_bytes text,
                       bool *is_new)
{
    struct step_bytes copy;
    uint32_t id = name_index_put(index, reading->event.process, text, is_new);
    if (id == 0 || !*is_new)
        return id;
    if (!trace_names_copy(&reading->infra->names, text, &copy))
        return 0;
    name_index_set_text(index, id, copy);
    return id;
}

/* Ids of heaps_v2 are others than those of stackFrames: a byte in front tells them apart. */
static struct step_bytes id_text(const struct reading *reading, size_t at, bool is_v2, char *room,
                                 size_t room_size)
{
    if (!is_v2)
        return kept(reading, at);
    int length = snprintf(room, room_size, "\x01%s", reading->event.texts + at);
    return (struct step_bytes){(const uint8_t *) room,
                               (size_t) length < room_size ? (size_t) length : room_size - 1};
}

static struct step_bytes string_of(const struct reading *reading, size_t at)
{
    struct memory_infra *infra = reading->infra;
    static const uint8_t unknown[] = {'?'};
    const struct step_bytes none = {unknown, 1};
    if (at == 0)
        return none;
    uint32_t id = name_index_find(&infra->strings, reading->event.process, kept(reading, at));
    if (id != 0)
        return infra->string_texts[id];
    memory_infra_fault(infra, "string %s of heaps_v2 is missing", reading->event.texts + at);
    return none;
}

static bool put_frame(struct reading *reading, const size_t *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_v2 = row[0] == NAME_V2_FRAME, is_new;
    char room[64];
    uint32_t id = put_id(reading, &infra->frame_ids,
                         id_text(reading, row[1], is_v2, room, sizeof room), &is_new);
    if (id == 0)
        return false;
    while (id >= infra->frame_capacity)
        if (!make_room((void **) &infra->frames, &infra->frame_capacity, infra->frame_capacity,
                       sizeof *infra->frames))
            return false;
    if (!is_new) {
        if (!is_v2)
            memory_infra_fault(infra, "frame %s is told of twice", reading->event.texts + row[1]);
        return true;
    }
    struct memory_infra_frame *frame = &infra->frames[id];
    *frame = (struct memory_infra_frame){.process = reading->event.process};
    struct step_bytes name = is_v2         ? string_of(reading, row[2])
                             : row[2] != 0 ? kept(reading, row[2])
                                           : (struct step_bytes){(const uint8_t *) "?", 1};
    if (!trace_names_copy(&infra->names, name, &frame->name))
        return false;
    /* In heaps_v2 0, like nothing at all, is no parent. */
    if (row[3] == 0 || (is_v2 && strcmp(reading->event.texts + row[3], "0") == 0))
        return true;
    return trace_names_copy(&infra->names, id_text(reading, row[3], is_v2, room, sizeof room),
                            &frame->parent);
}

static bool put_type(struct reading *reading, const size_t *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_v2 = row[0] == NAME_V2_TYPE, is_new;
    char room[64];
    uint32_t id = put_id(reading, &infra->type_ids,
                         id_text(reading, row[1], is_v2, room, sizeof room), &is_new);
    if (id == 0)
        return false;
    while (id >= infra->type_capacity)
        if (!make_room((void **) &infra->types, &infra->type_capacity, infra->type_capacity,
                       sizeof *infra->types))
            return false;
    if (!is_new)
        return true;
    infra->types[id] = class_of(infra, is_v2 ? string_of(reading, row[2]) : kept(reading, row[2]));
    return infra->types[id] != 0;
}

static bool put_string(struct reading *reading, const size_t *row)
{
    struct memory_infra *infra = reading->infra;
    bool is_new;
    uint32_t id = put_id(reading, &infra->strings, kept(reading, row[1]), &is_new);
    if (id == 0)
        return false;
    while (id >= infra->string_capacity)
        if (!make_room((void **) &infra->string_texts, &infra->string_capacity,
                       infra->string_capacity, sizeof *infra->string_texts))
            return false;
    if (!is_new)
        return true;
    return trace_names_copy(&infra->names,
                            row[2] != 0 ? kept(reading, row[2]) : (struct step_bytes){NULL, 0},
                            &infra->string_texts[id]);
}

/* Strings first: the others name them. */
static enum step_status put_names(struct reading *reading)
{
    struct event *event = &reading->event;
    bool ok = true;
    for (size_t i = 0; ok && i < event->name_count; i++)
        if (event->names[i][0] == NAME_V2_STRING)
            ok = put_string(reading, event->names[i]);
    for (size_t i = 0; ok && i < event->name_count; i++) {
        size_t kind = event->names[i][0];
        if (kind == NAME_FRAME || kind == NAME_V2_FRAME)
            ok = put_frame(reading, event->names[i]);
        else if (kind != NAME_V2_STRING)
            ok = put_type(reading, event->names[i]);
    }
    return ok ? STEP_STATUS_OK : no_memory(reading);
}

/* False: its frame or type is missing. */
static bool resolve_value(struct reading *reading, const struct raw_value *raw,
                          struct dump_value *value)
{
    struct memory_infra *infra = reading->infra;
    uint64_t process = reading->event.process;
    char room[64];
    *value = (struct dump_value){
        .is_self = raw->is_old || raw->is_v2, .bytes = raw->bytes, .objects = raw->objects};
    if (raw->frame != 0) {
        uint32_t id = name_index_find(&infra->frame_ids, process,
                                      id_text(reading, raw->frame, raw->is_v2, room, sizeof room));
        if (id == 0) {
            memory_infra_fault(infra, "frame %s is missing", reading->event.texts + raw->frame);
            return false;
        }
        value->site = infra->frames[id].site;
        value->is_self = value->is_self || infra->frames[id].is_self;
    }
    if (raw->type != 0) {
        uint32_t id = name_index_find(&infra->type_ids, process,
                                      id_text(reading, raw->type, raw->is_v2, room, sizeof room));
        if (id == 0) {
            memory_infra_fault(infra, "type %s is missing", reading->event.texts + raw->type);
            return false;
        }
        value->class_id = infra->types[id];
    }
    return true;
}

static enum step_status give_dump(struct reading *reading)
{
    struct event *event = &reading->event;
    struct memory_infra_dump dump = {.number = ++reading->dump_count,
                                     .process = event->process,
                                     .time_ns = event->time_ns,
                                     .values = malloc((event->count + 1) * sizeof *dump.values)};
    uint64_t sum = 0, objects = 0;
    if (dump.values == NULL)
        return no_memory(reading);
    /* Where both forms are there they tell the same. */
    bool only_v2 = true;
    for (size_t i = 0; i < event->count; i++)
        only_v2 = only_v2 && event->values[i].is_v2;
    for (size_t i = 0; i < event->count; i++) {
        struct dump_value *value = &dump.values[dump.count];
        if ((event->values[i].is_v2 && !only_v2) ||
            !resolve_value(reading, &event->values[i], value))
            continue;
        if (__builtin_add_overflow(sum, value->bytes, &sum) ||
            __builtin_add_overflow(objects, value->objects, &objects)) {
            memory_infra_fault(reading->infra,
                               "dump %" PRIu64 ": sizes add up to more than 64 bits", dump.number);
            break;
        }
        dump.count++;
    }
    enum step_status status = reading->receive(reading->user, &dump, reading->error);
    free(dump.values);
    return status;
}

static enum step_status take_event(struct reading *reading)
{
    struct event *event = &reading->event;
    event->process = event->time_ns = 0;
    event->is_dump = false;
    event->text_length = event->count = event->name_count = 0;
    enum step_status status = each_member(reading, take_event_part);
    if (status != STEP_STATUS_OK)
        return status;
    if (reading->takes_names)
        return put_names(reading);
    return event->is_dump ? give_dump(reading) : status;
}

static enum step_status take_events(struct reading *reading)
{
    enum json_token token;
    enum step_status status;
    while ((status = next(reading, &token)) == STEP_STATUS_OK && token != JSON_ARRAY_END) {
        if (token == JSON_OBJECT) {
            status = take_event(reading);
        } else {
            if (!reading->takes_names)
                memory_infra_fault(reading->infra, "offset %" PRIu64 ": an event is no object",
                                   json_input_offset(reading->json));
            status = skip(reading, token);
        }
        if (status != STEP_STATUS_OK)
            break;
    }
    return status;
}

static enum step_status take_top_part(struct reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_ARRAY && key_is(reading, key, "traceEvents"))
        return take_events(reading);
    enum step_status status = skip(reading, token);
    reading->event.text_length = 0;
    return status;
}

static enum step_status run_pass(struct reading *reading)
{
    enum json_token token;
    enum step_status status = json_input_open(reading->infra->path, &reading->json, reading->error);
    if (status != STEP_STATUS_OK)
        return status;
    status = next(reading, &token);
    if (status == STEP_STATUS_OK && token == JSON_ARRAY)
        status = take_events(reading);
    else if (status == STEP_STATUS_OK && token == JSON_OBJECT)
        status = each_member(reading, take_top_part);
    else if (status == STEP_STATUS_OK)
        status = step_error_set(reading->error, STEP_STATUS_FORMAT, reading->infra->path, 0,
                                "not a JSON trace: it is neither an object nor an array");
    if (status == STEP_STATUS_OK)
        status = next(reading, &token);
    json_input_close(reading->json);
    free(reading->event.texts);
    free(reading->event.values);
    free(reading->event.names);
    return status;
}

/* The frame's site; frames that are called from themselves, or from none that is there, are taken
 * for outermost ones. */
static bool resolve_frame(struct memory_infra *infra, uint32_t first, uint32_t *stack)
{
    enum { NEW, OPEN, DONE };
    size_t depth = 0;
    uint32_t outer = 0;
    for (uint32_t at = first;;) {
        struct memory_infra_frame *frame = &infra->frames[at];
        frame->state = OPEN;
        stack[depth++] = at;
        if (frame->parent.data == NULL)
            break;
        uint32_t parent = name_index_find(&infra->frame_ids, frame->process, frame->parent);
        if (parent == 0 || infra->frames[parent].state == OPEN) {
            memory_infra_fault(infra,
                               parent == 0 ? "the parent of frame %.*s is missing"
                                           : "frame %.*s is called from itself",
                               (int) infra->frame_ids.entries[at].text.length,
                               (const char *) infra->frame_ids.entries[at].text.data);
            break;
        }
        if (infra->frames[parent].state == DONE) {
            outer = infra->frames[parent].site;
            break;
        }
        at = parent;
    }
    while (depth > 0) {
        struct memory_infra_frame *frame = &infra->frames[stack[--depth]];
        frame->state = DONE;
        frame->is_self = frame->name.length == 6 && memcmp(frame->name.data, "<self>", 6) == 0;
        frame->site = outer;
        if (frame->is_self)
            continue;
        uint32_t method = method_of(infra, frame->name);
        frame->site = heap_sites_put(&infra->sites,
                                     &(struct heap_site){.parent = outer, .method_id = method});
        if (method == 0 || frame->site == 0)
            return false;
        outer = frame->site;
    }
    return true;
}

static enum step_status resolve_frames(struct memory_infra *infra, struct step_error *error)
{
    size_t count = infra->frame_ids.count;
    uint32_t *stack = malloc((count + 1) * sizeof *stack);
    bool ok = stack != NULL;
    for (uint32_t i = 1; ok && i <= count; i++)
        if (infra->frames[i].state == 0)
            ok = resolve_frame(infra, i, stack);
    free(stack);
    infra->other_method = method_of(infra, (struct step_bytes){(const uint8_t *) "<other>", 7});
    if (ok && infra->other_method != 0)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_NO_MEMORY, infra->path, STEP_NO_OFFSET,
                          "out of memory");
}

enum step_status memory_infra_open(struct memory_infra *infra, const char *path,
                                   struct step_error *error)
{
    *infra = (struct memory_infra){.path = path};
    trace_names_init(&infra->names);
    bool ok = heap_sites_init(&infra->sites, &infra->names);
    ok = name_index_init(&infra->frame_ids) && ok;
    ok = name_index_init(&infra->type_ids) && ok;
    ok = name_index_init(&infra->names_used) && ok;
    ok = name_index_init(&infra->strings) && ok;
    /* class 0 is what no type is known of */
    struct trace_class *unknown = ok ? id_table_get(&infra->names.classes, 0) : NULL;
    if (unknown == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, path, STEP_NO_OFFSET, "out of memory");
    *unknown = (struct trace_class){.name = {(const uint8_t *) "<other>", 7}, .known = true};
    struct reading reading = {.infra = infra, .error = error, .takes_names = true};
    enum step_status status = run_pass(&reading);
    if (status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO || status == STEP_STATUS_FORMAT)
        return status;
    enum step_status resolved = resolve_frames(infra, error);
    return resolved == STEP_STATUS_OK ? status : resolved;
}

enum step_status memory_infra_each(struct memory_infra *infra, const char *heap,
                                   memory_infra_receive receive, void *user,
                                   struct step_error *error)
{
    struct reading reading = {
        .infra = infra, .error = error, .heap = heap, .receive = receive, .user = user};
    return run_pass(&reading);
}

void memory_infra_reset(struct memory_infra *infra)
{
    trace_names_reset(&infra->names);
    heap_sites_reset(&infra->sites);
    name_index_reset(&infra->frame_ids);
    name_index_reset(&infra->type_ids);
    name_index_reset(&infra->names_used);
    name_index_reset(&infra->strings);
    free(infra->frames);
    free(infra->types);
    free(infra->string_texts);
    *infra = (struct memory_infra){.path = NULL};
}

bool memory_infra_is_likely(const char *path)
{
    char start[64] = "";
    gzFile file = gzopen(path, "rbe");
    if (file == NULL)
        return false;
    int length = gzread(file, start, sizeof start - 1);
    gzclose(file);
    size_t at = 0;
    while (length > 0 && start[at] != '\0' && strchr(" \n\r\t", start[at]) != NULL)
        at++;
    return length > 0 && (start[at] == '{' || start[at] == '[');
}
