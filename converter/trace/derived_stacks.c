/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of open calls per thread, and their frames, which begin at TRACE_DERIVED_FRAME. */
#include "converter/trace/derived_stacks.h"

#include <stdlib.h>

#include "converter/trace/call_stack.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

struct derived_frame {
    uint32_t parent; /* id of the caller's frame; 0: none */
    uint32_t method_id;
};

void derived_stacks_init(struct derived_stacks *stacks)
{
    *stacks = (struct derived_stacks){.count = 0};
    id_table_init(&stacks->threads, sizeof(struct call_stack));
}

void derived_stacks_reset(struct derived_stacks *stacks)
{
    struct call_stack *stack;
    for (uint32_t i = 0; (stack = id_table_next(&stacks->threads, &i)) != NULL; i++)
        call_stack_reset(stack);
    id_table_reset(&stacks->threads);
    step_index_reset(&stacks->index);
    free(stacks->frames);
    stacks->frames = NULL;
}

static uint32_t innermost_frame(const struct call_stack *stack)
{
    return stack != NULL && stack->depth > 0 ? stack->frames[stack->depth - 1].site : 0;
}

/* Returns the frame's id, adding the frame if necessary; 0 if out of memory. */
static uint32_t frame_of(struct derived_stacks *stacks, struct trace_names *names, uint32_t parent,
                         uint32_t method_id)
{
    uint32_t hash = (uint32_t) step_hash_join((uint64_t) parent << 32, method_id), number;
    STEP_INDEX_EACH (&stacks->index, hash, number)
        if (stacks->frames[number].parent == parent &&
            stacks->frames[number].method_id == method_id)
            return TRACE_DERIVED_FRAME + number;
    number = (uint32_t) stacks->count;
    if (stacks->count >= UINT32_MAX / 4 ||
        !STEP_MAKE_ROOM(stacks->frames, stacks->capacity, stacks->count + 1))
        return 0;
    struct trace_frame *frame = id_table_get(&names->frames, TRACE_DERIVED_FRAME + number);
    if (frame == NULL || !step_index_add(&stacks->index, hash, number))
        return 0;
    *frame = (struct trace_frame){.parent = parent, .method_id = method_id, .known = true};
    stacks->frames[stacks->count++] = (struct derived_frame){parent, method_id};
    return TRACE_DERIVED_FRAME + number;
}

static bool put_entry(struct derived_stacks *stacks, struct trace_names *names,
                      const struct trace_event *event)
{
    struct call_stack *stack = id_table_get(&stacks->threads, event->thread_id);
    if (stack == NULL)
        return false;
    const struct call_frame call = {
        .method_id = event->method_id,
        .site = frame_of(stacks, names, innermost_frame(stack), event->method_id)};
    return call.site != 0 && call_stack_push(stack, &call);
}

/* An exit closes the innermost call of its method, and those nested in it. */
static void put_exit(struct derived_stacks *stacks, const struct trace_event *event)
{
    struct call_stack *stack = id_table_find(&stacks->threads, event->thread_id);
    size_t depth = stack != NULL ? call_stack_find(stack, event->method_id) : 0;
    if (depth != 0)
        call_stack_cut(stack, depth - 1);
}

bool derived_stacks_follow(struct derived_stacks *stacks, struct trace_names *names,
                           struct trace_event *event)
{
    switch (event->kind) {
    case EVENT_METHOD_ENTRY:
        return put_entry(stacks, names, event);
    case EVENT_METHOD_EXIT:
    case EVENT_METHOD_POP:
        put_exit(stacks, event);
        return true;
    case EVENT_OBJECT_ALLOC:
        if (event->stack_id == 0)
            event->stack_id = innermost_frame(id_table_find(&stacks->threads, event->thread_id));
        return true;
    default:
        return true;
    }
}
