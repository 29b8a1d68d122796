/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of calls, stacks of open calls, and their sums. */
#include "agent/records/method_counts.h"

#include <stdlib.h>

#include "agent/records/global_stream.h"
#include "agent/records/method_numbers.h"
#include "format/core/grow.h"

#define METHOD_LIMIT (UINT64_C(1) << 27)

/* All stacks of the session, for the session's end. */
static struct call_stack *all_stacks;
static pthread_mutex_t stacks_lock = PTHREAD_MUTEX_INITIALIZER;

static struct count_cell *method_counts_add_page(struct call_counts *counts, size_t page)
{
    if (page >= counts->page_count) {
        struct count_cell **grown =
            step_grown_zeroed(counts->pages, &counts->page_count, page + 1, sizeof *grown);
        if (grown == NULL)
            return NULL;
        counts->pages = grown;
    }
    counts->pages[page] = calloc(COUNT_PAGE_CELLS, sizeof **counts->pages);
    return counts->pages[page];
}

/* Returns NULL if out of memory. */
static inline struct count_cell *cell_of(struct call_counts *counts, uint64_t method)
{
    struct count_cell *known = count_cell_known(counts, method);
    if (__builtin_expect(known != NULL, 1))
        return known;
    struct count_cell *cells =
        method < METHOD_LIMIT ? method_counts_add_page(counts, (size_t) (method / COUNT_PAGE_CELLS))
                              : NULL;
    return cells != NULL ? &cells[method % COUNT_PAGE_CELLS] : NULL;
}

static void forget_counts(struct call_counts *counts)
{
    for (size_t i = 0; i < counts->page_count; i++)
        free(counts->pages[i]);
    free(counts->pages);
    *counts = (struct call_counts){.session = 0};
}

/* Detaches the cells' open calls from their thread. A table belongs to a native thread, a stack of
 * open calls to a Java thread, and virtual threads change their native thread. `open` of a cell
 * says how many open calls of the method the current Java thread has: inclusive time is added only
 * when the outermost of recursive calls returns. So these counts leave with the thread and come
 * back with it (adopt()), while the sums stay where they are. If the owner is not known to be
 * alive, its stack must not be read, and all cells are searched instead. */
static void disown(struct call_counts *counts, const struct java_thread *known)
{
    struct count_cell *cell;
    const struct call_stack *stack =
        known != NULL && counts->owner == known ? call_stack_of(counts->session, known) : NULL;
    if (stack != NULL) {
        for (size_t i = 0; i < stack->depth; i++)
            if ((cell = cell_of(counts, stack->calls[i].method)) != NULL)
                cell->open--;
    } else if (counts->owner != NULL) {
        for (size_t i = 0; i < counts->page_count; i++)
            for (size_t j = 0; counts->pages[i] != NULL && j < COUNT_PAGE_CELLS; j++)
                counts->pages[i][j].open = 0;
    }
    counts->owner = NULL;
}

static void adopt(struct call_counts *counts, const struct os_thread *os, struct java_thread *java)
{
    struct count_cell *cell;
    if (counts->owner != NULL)
        disown(counts, os->own);
    const struct call_stack *stack = call_stack_of(counts->session, java);
    for (size_t i = 0; stack != NULL && i < stack->depth; i++)
        if ((cell = cell_of(counts, stack->calls[i].method)) != NULL)
            cell->open++;
    counts->owner = java;
}

/* What an abandoned session has left is used again. */
static struct call_stack *create_stack(struct session *session, struct java_thread *java)
{
    struct call_stack *stack = java->calls;
    if (stack != NULL) {
        stack->depth = 0;
        stack->session = session->number;
        return stack;
    }
    stack = calloc(1, sizeof *stack);
    if (stack == NULL)
        return NULL;
    stack->session = session->number;
    stack->java = java;
    pthread_mutex_lock(&stacks_lock);
    stack->next = all_stacks;
    if (all_stacks != NULL)
        all_stacks->previous = stack;
    all_stacks = stack;
    pthread_mutex_unlock(&stacks_lock);
    return java->calls = stack;
}

