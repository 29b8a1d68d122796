/* SPDX-License-Identifier: Apache-2.0 */
/* method=count: calls and time of each method, instead of its events.
 *
 * Each native thread adds up in its own table, indexed by the method's number in the trace. Each
 * Java thread has a stack of its open calls. When the trace ends, the tables are summed up and
 * written, one fact per method. With resolution=none, all times are 0, and no clock is read. The
 * usual case is in agent/bytecode/leaf_calls.c. */
#ifndef AGENT_RECORDS_METHOD_COUNTS_H
#define AGENT_RECORDS_METHOD_COUNTS_H

#include "agent/records/threads.h"

#define COUNT_PAGE_CELLS 256u

/* Times are in clock ticks. */
struct count_cell {
    uint64_t calls, exceptions, inclusive, exclusive;
    uint64_t open; /* open calls in the thread whose calls the table counts */
};

struct call_counts {
    uint64_t session;
    struct java_thread *owner; /* whose open calls are in the cells; NULL: no thread's */
    struct count_cell **pages;
    size_t page_count;
};

struct open_call {
    const void *key;
    uint64_t method, entered;
    uint64_t inner; /* time of the counted methods that it called */
};

struct call_stack {
    uint64_t session;
    struct java_thread *java;
    struct open_call *calls;
    size_t depth, capacity;
    struct call_stack *next, *previous;
};

/* Returns the thread's open calls in a session, NULL if it has none. */
static inline struct call_stack *call_stack_of(uint64_t session, const struct java_thread *java)
{
    struct call_stack *stack = java->calls;
    return __builtin_expect(stack != NULL, 1) && __builtin_expect(stack->session == session, 1)
               ? stack
               : NULL;
}

/* A return; an exception that leaves the method; an exception that the method catches. */
enum method_leave { LEAVE_RETURN, LEAVE_UNWIND, LEAVE_CAUGHT };

/* Called from rewritten code, which passes the method's number. */
void method_counts_entered(struct session *session, struct os_thread *os, uint32_t number);
void method_counts_left(struct session *session, struct os_thread *os, uint32_t number,
                        enum method_leave how);
/* Entry and exit of a leaf method at once, which take no time. */
void method_counts_called(struct session *session, struct os_thread *os, uint32_t number,
                          enum method_leave how);
/* Same, for a method that is known; `key` identifies it at its exit. */
void method_counts_enter(struct session *session, struct os_thread *os, struct java_thread *java,
                         uint64_t method, const void *key);
void method_counts_leave(struct session *session, struct os_thread *os, struct java_thread *java,
                         const void *key, enum method_leave how);
/* Call when the thread leaves this native thread, for a while or for good. */
void method_counts_unmounted(struct os_thread *os, struct java_thread *java);
void method_counts_thread_ended(struct session *session, struct os_thread *os,
                                struct java_thread *java);
/* Called by the drain thread when no probe runs any more. If not `all_left`, some threads are in a
 * probe for good: their counts and open calls are left out. */
void method_counts_finish(struct session *session, bool all_left);

static inline const void *count_key(uint32_t number)
{
    return (const void *) (uintptr_t) number;
}

/* Returns NULL if there is none yet. */
static inline struct count_cell *count_cell_known(const struct call_counts *counts, uint64_t method)
{
    size_t page = (size_t) (method / COUNT_PAGE_CELLS);
    struct count_cell *cells = page < counts->page_count ? counts->pages[page] : NULL;
    return __builtin_expect(cells != NULL, 1) ? &cells[method % COUNT_PAGE_CELLS] : NULL;
}

/* The stack has room. */
static inline void count_open(struct count_cell *cell, struct call_stack *stack,
                              struct open_call call)
{
    cell->calls++;
    cell->open++;
    stack->calls[stack->depth++] = call;
}

static inline uint64_t time_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Closes the innermost call; `cell` is that of its method, or NULL. */
static inline void count_close(struct count_cell *cell, struct call_stack *stack, uint64_t now,
                               bool by_exception)
{
    const struct open_call *call = &stack->calls[--stack->depth];
    uint64_t took = time_between(call->entered, now);
    if (stack->depth > 0)
        stack->calls[stack->depth - 1].inner += took;
    if (cell == NULL)
        return;
    cell->exclusive += time_between(call->inner, took);
    if (cell->open == 0 || --cell->open == 0)
        cell->inclusive += took;
    cell->exceptions += by_exception;
}

#endif
