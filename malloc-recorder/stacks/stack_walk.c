/* SPDX-License-Identifier: Apache-2.0 */
/* Walks call stacks frame by frame, by unwind rules that are cached. */
#include "malloc-recorder/stacks/stack_walk.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "format/core/hash.h"
#include "malloc-recorder/stacks/unwind_rule.h"

#define REMEMBERED 16384u
#define STACK_MOST (UINT64_C(1) << 30)

extern const char _end[] __attribute__((visibility("hidden")));
extern const char __ehdr_start[] __attribute__((weak, visibility("hidden")));

/* A cache entry of two words that validate each other, so that readers need no lock and detect
 * mixed entries. */
struct remembered {
    _Atomic uint64_t proof; /* address xor rule */
    _Atomic uint64_t rule;
};

static struct remembered table[REMEMBERED];

uintptr_t stack_end(void)
{
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
    return (uintptr_t) lowest + bytes;
}

void stack_walk_forget(void)
{
    for (size_t i = 0; i < REMEMBERED; i++) {
        atomic_store_explicit(&table[i].proof, 0, memory_order_relaxed);
        atomic_store_explicit(&table[i].rule, 0, memory_order_relaxed);
    }
}

static struct unwind_rule find_rule(uintptr_t address)
{
    struct remembered *entry = &table[step_hash(address) >> 50 & (REMEMBERED - 1)];
    struct unwind_rule rule;
    uint64_t bits = atomic_load_explicit(&entry->rule, memory_order_relaxed);
    if (__builtin_expect(
            (atomic_load_explicit(&entry->proof, memory_order_relaxed) ^ bits) == address, 1)) {
        memcpy(&rule, &bits, sizeof rule);
        return rule;
    }
    rule = unwind_rule_at(address);
    memcpy(&bits, &rule, sizeof bits);
    atomic_store_explicit(&entry->rule, bits, memory_order_relaxed);
    atomic_store_explicit(&entry->proof, address ^ bits, memory_order_relaxed);
    return rule;
}

struct frame {
    uintptr_t address, stack, pointer;
};

static bool stack_walk_is_readable(uintptr_t place, uintptr_t low, uintptr_t end)
{
    return place >= low && place <= end - sizeof(uintptr_t) && place % sizeof(uintptr_t) == 0;
}

static uintptr_t word_at(uintptr_t place)
{
    return *(const uintptr_t *) place;
}

/* Moves to the caller.  Returns false if there is none, or it cannot be found. */
static bool stack_walk_step(struct frame *frame, uintptr_t end)
{
    struct unwind_rule rule = find_rule(frame->address);
    uintptr_t begin;
    switch ((enum unwind_kind) rule.kind) {
    case UNWIND_OF_STACK:
        begin = frame->stack + (uintptr_t) (intptr_t) rule.base;
        break;
    case UNWIND_OF_FRAME:
        begin = frame->pointer + (uintptr_t) (intptr_t) rule.base;
        break;
    case UNWIND_OF_WORD:
        begin = frame->pointer + (uintptr_t) (intptr_t) rule.base;
        if (!stack_walk_is_readable(begin, frame->stack, end))
            return false;
        begin = word_at(begin);
        break;
    case UNWIND_UNKNOWN: /* for example generated code: it may use frame pointers */
        begin = frame->pointer + 2 * sizeof(uintptr_t);
        rule.saved = -16;
        break;
    default:
        return false;
    }
    if (begin <= frame->stack ||
        !stack_walk_is_readable(begin - sizeof(uintptr_t), frame->stack, end))
        return false;
    uintptr_t saved = begin + (uintptr_t) (intptr_t) rule.saved;
    if (rule.saved != 0 && !stack_walk_is_readable(saved, frame->stack, end))
        return false;
    frame->address = word_at(begin - sizeof(uintptr_t));
    if (rule.saved != 0)
        frame->pointer = word_at(saved);
    frame->stack = begin;
    return frame->address > 4096;
}

static bool is_ours(uintptr_t address)
{
    return address >= (uintptr_t) __ehdr_start && address < (uintptr_t) _end;
}

__attribute__((noinline)) unsigned stack_walk(uintptr_t *addresses, unsigned most, uintptr_t end,
                                              uintptr_t caller)
{
    struct frame frame = {0, 0, 0};
    unsigned count = 0;
#if defined(__x86_64__)
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                     : "=r"(frame.address), "=r"(frame.stack), "=r"(frame.pointer));
#else
    frame.pointer = (uintptr_t) __builtin_frame_address(0);
    frame.stack = frame.pointer;
#endif
    if (frame.stack < end && end - frame.stack < STACK_MOST)
        while (count < most && stack_walk_step(&frame, end))
            if (!is_ours(frame.address))
                addresses[count++] = frame.address;
    if (count == 0)
        addresses[count++] = caller;
    return count;
}
