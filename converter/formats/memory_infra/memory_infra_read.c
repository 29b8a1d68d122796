/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of a file in two passes: tokens, the parts of an event, and from them frames,
 * types and dumps.  The first failure ends a pass: from then on there are no more tokens. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/formats/memory_infra/memory_infra_event.h"
#include "format/core/grow.h"
#include "format/core/step_no_memory.h"

#define VALUES_MAX ((size_t) 1 << 26) /* limit for one dump */

/* ---- tokens ---- */

/* Returns JSON_END after a failure, too. */
static enum json_token infra_read_next(struct infra_reading *reading)
{
    enum json_token token = JSON_END;
    if (reading->status == STEP_STATUS_OK)
        reading->status = json_input_next(reading->json, &token, reading->error);
    return reading->status == STEP_STATUS_OK ? token : JSON_END;
}

/* Reads the first token of the array's next item.  Returns false at its end. */
static bool next_item(struct infra_reading *reading, enum json_token *token)
{
    *token = infra_read_next(reading);
    return *token != JSON_ARRAY_END && *token != JSON_END;
}

static void skip(struct infra_reading *reading, enum json_token token)
{
    if (reading->status == STEP_STATUS_OK)
        reading->status = json_input_skip(reading->json, token, reading->error);
}

/* Returns true if the last token is this text. */
static bool text_is(const struct infra_reading *reading, const char *wanted)
{
    struct step_bytes text = json_input_text(reading->json);
    return text.length == strlen(wanted) && memcmp(text.data, wanted, text.length) == 0;
}

/* Stores the last token's text until the event ends.  Returns its position in the event's texts, or
 * 0 if memory runs out. */
static size_t infra_read_keep_text(struct infra_reading *reading)
{
    struct infra_event *event = &reading->event;
    struct step_bytes text = json_input_text(reading->json);
    if (!STEP_MAKE_ROOM(event->texts, event->text_capacity, event->text_length + text.length + 2)) {
        infra_no_memory(reading);
        return 0;
    }
    if (event->text_length == 0)
        event->text_length = 1;
    size_t at = event->text_length;
    memcpy(event->texts + at, text.data, text.length);
    event->texts[at + text.length] = '\0';
    event->text_length += text.length + 1;
    return at;
}

/* Stores the next value in *target if it is a string or a number.  `target` NULL: skips the
 * value. */
static void infra_read_take_text(struct infra_reading *reading, size_t *target)
{
    enum json_token token = infra_read_next(reading);
    if (target == NULL || (token != JSON_STRING && token != JSON_NUMBER))
        skip(reading, token);
    else
        *target = infra_read_keep_text(reading);
}

static bool key_is(const struct infra_reading *reading, size_t key, const char *wanted)
{
    return strcmp(reading->event.texts + key, wanted) == 0;
}

/* Calls `take` for each key of the object that has just begun, with the token of its value. */
static void each_member(struct infra_reading *reading,
                        void (*take)(struct infra_reading *reading, enum json_token token,
                                     size_t key))
{
    while (infra_read_next(reading) == JSON_KEY) {
        size_t key = infra_read_keep_text(reading);
        enum json_token token = infra_read_next(reading);
        if (reading->status == STEP_STATUS_OK)
            take(reading, token, key);
    }
}

/* Returns false if `text` is not a whole number of 64 bits. */
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

/* Adds a frame, type or string that the event defines, as positions in its texts. */
static void add_name(struct infra_reading *reading, enum infra_name_kind kind, size_t id,
                     size_t name, size_t parent)
{
    struct infra_event *event = &reading->event;
    if (STEP_MAKE_ROOM(event->names, event->name_capacity, event->name_count + 1))
        event->names[event->name_count++] = (struct infra_name){kind, id, name, parent};
    else
        infra_no_memory(reading);
}

static void add_value(struct infra_reading *reading, const struct infra_value *value)
{
    struct infra_event *event = &reading->event;
    if (event->count >= VALUES_MAX)
        reading->status =
            step_error_set(reading->error, STEP_STATUS_LIMIT, reading->infra->path,
                           json_input_offset(reading->json), "a dump has too many entries");
    else if (STEP_MAKE_ROOM(event->values, event->capacity, event->count + 1))
        event->values[event->count++] = *value;
    else
        infra_no_memory(reading);
}

