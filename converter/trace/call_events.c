/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a stack of open calls per thread. */
#include "converter/trace/call_events.h"

#include <stdio.h>

#include "converter/containers/no_memory.h"

const struct format_options call_options = {sizeof(uint64_t), NULL, NULL};

void call_events_init(struct call_events *calls, uint64_t from_ns, call_receive receive, void *user)
{
    *calls = (struct call_events){
        .from_ns = from_ns, .has_begun = from_ns == 0, .receive = receive, .user = user};
    id_table_init(&calls->threads, sizeof(struct call_stack));
}

void call_events_reset(struct call_events *calls)
{
    struct call_stack *stack;
    for (uint32_t i = 0; (stack = id_table_next(&calls->threads, &i)) != NULL; i++)
        call_stack_reset(stack);
    id_table_reset(&calls->threads);
}

static enum step_status open_call(struct call_events *calls, struct call_stack *stack, size_t depth,
                                  uint32_t thread_id, struct step_error *error)
{
    const struct call_event opened = {.change = CALL_OPENS,
                                      .thread_id = thread_id,
                                      .time_ns = stack->frames[depth].entered_ns,
                                      .frame = &stack->frames[depth],
                                      .depth = depth};
    return calls->receive(calls->user, &opened, error);
}

/* Passes on the calls that are open at the start of the slice, outermost first. */
static enum step_status call_events_begin(struct call_events *calls, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    calls->has_begun = true;
    struct call_stack *stack;
    for (uint32_t i = 0; (stack = id_table_next(&calls->threads, &i)) != NULL; i++)
        for (size_t j = 0; j < stack->depth && status == STEP_STATUS_OK; j++) {
            stack->frames[j].entered_ns = calls->from_ns;
            stack->frames[j].inner_ns = stack->frames[j].inner_calls = 0;
            status = open_call(calls, stack, j, i, error);
        }
    return status;
}

static enum step_status call_events_enter(struct call_events *calls,
                                          const struct trace_event *event, struct step_error *error)
{
    struct call_stack *stack = id_table_get(&calls->threads, event->thread_id);
    const struct call_frame frame = {.method_id = event->method_id, .entered_ns = event->time_ns};
    if (stack == NULL || !call_stack_push(stack, &frame))
        return no_memory(error);
    return calls->has_begun ? open_call(calls, stack, stack->depth - 1, event->thread_id, error)
                            : STEP_STATUS_OK;
}

/* Closes calls down to `depth`: the outermost of them with `last`. */
static enum step_status close_down(struct call_events *calls, uint32_t thread_id, size_t depth,
                                   uint64_t time_ns, enum call_change last,
                                   struct step_error *error)
{
    struct call_stack *stack = id_table_find(&calls->threads, thread_id);
    enum step_status status = STEP_STATUS_OK;
    while (stack->depth > depth && status == STEP_STATUS_OK) {
        call_stack_pop(stack);
        struct call_frame *frame = &stack->frames[stack->depth];
        uint64_t took_ns = time_ns > frame->entered_ns ? time_ns - frame->entered_ns : 0;
        if (stack->depth > 0) {
            frame[-1].inner_ns += took_ns;
            frame[-1].inner_calls += frame->inner_calls + 1;
        }
        const struct call_event closed = {.change = stack->depth == depth ? last : CALL_LEAVES,
                                          .thread_id = thread_id,
                                          .time_ns = time_ns,
                                          .took_ns = took_ns,
                                          .frame = frame,
                                          .depth = stack->depth};
        if (calls->has_begun)
            status = calls->receive(calls->user, &closed, error);
    }
    return status;
}

enum step_status call_events_put(struct call_events *calls, const struct trace_event *event,
                                 struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (!calls->has_begun && event->time_ns >= calls->from_ns)
        status = call_events_begin(calls, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (event->time_ns > calls->last_ns)
        calls->last_ns = event->time_ns;
    if (event->kind == EVENT_METHOD_ENTRY)
        return call_events_enter(calls, event, error);
    if (event->kind != EVENT_METHOD_EXIT && event->kind != EVENT_METHOD_POP)
        return STEP_STATUS_OK;
    const struct call_stack *stack = id_table_find(&calls->threads, event->thread_id);
    size_t depth = stack != NULL ? call_stack_find(stack, event->method_id) : 0;
    if (depth == 0)
        return STEP_STATUS_OK;
    return close_down(calls, event->thread_id, depth - 1, event->time_ns,
                      event->kind == EVENT_METHOD_POP ? CALL_THROWS : CALL_CLOSES, error);
}

enum step_status call_events_finish(struct call_events *calls, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    const struct call_stack *stack;
    for (uint32_t i = 0; (stack = id_table_next(&calls->threads, &i)) != NULL; i++)
        while (stack->depth > 0 && status == STEP_STATUS_OK)
            status = close_down(calls, i, stack->depth - 1, calls->last_ns, CALL_CLOSES, error);
    return status;
}

void call_put_name(struct json_output *json, const struct trace_names *names, uint32_t method_id)
{
    char text[1024];
    const struct trace_method *method = trace_method_of(names, method_id);
    struct step_bytes owner = trace_class_of(names, method->class_id)->name;
    int length =
        snprintf(text, sizeof text, "%.*s.%.*s", (int) owner.length, (const char *) owner.data,
                 (int) method->name.length, (const char *) method->name.data);
    size_t used = (size_t) length < sizeof text ? (size_t) length : sizeof text - 1;
    json_bytes(json, "name", (struct step_bytes){(const uint8_t *) text, used});
}
