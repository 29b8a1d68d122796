/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a stack of open calls per thread. */
#include "converter/heap/call_sites.h"

#include "converter/trace/call_stack.h"

void call_sites_init(struct call_sites *calls)
{
    id_table_init(&calls->threads, sizeof(struct call_stack));
}

void call_sites_reset(struct call_sites *calls)
{
    for (uint32_t i = 0; id_table_next(&calls->threads, &i); i++) {
        struct call_stack *stack = id_table_find(&calls->threads, i);
        if (stack != NULL)
            call_stack_reset(stack);
    }
    id_table_reset(&calls->threads);
}

static uint32_t innermost_site(const struct call_stack *stack)
{
    return stack != NULL && stack->depth > 0 ? stack->frames[stack->depth - 1].site : 0;
}

uint32_t call_sites_of(const struct call_sites *calls, struct heap_sites *sites,
                       const struct trace_event *event)
{
    if (event->stack_id != 0)
        return heap_sites_of_frame(sites, event->stack_id);
    return innermost_site(id_table_find(&calls->threads, event->thread_id));
}

static bool put_entry(struct call_sites *calls, struct heap_sites *sites,
                      const struct trace_event *event)
{
    struct call_stack *stack = id_table_get(&calls->threads, event->thread_id);
    if (stack == NULL)
        return false;
    const struct heap_site site = {.parent = innermost_site(stack), .method_id = event->method_id};
    const struct call_frame frame = {.method_id = event->method_id,
                                     .site = heap_sites_put(sites, &site)};
    return frame.site != 0 && call_stack_push(stack, &frame);
}

/* An exit closes the innermost call of its method, and those nested in it. */
static void put_exit(struct call_sites *calls, const struct trace_event *event)
{
    struct call_stack *stack = id_table_find(&calls->threads, event->thread_id);
    size_t depth = stack != NULL ? call_stack_find(stack, event->method_id) : 0;
    if (depth != 0)
        call_stack_cut(stack, depth - 1);
}

bool call_sites_put(struct call_sites *calls, struct heap_sites *sites,
                    const struct trace_event *event)
{
    if (event->kind == EVENT_METHOD_ENTRY)
        return put_entry(calls, sites, event);
    if (event->kind == EVENT_METHOD_EXIT || event->kind == EVENT_METHOD_POP)
        put_exit(calls, event);
    return true;
}