/* ---- heaps_v2: maps of names, and columns of numbers ---- */

/* Parses an array of objects of heaps_v2, each with some numbers and a text. */
static void take_v2_items(struct infra_reading *reading, enum infra_name_kind kind)
{
    enum json_token token;
    while ((token = infra_read_next(reading)) == JSON_OBJECT) {
        size_t id = 0, name = 0, parent = 0;
        while (infra_read_next(reading) == JSON_KEY)
            infra_read_take_text(
                reading, text_is(reading, "id")                                       ? &id
                         : text_is(reading, "name_sid") || text_is(reading, "string") ? &name
                         : text_is(reading, "parent")                                 ? &parent
                                                                                      : NULL);
        if (id != 0)
            add_name(reading, kind, id, name, parent);
    }
    if (token == JSON_ARRAY_END || token == JSON_END)
        return;
    memory_infra_fault(reading->infra, "an entry in a map of heaps_v2 is not an object");
    do
        skip(reading, token);
    while (next_item(reading, &token));
}

static void take_v2_map(struct infra_reading *reading, enum json_token token, size_t key)
{
    bool is_wanted = token == JSON_ARRAY && reading->takes_names;
    if (is_wanted && key_is(reading, key, "nodes"))
        take_v2_items(reading, INFRA_V2_FRAME);
    else if (is_wanted && key_is(reading, key, "types"))
        take_v2_items(reading, INFRA_V2_TYPE);
    else if (is_wanted && key_is(reading, key, "strings"))
        take_v2_items(reading, INFRA_V2_STRING);
    else
        skip(reading, token);
}

/* Stores a column of heaps_v2 in the values from `first` on, which are created as needed. */
static void take_v2_column(struct infra_reading *reading, size_t first, char column)
{
    enum json_token token;
    for (size_t i = first; next_item(reading, &token); i++) {
        uint64_t number = 0;
        if (token != JSON_NUMBER || !read_decimal(json_input_text(reading->json), &number)) {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": a whole number is expected",
                               json_input_offset(reading->json));
            skip(reading, token);
        }
        if (reading->status == STEP_STATUS_OK && i == reading->event.count)
            add_value(reading, &(struct infra_value){.is_v2 = true});
        size_t text = column == 'n' || column == 't' ? infra_read_keep_text(reading) : 0;
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
    if (token != JSON_OBJECT || (reading->heap != NULL && !key_is(reading, name, reading->heap))) {
        skip(reading, token);
        return;
    }
    reading->event.is_dump = true;
    while (infra_read_next(reading) == JSON_KEY) {
        char column = text_is(reading, "nodes")    ? 'n'
                      : text_is(reading, "types")  ? 't'
                      : text_is(reading, "sizes")  ? 's'
                      : text_is(reading, "counts") ? 'c'
                                                   : '\0';
        token = infra_read_next(reading);
        if (token == JSON_ARRAY && column != '\0')
            take_v2_column(reading, first, column);
        else
            skip(reading, token);
    }
}

static void take_v2_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "maps"))
        each_member(reading, take_v2_map);
    else if (token == JSON_OBJECT && key_is(reading, key, "allocators") && !reading->takes_names)
        each_member(reading, take_v2_allocator);
    else
        skip(reading, token);
}

/* ---- frames, types, and the entries of heaps ---- */

/* "id": {"name": ..., "parent": ...} */
static void take_stack_frame(struct infra_reading *reading, enum json_token token, size_t id)
{
    size_t name = 0, parent = 0;
    if (token != JSON_OBJECT) {
        memory_infra_fault(reading->infra, "a stack frame is no object");
        skip(reading, token);
        return;
    }
    while (infra_read_next(reading) == JSON_KEY)
        infra_read_take_text(reading, text_is(reading, "name")     ? &name
                                      : text_is(reading, "parent") ? &parent
                                                                   : NULL);
    if (reading->status != STEP_STATUS_OK)
        return;
    if (name == 0)
        memory_infra_fault(reading->infra, "frame %s has no name", reading->event.texts + id);
    add_name(reading, INFRA_FRAME, id, name, parent);
}

