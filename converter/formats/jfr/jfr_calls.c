/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the calls of each thread. */
#include "converter/formats/jfr/jfr_calls.h"

#include "converter/trace/call_stack.h"

void jfr_calls_init(struct jfr_calls *calls)
{
    *calls = (struct jfr_calls){.sites = NULL};
    id_table_init(&calls->threads, sizeof(struct call_stack));
    id_table_init(&calls->methods, sizeof(struct jfr_method_calls));
}

void jfr_calls_reset(struct jfr_calls *calls)
{
    for (uint32_t id = 0; id_table_next(&calls->threads, &id); id++)
        call_stack_reset(id_table_find(&calls->threads, id));
    id_table_reset(&calls->threads);
    id_table_reset(&calls->methods);
}

/* Returns the site of the innermost call, or 0. */
static uint32_t site_of(const struct call_stack *stack)
{
    return stack->depth > 0 ? stack->frames[stack->depth - 1].site : 0;
}

static bool enter(struct jfr_calls *calls, const struct trace_event *event)
{
    struct call_stack *stack = id_table_get(&calls->threads, event->thread_id);
    struct jfr_method_calls *method = id_table_get(&calls->methods, event->method_id);
    if (stack == NULL || method == NULL)
        return false;
    struct call_frame frame = {.method_id = event->method_id, .entered_ns = event->time_ns};
    if (calls->sites != NULL) {
        const struct heap_site site = {.parent = site_of(stack), .method_id = event->method_id};
        frame.site = heap_sites_put(calls->sites, &site);
        if (frame.site == 0)
            return false;
    }
    method->calls++;
    return call_stack_push(stack, &frame);
}

/* Ends the innermost call. */
static void leave(struct jfr_calls *calls, struct call_stack *stack, uint32_t thread_id,
                  uint64_t time_ns)
{
    const struct call_frame frame = *call_stack_pop(stack);
    struct jfr_method_calls *method = id_table_find(&calls->methods, frame.method_id);
    uint64_t took_ns = time_ns > frame.entered_ns ? time_ns - frame.entered_ns : 0;
    bool is_first = method->maximum_ns == 0 && method->minimum_ns == 0;
    if (stack->depth > 0)
        stack->frames[stack->depth - 1].inner_ns += took_ns;
    method->exclusive_ns += took_ns > frame.inner_ns ? took_ns - frame.inner_ns : 0;
    method->inclusive_ns += frame.outer == 0 ? took_ns : 0;
    if (is_first || took_ns < method->minimum_ns)
        method->minimum_ns = took_ns;
    if (took_ns > method->maximum_ns)
        method->maximum_ns = took_ns;
    if (calls->visit != NULL)
        calls->visit(calls->user, &(struct jfr_call){.thread_id = thread_id,
                                                     .method_id = frame.method_id,
                                                     .caller = site_of(stack),
                                                     .begin_ns = frame.entered_ns,
                                                     .end_ns = frame.entered_ns + took_ns});
}

static void leave_to(struct jfr_calls *calls, struct call_stack *stack, uint32_t thread_id,
                     size_t depth, uint64_t time_ns)
{
    while (stack->depth > depth)
        leave(calls, stack, thread_id, time_ns);
}

bool jfr_calls_put(struct jfr_calls *calls, const struct trace_event *event)
{
    calls->last_ns = event->time_ns > calls->last_ns ? event->time_ns : calls->last_ns;
    if (event->kind == EVENT_METHOD_ENTRY)
        return enter(calls, event);
    if (event->kind != EVENT_METHOD_EXIT && event->kind != EVENT_METHOD_POP)
        return true;
    struct call_stack *stack = id_table_find(&calls->threads, event->thread_id);
    size_t depth = stack != NULL ? call_stack_find(stack, event->method_id) : 0;
    if (depth == 0)
        return true;
    struct jfr_method_calls *method = id_table_find(&calls->methods, event->method_id);
    method->exceptions += event->kind == EVENT_METHOD_POP;
    leave_to(calls, stack, event->thread_id, depth - 1, event->time_ns);
    return true;
}

void jfr_calls_finish(struct jfr_calls *calls)
{
    for (uint32_t id = 0; id_table_next(&calls->threads, &id); id++)
        leave_to(calls, id_table_find(&calls->threads, id), id, 0, calls->last_ns);
}