static void destroy_stack(struct call_stack *stack)
{
    pthread_mutex_lock(&stacks_lock);
    if (stack->previous != NULL)
        stack->previous->next = stack->next;
    else
        all_stacks = stack->next;
    if (stack->next != NULL)
        stack->next->previous = stack->previous;
    pthread_mutex_unlock(&stacks_lock);
    stack->java->calls = NULL;
    free(stack->calls);
    free(stack);
}

/* Returns the native thread's table, attached to the Java thread that runs on it. NULL: out of
 * memory. */
static inline struct call_counts *counts_of(struct session *session, struct os_thread *os,
                                            struct java_thread *java)
{
    struct call_counts *counts = os->counts;
    if (__builtin_expect(
            counts != NULL && counts->session == session->number && counts->owner == java, 1))
        return counts;
    if (counts == NULL && (counts = os->counts = calloc(1, sizeof *counts)) == NULL)
        return NULL;
    if (counts->session != session->number)
        forget_counts(counts);
    counts->session = session->number;
    adopt(counts, os, java);
    return counts;
}

static bool grow_stack(struct call_stack *stack)
{
    struct open_call *grown =
        step_grown(stack->calls, &stack->capacity, stack->capacity + 1, sizeof *grown);
    if (grown == NULL)
        return false;
    stack->calls = grown;
    return true;
}

static uint64_t time_now(const struct session *session)
{
    return stamps_are_times(session) ? clock_raw_unordered() : 0;
}

void method_counts_enter(struct session *session, struct os_thread *os, struct java_thread *java,
                         uint64_t method, const void *key)
{
    struct call_counts *counts = counts_of(session, os, java);
    struct count_cell *cell = counts != NULL ? cell_of(counts, method) : NULL;
    struct call_stack *stack = call_stack_of(session->number, java);
    if (cell == NULL || (stack == NULL && (stack = create_stack(session, java)) == NULL) ||
        (stack->depth == stack->capacity && !grow_stack(stack)))
        return;
    count_open(cell, stack, (struct open_call){key, method, time_now(session), 0});
}

static void close_call(struct call_counts *counts, struct call_stack *stack, uint64_t now,
                       bool by_exception)
{
    count_close(cell_of(counts, stack->calls[stack->depth - 1].method), stack, now, by_exception);
}

void method_counts_leave(struct session *session, struct os_thread *os, struct java_thread *java,
                         const void *key, enum method_leave how)
{
    struct call_stack *stack = call_stack_of(session->number, java);
    size_t found = stack != NULL ? stack->depth : 0;
    while (found > 0 && stack->calls[found - 1].key != key)
        found--;
    struct call_counts *counts = found > 0 ? counts_of(session, os, java) : NULL;
    if (counts == NULL)
        return;
    uint64_t now = time_now(session);
    while (stack->depth > found)
        close_call(counts, stack, now, true);
    if (how != LEAVE_CAUGHT)
        close_call(counts, stack, now, how == LEAVE_UNWIND);
}

void method_counts_entered(struct session *session, struct os_thread *os, uint32_t number)
{
    if (!atomic_load_explicit(&session->methods_on, memory_order_relaxed))
        return;
    uint64_t method = method_of_number(session, number);
    struct java_thread *java = thread_current(session, os, NULL);
    if (method != 0 && java != NULL)
        method_counts_enter(session, os, java, method, count_key(number));
}

void method_counts_left(struct session *session, struct os_thread *os, uint32_t number,
                        enum method_leave how)
{
    struct java_thread *java = thread_known(session, os);
    if (java != NULL)
        method_counts_leave(session, os, java, count_key(number), how);
}

void method_counts_called(struct session *session, struct os_thread *os, uint32_t number,
                          enum method_leave how)
{
    if (!atomic_load_explicit(&session->methods_on, memory_order_relaxed))
        return;
    uint64_t method = method_of_number(session, number);
    struct java_thread *java = thread_current(session, os, NULL);
    struct call_counts *counts = method != 0 && java != NULL ? counts_of(session, os, java) : NULL;
    struct count_cell *cell = counts != NULL ? cell_of(counts, method) : NULL;
    if (cell == NULL)
        return;
    cell->calls++;
    cell->exceptions += how == LEAVE_UNWIND;
}

