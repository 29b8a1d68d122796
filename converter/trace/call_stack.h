/* SPDX-License-Identifier: Apache-2.0 */
/* Call stack of one thread, which also finds the innermost call of a method in constant time. */
#ifndef CONVERTER_TRACE_CALL_STACK_H
#define CONVERTER_TRACE_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/hash_index.h"

struct call_frame {
    uint32_t method_id;
    uint32_t outer; /* depth, counted from 1, of the method's next outer call; 0: none.  Set by
                       call_stack_push(), like `place` */
    uint32_t place; /* index of the method's place */
    uint32_t site;  /* this and the following members are the caller's */
    uint64_t entered_ns;
    uint64_t inner_ns; /* time spent in its callees */
    uint64_t inner_calls;
};

struct call_place;

/* Zero-initialise for an empty stack. */
struct call_stack {
    struct call_frame *frames;
    size_t depth;
    size_t capacity;
    struct call_place *places; /* one per method that was ever on this stack */
    size_t place_count;
    size_t place_capacity;
    struct step_index index; /* finds places by method */
};

/* Returns false if out of memory. */
bool call_stack_push(struct call_stack *stack, const struct call_frame *frame);
/* Returns the depth, counted from 1, of the innermost call of the method; 0 if there is none.
 * Takes constant time. */
size_t call_stack_find(const struct call_stack *stack, uint32_t method_id);
/* Removes the innermost call.  The result is valid until the next push. */
const struct call_frame *call_stack_pop(struct call_stack *stack);
/* Removes calls until `depth` are left. */
void call_stack_cut(struct call_stack *stack, size_t depth);
void call_stack_reset(struct call_stack *stack);

#endif