static void take_type_name(struct infra_reading *reading, enum json_token token, size_t id)
{
    if (token == JSON_STRING) {
        add_name(reading, INFRA_TYPE, id, infra_read_keep_text(reading), 0);
        return;
    }
    memory_infra_fault(reading->infra, "the name of type %s is no string",
                       reading->event.texts + id);
    skip(reading, token);
}

/* {"size": "...", "bt": "...", "type": "...", "count": "..."} */
static void infra_read_take_entry(struct infra_reading *reading, bool *is_old, bool is_first)
{
    struct infra_value value = {.frame = 0};
    bool has_frame = false, has_size = false, is_good = true;
    while (infra_read_next(reading) == JSON_KEY) {
        char key = text_is(reading, "bt")      ? 'b'
                   : text_is(reading, "type")  ? 't'
                   : text_is(reading, "size")  ? 's'
                   : text_is(reading, "count") ? 'c'
                                               : '\0';
        enum json_token token = infra_read_next(reading);
        struct step_bytes text = json_input_text(reading->json);
        if (key == '\0' || (token != JSON_STRING && (token != JSON_NUMBER || key == 's'))) {
            is_good = is_good && key == '\0';
            skip(reading, token);
        } else if (key == 's' || key == 'c') {
            is_good = read_hexadecimal(text, key == 's' ? &value.bytes : &value.objects) && is_good;
            has_size = has_size || key == 's';
        } else {
            has_frame = has_frame || key == 'b';
            if (text.length > 0 || key == 't')
                *(key == 'b' ? &value.frame : &value.type) = infra_read_keep_text(reading);
        }
    }
    if (reading->status != STEP_STATUS_OK)
        return;
    if (is_first)
        *is_old = !has_frame;
    /* In an old dump, an entry without a backtrace is a total. */
    value.is_old = *is_old && has_frame;
    if (has_size && is_good && (has_frame || *is_old))
        add_value(reading, &value);
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
    while (next_item(reading, &token)) {
        if (token == JSON_OBJECT) {
            infra_read_take_entry(reading, &is_old, is_first);
            is_first = false;
        } else {
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": an entry is no object",
                               json_input_offset(reading->json));
            skip(reading, token);
        }
    }
}

static void take_heap_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_ARRAY && key_is(reading, key, "entries"))
        take_entries(reading);
    else
        skip(reading, token);
}

static void infra_read_take_heap(struct infra_reading *reading, enum json_token token, size_t name)
{
    if (token != JSON_OBJECT || reading->takes_names ||
        (reading->heap != NULL && !key_is(reading, name, reading->heap))) {
        skip(reading, token);
        return;
    }
    reading->event.is_dump = true;
    each_member(reading, take_heap_part);
}

static void take_dumps_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "heaps"))
        each_member(reading, infra_read_take_heap);
    else if (token == JSON_OBJECT && key_is(reading, key, "heaps_v2"))
        each_member(reading, take_v2_part);
    else
        skip(reading, token);
}

/* ---- events ---- */

static void take_argument(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "stackFrames") && reading->takes_names)
        each_member(reading, take_stack_frame);
    else if (token == JSON_OBJECT && key_is(reading, key, "typeNames") && reading->takes_names)
        each_member(reading, take_type_name);
    else if (token == JSON_OBJECT && key_is(reading, key, "dumps"))
        each_member(reading, take_dumps_part);
    else
        skip(reading, token);
}

/* Microseconds, possibly with a fraction. */
static void read_time(struct infra_reading *reading)
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

static void take_event_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && key_is(reading, key, "args")) {
        each_member(reading, take_argument);
        return;
    }
    if (token == JSON_NUMBER && key_is(reading, key, "ts"))
        read_time(reading);
    else if (token == JSON_NUMBER && key_is(reading, key, "pid") &&
             !read_decimal(json_input_text(reading->json), &reading->event.process) &&
             !reading->takes_names)
        memory_infra_fault(reading->infra, "a process number is out of range");
    skip(reading, token);
}

