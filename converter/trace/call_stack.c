/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array of frames, and a table of methods with their innermost calls. */
#include "converter/trace/call_stack.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

struct call_place {
    uint32_t method_id;
    uint32_t depth; /* of its innermost call; 0: none */
};

/* Returns false if the method was never on this stack. */
static bool call_stack_find_place(const struct call_stack *stack, uint32_t method_id,
                                  uint32_t *place)
{
    STEP_INDEX_EACH (&stack->index, step_hash_half(method_id), *place)
        if (stack->places[*place].method_id == method_id)
            return true;
    return false;
}

static bool add_place(struct call_stack *stack, uint32_t method_id, uint32_t *place)
{
    *place = (uint32_t) stack->place_count;
    if (!STEP_MAKE_ROOM(stack->places, stack->place_capacity, stack->place_count + 1))
        return false;
    if (!step_index_add(&stack->index, step_hash_half(method_id), *place))
        return false;
    stack->places[stack->place_count++] = (struct call_place){method_id, 0};
    return true;
}

bool call_stack_push(struct call_stack *stack, const struct call_frame *frame)
{
    uint32_t place;
    if (stack->depth >= UINT32_MAX / 2 ||
        !STEP_MAKE_ROOM(stack->frames, stack->capacity, stack->depth + 1) ||
        (!call_stack_find_place(stack, frame->method_id, &place) &&
         !add_place(stack, frame->method_id, &place)))
        return false;
    struct call_frame *pushed = &stack->frames[stack->depth++];
    *pushed = *frame;
    pushed->place = place;
    pushed->outer = stack->places[place].depth;
    stack->places[place].depth = (uint32_t) stack->depth;
    return true;
}

size_t call_stack_find(const struct call_stack *stack, uint32_t method_id)
{
    uint32_t place;
    return call_stack_find_place(stack, method_id, &place) ? stack->places[place].depth : 0;
}

const struct call_frame *call_stack_pop(struct call_stack *stack)
{
    const struct call_frame *frame = &stack->frames[--stack->depth];
    stack->places[frame->place].depth = frame->outer;
    return frame;
}

void call_stack_cut(struct call_stack *stack, size_t depth)
{
    while (stack->depth > depth)
        call_stack_pop(stack);
}

void call_stack_reset(struct call_stack *stack)
{
    free(stack->frames);
    free(stack->places);
    step_index_reset(&stack->index);
    *stack = (struct call_stack){0};
}
