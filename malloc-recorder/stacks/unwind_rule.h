/* SPDX-License-Identifier: Apache-2.0 */
/* Unwind rules from .eh_frame (x86-64): how to find the caller at an instruction, encoded in few
 * bits so that rules can be cached per instruction. */
#ifndef MALLOC_RECORDER_STACKS_UNWIND_RULE_H
#define MALLOC_RECORDER_STACKS_UNWIND_RULE_H

#include <stdint.h>

enum unwind_kind {
    UNWIND_UNKNOWN,  /* no information: there may be a frame pointer */
    UNWIND_END,      /* outermost function, or not supported */
    UNWIND_OF_STACK, /* the frame starts at the stack pointer + base */
    UNWIND_OF_FRAME, /* the frame starts at the frame pointer + base */
    UNWIND_OF_WORD   /* the frame starts where the word at the frame pointer + base points */
};

/* The return address is directly below the start of the frame.  The caller's frame pointer is at
 * the start + saved, or, if saved is 0, in its register. */
struct unwind_rule {
    int32_t base;
    int16_t saved;
    uint16_t kind; /* enum unwind_kind */
};

/* Call once before unwind_rule_at(): finds glibc's interface for unwinders (2.35 and later).
 * Without it only frame pointers are used. */
void unwind_rule_prepare(void);

/* Returns the rule of the instruction before `address`, a return address. */
struct unwind_rule unwind_rule_at(uintptr_t address);

#endif
