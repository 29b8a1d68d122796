/* SPDX-License-Identifier: Apache-2.0 */
/* method=count in the usual case, as whole probes like those of quick_events.h: the thread's table
 * counts the Java thread that runs, the method has a cell, the exit is of the innermost call. Times
 * are those of the processor's counter (engine_bytecode.c: enable_methods()); without times, `open`
 * of cells means nothing. */
#ifndef AGENT_BYTECODE_QUICK_COUNTS_H
#define AGENT_BYTECODE_QUICK_COUNTS_H

#include "agent/bytecode/quick_events.h"
#include "agent/records/method_counts.h"

/* Returns true if the thread is marked as in a probe and its table can be used. */
QUICK bool begin_count_quickly(struct quick *quick)
{
    if (!begin_any_quickly(quick, 0, false))
        return false;
    const struct call_counts *counts = quick->os->counts;
    if (__builtin_expect(counts != NULL, 1) &&
        __builtin_expect(counts->session == quick->session->number, 1) &&
        __builtin_expect(counts->owner == quick->java, 1))
        return true;
    probe_leave(quick->os);
    return false;
}

/* Returns NULL if the thread has no calls in this session yet. */
QUICK struct call_stack *calls_quickly(const struct quick *quick)
{
    struct call_stack *stack = quick->java->calls;
    return __builtin_expect(stack != NULL, 1) &&
                   __builtin_expect(stack->session == quick->session->number, 1)
               ? stack
               : NULL;
}

QUICK struct count_cell *cell_quickly(const struct quick *quick, uint32_t number, uint64_t *method)
{
    return method_quickly(quick, number, method) ? count_cell_known(quick->os->counts, *method)
                                                 : NULL;
}

QUICK bool counts_have_times(const struct quick *quick)
{
    return quick->session->options.resolution_ns != 0;
}

QUICK bool count_entry_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method;
    if (!begin_count_quickly(&quick))
        return false;
    struct call_stack *stack = calls_quickly(&quick);
    struct count_cell *cell = cell_quickly(&quick, number, &method);
    bool done =
        cell != NULL && stack != NULL && __builtin_expect(stack->depth != stack->capacity, 1);
    if (done)
        count_open(cell, stack,
                   (struct open_call){count_key(number), method,
                                      counts_have_times(&quick) ? clock_counter() : 0, 0});
    probe_leave(quick.os);
    return done;
}

QUICK bool count_exit_quickly(uint32_t number)
{
    struct quick quick;
    if (!begin_count_quickly(&quick))
        return false;
    struct call_stack *stack = calls_quickly(&quick);
    const struct open_call *call = stack != NULL && __builtin_expect(stack->depth != 0, 1)
                                       ? &stack->calls[stack->depth - 1]
                                       : NULL;
    bool done = call != NULL && __builtin_expect(call->key == count_key(number), 1);
    if (done && counts_have_times(&quick))
        count_close(count_cell_known(quick.os->counts, call->method), stack, clock_counter(),
                    false);
    else if (done)
        stack->depth--;
    probe_leave(quick.os);
    return done;
}

QUICK bool count_call_quickly(uint32_t number)
{
    struct quick quick;
    uint64_t method;
    if (!begin_count_quickly(&quick))
        return false;
    struct count_cell *cell = cell_quickly(&quick, number, &method);
    if (cell != NULL)
        cell->calls++;
    probe_leave(quick.os);
    return cell != NULL;
}

#endif
