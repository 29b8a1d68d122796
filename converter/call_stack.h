/* SPDX-License-Identifier: Apache-2.0 */
/* The open calls of one thread. */
#ifndef CONVERTER_CALL_STACK_H
#define CONVERTER_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_frame {
    uint32_t method_id;
    bool is_inner; /* the method is open further out, too */
    uint64_t entered_ns;
    uint64_t inner_ns; /* spent in what it called */
};

struct call_stack {
    struct call_frame *frames;
    size_t depth;
    size_t capacity;
};

/* False: out of memory. */
bool call_stack_push(struct call_stack *stack, const struct call_frame *frame);
/* The depth, from 1, of the innermost call of the method; 0: there is none. */
size_t call_stack_find(const struct call_stack *stack, uint32_t method_id);
void call_stack_reset(struct call_stack *stack);

#endif
