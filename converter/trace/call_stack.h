/* SPDX-License-Identifier: Apache-2.0 */
/* The open calls of one thread, and which is the innermost of each method. */
#ifndef CONVERTER_TRACE_CALL_STACK_H
#define CONVERTER_TRACE_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/hash_index.h"

struct call_frame {
    uint32_t method_id;
    uint32_t outer; /* the depth, from 1, of the same method's next call further out; 0: none.  Set
                       by call_stack_push(), as is */
    uint32_t place; /* the method's */
    uint32_t site;  /* the user's, as what follows */
    uint64_t entered_ns;
    uint64_t inner_ns; /* spent in what it called */
};

struct call_place;

/* Zero-initialised is empty. */
struct call_stack {
    struct call_frame *frames;
    size_t depth;
    size_t capacity;
    struct call_place *places; /* by method, of all that were ever open here */
    size_t place_count;
    size_t place_capacity;
    struct step_index index; /* of the places */
};

/* False: out of memory. */
bool call_stack_push(struct call_stack *stack, const struct call_frame *frame);
/* The depth, from 1, of the innermost call of the method; 0: there is none.  Takes the same time
 * however deep the stack is. */
size_t call_stack_find(const struct call_stack *stack, uint32_t method_id);
/* Takes the innermost call off; it stays readable until the next push. */
const struct call_frame *call_stack_pop(struct call_stack *stack);
/* Takes calls off until so many are left. */
void call_stack_cut(struct call_stack *stack, size_t depth);
void call_stack_reset(struct call_stack *stack);

#endif