void method_counts_unmounted(struct os_thread *os, struct java_thread *java)
{
    if (os->counts != NULL && os->counts->owner == java)
        disown(os->counts, java);
}

void method_counts_thread_ended(struct session *session, struct os_thread *os,
                                struct java_thread *java)
{
    struct call_stack *stack = java->calls;
    if (stack == NULL)
        return;
    struct call_counts *counts = counts_of(session, os, java);
    uint64_t now = time_now(session);
    while (counts != NULL && stack->session == session->number && stack->depth > 0)
        close_call(counts, stack, now, true);
    method_counts_unmounted(os, java);
    destroy_stack(stack);
}

/* Adds the time of calls that are still open. `sum` belongs to no thread: its cells show which call
 * of a method is this stack's first. The first loop runs from the outermost call inwards, so
 * recursion adds inclusive time once; the second one from the innermost outwards, since the time of
 * a call is part of the `inner` time of its caller. */
static void add_open_calls(struct call_counts *sum, struct call_stack *stack, uint64_t now)
{
    struct count_cell *cell;
    for (size_t i = 0; i < stack->depth; i++)
        if ((cell = cell_of(sum, stack->calls[i].method)) != NULL && cell->open++ == 0)
            cell->inclusive += time_between(stack->calls[i].entered, now);
    for (size_t i = stack->depth; i-- > 0;) {
        uint64_t took = time_between(stack->calls[i].entered, now);
        if ((cell = cell_of(sum, stack->calls[i].method)) != NULL) {
            cell->exclusive += time_between(stack->calls[i].inner, took);
            cell->open = 0;
        }
        if (i > 0)
            stack->calls[i - 1].inner += took;
    }
}

static void add_counts(struct call_counts *sum, const struct call_counts *counts)
{
    for (uint64_t method = 0; method < counts->page_count * COUNT_PAGE_CELLS; method++) {
        const struct count_cell *page = counts->pages[method / COUNT_PAGE_CELLS];
        const struct count_cell *cell = page != NULL ? &page[method % COUNT_PAGE_CELLS] : NULL;
        struct count_cell *total = cell != NULL && cell->calls != 0 ? cell_of(sum, method) : NULL;
        if (total == NULL)
            continue;
        total->calls += cell->calls;
        total->exceptions += cell->exceptions;
        total->inclusive += cell->inclusive;
        total->exclusive += cell->exclusive;
    }
}

static uint64_t ticks_to_ns(uint64_t ticks)
{
    return (uint64_t) (((unsigned __int128) ticks * tracer.scale.multiplier) >> tracer.scale.shift);
}

static void write_counts(struct session *session, const struct call_counts *sum)
{
    for (uint64_t method = 0; method < sum->page_count * COUNT_PAGE_CELLS; method++) {
        const struct count_cell *page = sum->pages[method / COUNT_PAGE_CELLS];
        const struct count_cell *cell = page != NULL ? &page[method % COUNT_PAGE_CELLS] : NULL;
        if (cell == NULL || cell->calls == 0)
            continue;
        struct method_totals totals = {cell->calls, cell->exceptions, ticks_to_ns(cell->inclusive),
                                       ticks_to_ns(cell->exclusive)};
        fact_method_count(session, method, &totals);
    }
}

static void finish_open_calls(const struct session *session, struct call_counts *sum)
{
    uint64_t now = time_now(session);
    while (all_stacks != NULL) {
        if (all_stacks->session == session->number)
            add_open_calls(sum, all_stacks, now);
        destroy_stack(all_stacks);
    }
}

/* The drain thread reads the tables of other threads without a lock. That is allowed only for
 * threads that were seen outside of probes since the session was taken away; `left` of those orders
 * their last writes before this. */
void method_counts_finish(struct session *session, bool all_left)
{
    struct call_counts sum = {.session = session->number};
    uint64_t since = atomic_load(&session->ended_probes);
    if (session->options.method != METHOD_COUNT)
        return;
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all)
        if (os->counts != NULL && thread_has_left(os, since) &&
            os->counts->session == session->number) {
            add_counts(&sum, os->counts);
            forget_counts(os->counts);
        }
    if (all_left)
        finish_open_calls(session, &sum);
    write_counts(session, &sum);
    forget_counts(&sum);
}
