/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of calls whose first is the one to give way. */
#include "converter/report/report_calls.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "format/core/grow.h"

struct open_calls {
    uint64_t *starts_ns;
    size_t depth, capacity;
};

static enum step_status note(void *user, enum call_change change, uint32_t thread_id,
                             uint32_t method_id, uint64_t time_ns, struct step_error *error);

bool report_calls_init(struct report_calls *calls)
{
    *calls = (struct report_calls){.longest = malloc(REPORT_CALLS * sizeof *calls->longest)};
    id_table_init(&calls->threads, sizeof(struct open_calls));
    call_events_init(&calls->calls, 0, note, calls);
    return calls->longest != NULL;
}

void report_calls_reset(struct report_calls *calls)
{
    for (uint32_t i = 0; id_table_next(&calls->threads, &i); i++) {
        struct open_calls *open = id_table_find(&calls->threads, i);
        if (open != NULL)
            free(open->starts_ns);
    }
    id_table_reset(&calls->threads);
    call_events_reset(&calls->calls);
    free(calls->longest);
    calls->longest = NULL;
}

static void sink(struct report_calls *calls, size_t at)
{
    struct report_call moved = calls->longest[at];
    for (size_t child; (child = 2 * at + 1) < calls->count; at = child) {
        if (child + 1 < calls->count &&
            calls->longest[child + 1].length_ns < calls->longest[child].length_ns)
            child++;
        if (calls->longest[child].length_ns >= moved.length_ns)
            break;
        calls->longest[at] = calls->longest[child];
    }
    calls->longest[at] = moved;
}

static void offer(struct report_calls *calls, const struct report_call *call)
{
    calls->seen++;
    if (calls->count == REPORT_CALLS) {
        if (calls->longest[0].length_ns >= call->length_ns)
            return;
        calls->longest[0] = *call;
        sink(calls, 0);
        return;
    }
    calls->longest[calls->count++] = *call;
    if (calls->count == REPORT_CALLS)
        for (size_t i = REPORT_CALLS / 2; i-- > 0;)
            sink(calls, i);
}

static enum step_status note(void *user, enum call_change change, uint32_t thread_id,
                             uint32_t method_id, uint64_t time_ns, struct step_error *error)
{
    struct report_calls *calls = user;
    struct open_calls *open = id_table_get(&calls->threads, thread_id);
    if (open == NULL)
        return no_memory(error);
    if (change != CALL_OPENS) {
        uint64_t start_ns = open->starts_ns[--open->depth];
        offer(calls, &(struct report_call){start_ns, time_ns > start_ns ? time_ns - start_ns : 0,
                                           thread_id, method_id, (uint32_t) open->depth});
        return STEP_STATUS_OK;
    }
    if (open->depth == open->capacity) {
        uint64_t *starts =
            step_grown(open->starts_ns, &open->capacity, open->capacity + 1, sizeof *starts);
        if (starts == NULL)
            return no_memory(error);
        open->starts_ns = starts;
    }
    open->starts_ns[open->depth++] = time_ns;
    return STEP_STATUS_OK;
}

enum step_status report_calls_put(struct report_calls *calls, const struct trace_event *events,
                                  size_t count, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        bool is_object =
            events[i].kind == EVENT_OBJECT_ALLOC || events[i].kind == EVENT_OBJECT_FREE;
        if (!is_object)
            status = call_events_put(&calls->calls, &events[i], error);
    }
    return status;
}

static int by_start(const void *left, const void *right)
{
    const struct report_call *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

enum step_status report_calls_finish(struct report_calls *calls, struct step_error *error)
{
    enum step_status status = call_events_finish(&calls->calls, error);
    qsort(calls->longest, calls->count, sizeof *calls->longest, by_start);
    return status;
}
