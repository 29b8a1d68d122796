/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of a file in two passes: the first one takes frames and types, the second one
 * dumps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/formats/memory_infra/memory_infra_event.h"
#include "format/core/grow.h"
#include "format/core/step_no_memory.h"

/* ---- events ---- */

static void take_argument(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "stackFrames") && reading->takes_names)
        infra_each_member(reading, infra_take_stack_frame);
    else if (token == JSON_OBJECT && infra_key_is(reading, key, "typeNames") &&
             reading->takes_names)
        infra_each_member(reading, infra_take_type_name);
    else if (token == JSON_OBJECT && infra_key_is(reading, key, "dumps"))
        infra_each_member(reading, infra_take_dumps_part);
    else
        infra_skip(reading, token);
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

static void take_event_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_OBJECT && infra_key_is(reading, key, "args")) {
        infra_each_member(reading, take_argument);
        return;
    }
    if (token == JSON_NUMBER && infra_key_is(reading, key, "ts"))
        read_time(reading);
    else if (token == JSON_NUMBER && infra_key_is(reading, key, "pid") &&
             !infra_read_decimal(json_input_text(reading->json), &reading->event.process) &&
             !reading->takes_names)
        memory_infra_fault(reading->infra, "a process number is out of range");
    infra_skip(reading, token);
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
    infra_each_member(reading, take_event_part);
    if (reading->status == STEP_STATUS_OK && reading->takes_names)
        infra_put_names(reading);
    else if (reading->status == STEP_STATUS_OK && event->is_dump)
        give_dump(reading);
}

static void take_events(struct infra_reading *reading)
{
    enum json_token token;
    while (infra_next_item(reading, &token)) {
        if (token == JSON_OBJECT) {
            infra_read_take_event(reading);
            continue;
        }
        if (!reading->takes_names)
            memory_infra_fault(reading->infra, "offset %" PRIu64 ": an event is no object",
                               json_input_offset(reading->json));
        infra_skip(reading, token);
    }
}

static void take_top_part(struct infra_reading *reading, enum json_token token, size_t key)
{
    if (token == JSON_ARRAY && infra_key_is(reading, key, "traceEvents")) {
        take_events(reading);
        return;
    }
    infra_skip(reading, token);
    reading->event.text_length = 0;
}

/* ---- passes ---- */

static enum step_status run_pass(struct infra_reading *reading)
{
    reading->status = json_input_open(reading->infra->path, &reading->json, reading->error);
    if (reading->status != STEP_STATUS_OK)
        return reading->status;
    enum json_token token = infra_next(reading);
    if (token == JSON_ARRAY)
        take_events(reading);
    else if (token == JSON_OBJECT)
        infra_each_member(reading, take_top_part);
    else if (reading->status == STEP_STATUS_OK)
        reading->status =
            step_error_set(reading->error, STEP_STATUS_FORMAT, reading->infra->path, 0,
                           "not a JSON trace: it is neither an object nor an array");
    infra_next(reading);
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