static void give_dump(struct infra_reading *reading)
{
    struct infra_event *event = &reading->event;
    struct memory_infra_dump dump = {.number = ++reading->dump_count,
                                     .process = event->process,
                                     .time_ns = event->time_ns,
                                     .values = malloc((event->count + 1) * sizeof *dump.values)};
    uint64_t sum = 0, objects = 0;
    if (dump.values == NULL) {
        infra_no_memory(reading);
        return;
    }
    /* If both forms are present, they have the same content. */
    bool only_v2 = true;
    for (size_t i = 0; i < event->count; i++)
        only_v2 = only_v2 && event->values[i].is_v2;
    for (size_t i = 0; i < event->count; i++) {
        struct dump_value *value = &dump.values[dump.count];
        if ((event->values[i].is_v2 && !only_v2) ||
            !infra_resolve_value(reading, &event->values[i], value))
            continue;
        if (__builtin_add_overflow(sum, value->bytes, &sum) ||
            __builtin_add_overflow(objects, value->objects, &objects)) {
            memory_infra_fault(reading->infra,
                               "dump %" PRIu64 ": sizes add up to more than 64 bits", dump.number);
            break;
        }
        dump.count++;
    }
    reading->status = reading->receive(reading->user, &dump, reading->error);
    free(dump.values);
}

static void infra_read_take_event(struct infra_reading *reading)
{
    struct infra_event *event = &reading->event;
    event->process = event->time_ns = 0;
    event->is_dump = false;
    event->text_length = event->count = event->name_count = 0;
    each_member(reading, take_event_part);
    if (reading->status == STEP_STATUS_OK && reading->takes_names)
        infra_put_names(reading);
    else if (reading->status == STEP_STATUS_OK && event->is_dump)
        give_dump(reading);
}

static void take_events(struct infra_reading *reading)
{
    enum json_token token;
    while (next_item(reading, &token)) {
        if (token == JSON_OBJECT) {
            infra_read_take_event(reading);
            continue;
        }
        if (!reading->takes_names)
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": an event is no object",
                               json_input_offset(reading->json));
        skip(reading, token);
    }
}

static void take_top_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_ARRAY && key_is(reading, key, "traceEvents")) {
        take_events(reading);
        return;
    }
    skip(reading, token);
    reading->event.text_length = 0;
}

/* ---- passes ---- */

static enum step_status run_pass(struct infra_reading *reading)
{
    reading->status = json_input_open(reading->infra->path, &reading->json, reading->error);
    if (reading->status != STEP_STATUS_OK)
        return reading->status;
    enum json_token token = infra_read_next(reading);
    if (token == JSON_ARRAY)
        take_events(reading);
    else if (token == JSON_OBJECT)
        each_member(reading, take_top_part);
    else if (reading->status == STEP_STATUS_OK)
        reading->status =
            step_error_set(reading->error, STEP_STATUS_FORMAT, reading->infra->path, 0,
                           "not a JSON trace: it is neither an object nor an array");
    infra_read_next(reading);
    json_input_close(reading->json);
    free(reading->event.texts);
    free(reading->event.values);
    free(reading->event.names);
    return reading->status;
}

enum step_status memory_infra_open(struct memory_infra *infra, const char *path,
                                   struct step_error *error)
{
    *infra = (struct memory_infra){.path = path};
    trace_names_init(&infra->names);
    bool ok = heap_sites_init(&infra->sites, &infra->names);
    /* class 0 is the unknown type */
    struct trace_class *unknown = ok ? id_table_get(&infra->names.classes, 0) : NULL;
    if (unknown == NULL)
        return step_no_memory(error, path);
    *unknown = (struct trace_class){.name = {(const uint8_t *) "<other>", 7}, .known = true};
    struct infra_reading reading = {.infra = infra, .error = error, .takes_names = true};
    enum step_status status = run_pass(&reading);
    if (status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO || status == STEP_STATUS_FORMAT)
        return status;
    enum step_status resolved = infra_resolve_frames(infra, error);
    return resolved == STEP_STATUS_OK ? status : resolved;
}

enum step_status memory_infra_each(struct memory_infra *infra, const char *heap,
                                   memory_infra_receive receive, void *user,
                                   struct step_error *error)
{
    struct infra_reading reading = {
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
