/* SPDX-License-Identifier: Apache-2.0 */
/* How the caller of a function is found at one of its instructions: what .eh_frame says of it
 * (x86-64), in so many bits that it can be remembered for each instruction. */
#ifndef MALLOC_RECORDER_STACKS_UNWIND_RULE_H
#define MALLOC_RECORDER_STACKS_UNWIND_RULE_H

#include <stdint.h>

enum unwind_kind {
    UNWIND_UNKNOWN,  /* nothing is said: perhaps a frame pointer is kept */
    UNWIND_END,      /* nobody called it, or in a way that is not followed */
    UNWIND_OF_STACK, /* the frame begins at the stack pointer + base */
    UNWIND_OF_FRAME, /* at the frame pointer + base */
    UNWIND_OF_WORD   /* where the word at the frame pointer + base points to */
};

/* The return address stands below the frame's begin; the caller's frame pointer at its begin +
 * saved, or, 0, it is the function's. */
struct unwind_rule {
    int32_t base;
    int16_t saved;
    uint16_t kind; /* enum unwind_kind */
};

/* Once, before the other: finds what glibc has for unwinders since 2.35; without it frame pointers
 * are all there is. */
void unwind_rule_prepare(void);

/* Of the instruction before `address`, a return address. */
struct unwind_rule unwind_rule_at(uintptr_t address);

#endif
