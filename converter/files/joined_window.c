/* SPDX-License-Identifier: Apache-2.0 */
/* Makes samples of the objects of exact windows. */
#include "converter/files/file_joining.h"

#include <stdlib.h>
#include <string.h>

#include "steptrace/live.h"

#define LOTS (UINT64_C(1) << 53)
/* Slots of these records, as java.step has them. */
enum { TIME, THREAD, FREED = 2, OBJECT = 4, STACK = 6, INTERVAL, SAMPLED_SLOTS };
enum { GIVEN_UP_OBJECT = 2, GIVEN_UP_THRESHOLD, GIVEN_UP_SLOTS };

static void find_records(struct joined_window *window, const struct step_definition *definition)
{
    window->alloc = step_definition_find(definition, "java.ObjectAlloc");
    window->alloc_at = step_definition_find(definition, "java.ObjectAllocAt");
    window->existing = step_definition_find(definition, "java.ObjectExisting");
    window->sampled = step_definition_find(definition, "java.ObjectSampled");
    window->given_up = step_definition_find(definition, "java.ObjectGivenUp");
    window->object_free = step_definition_find(definition, "java.ObjectFree");
}

bool joined_window_init(struct joined_window *window, const struct step_definition *definition,
                        struct step_writer *writer)
{
    *window = (struct joined_window){.definition = definition, .writer = writer, .threshold = LOTS};
    find_records(window, definition);
    window->slots = calloc(SAMPLED_SLOTS, sizeof *window->slots);
    return window->slots != NULL;
}

void joined_window_reset(struct joined_window *window)
{
    object_table_reset(&window->living);
    free(window->slots);
    window->slots = NULL;
}

static bool is_of_numbers(const struct step_definition *definition, uint32_t record)
{
    bool are_numbers = record != STEP_NO_RECORD;
    for (size_t i = 0; are_numbers && i < definition->records[record].field_count; i++) {
        const struct step_field *field = &definition->records[record].fields[i];
        are_numbers = step_field_is_identifier(field) || field->kind == STEP_TYPE_INT;
    }
    return are_numbers;
}

static bool has_slots(const struct step_definition *definition, uint32_t record, uint32_t parent,
                      size_t count)
{
    return is_of_numbers(definition, record) && definition->records[record].parent == parent &&
           definition->records[record].field_count == count;
}

bool joined_window_fits(const struct step_definition *definition)
{
    struct joined_window window;
    find_records(&window, definition);
    uint32_t event = step_definition_find(definition, "java.Event");
    return has_slots(definition, window.alloc, event, STACK) &&
           has_slots(definition, window.existing, window.alloc, STACK) &&
           has_slots(definition, window.alloc_at, window.alloc, INTERVAL) &&
           has_slots(definition, window.sampled, window.alloc_at, SAMPLED_SLOTS) &&
           has_slots(definition, window.given_up, event, GIVEN_UP_SLOTS);
}

static enum step_status joined_window_give_up(struct joined_window *window, uint64_t ticks,
                                              uint64_t object, uint64_t threshold)
{
    uint64_t slots[GIVEN_UP_SLOTS] = {ticks, 0, object, threshold};
    return step_writer_put(window->writer, STEP_LIVE_STREAM_FREES, window->given_up, slots);
}

/* Within it, all deaths are known, whatever is awaited of the samples before it. */
enum step_status joined_window_begin(struct joined_window *window, uint64_t ticks)
{
    window->is_open = true;
    window->count++;
    return joined_window_give_up(window, ticks, 0, LOTS);
}

enum step_status joined_window_end(struct joined_window *window, uint64_t ticks)
{
    enum step_status status = STEP_STATUS_OK;
    struct object_cursor cursor = {0};
    struct live_object object;
    while (status == STEP_STATUS_OK && object_table_next(&window->living, &cursor, &object)) {
        status = joined_window_give_up(window, ticks, object.object, LOTS);
        window->survivors++;
    }
    object_table_reset(&window->living);
    window->is_open = false;
    return status == STEP_STATUS_OK ? joined_window_give_up(window, ticks, 0, window->threshold)
                                    : status;
}

static enum step_status joined_window_put_alloc(struct joined_window *window, uint64_t stream,
                                                const uint64_t *slots, bool has_stack)
{
    memset(window->slots, 0, SAMPLED_SLOTS * sizeof *window->slots);
    memcpy(window->slots, slots, (has_stack ? INTERVAL : STACK) * sizeof *slots);
    window->slots[INTERVAL] = 1;
    if (!object_table_put(&window->living, &(struct live_object){.object = slots[OBJECT]}))
        return STEP_STATUS_NO_MEMORY;
    return step_writer_put(window->writer, stream, window->sampled, window->slots);
}

/* Calls and stores are in the window's own file only. */
static bool is_of_traces(const struct joined_window *window, uint32_t record)
{
    static const char *const names[] = {
        "java.VMStart",       "java.VMInit",      "java.VMDeath",        "java.ClassLoad",
        "java.ClassExisting", "java.ThreadStart", "java.ThreadExisting", "java.ThreadEnd"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(window->definition->records[record].name, names[i]) == 0)
            return true;
    return false;
}

enum step_status joined_window_put(struct joined_window *window, uint64_t stream, uint32_t record,
                                   const uint64_t *slots)
{
    struct live_object freed;
    if (!window->is_open && record == window->given_up)
        window->threshold = slots[GIVEN_UP_THRESHOLD];
    if (!window->is_open)
        return step_writer_put(window->writer, stream, record, slots);
    if (record == window->alloc || record == window->alloc_at)
        return joined_window_put_alloc(window, stream, slots, record == window->alloc_at);
    bool is_known = record == window->object_free
                        ? object_table_take(&window->living, slots[FREED], &freed)
                        : is_of_traces(window, record);
    return is_known ? step_writer_put(window->writer, stream, record, slots) : STEP_STATUS_OK;
}
