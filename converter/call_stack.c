/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array of frames. */
#include "call_stack.h"

#include <stdlib.h>

/* How far an exit looks for its call: a damaged trace may have any number of exits without one. */
#define SEARCH_DEPTH ((size_t) 65536)

bool call_stack_push(struct call_stack *stack, const struct call_frame *frame)
{
    if (stack->depth == stack->capacity) {
        size_t capacity = stack->capacity * 2 + 32;
        struct call_frame *frames = realloc(stack->frames, capacity * sizeof *frames);
        if (frames == NULL)
            return false;
        stack->frames = frames;
        stack->capacity = capacity;
    }
    stack->frames[stack->depth++] = *frame;
    return true;
}

size_t call_stack_find(const struct call_stack *stack, uint32_t method_id)
{
    size_t end = stack->depth > SEARCH_DEPTH ? stack->depth - SEARCH_DEPTH : 0;
    for (size_t depth = stack->depth; depth > end; depth--)
        if (stack->frames[depth - 1].method_id == method_id)
            return depth;
    return 0;
}

void call_stack_reset(struct call_stack *stack)
{
    free(stack->frames);
    *stack = (struct call_stack){0};
}
