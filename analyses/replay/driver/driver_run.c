/* SPDX-License-Identifier: Apache-2.0 */
/* The replay loop: executes a thread's operations. */
#include "analyses/replay/driver/driver_state.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPINS 200
#define LONG_PAUSE_NS 10000000u /* after which memory is sampled */

static void driver_wait_for(uint32_t thread, uint64_t count)
{
    for (unsigned i = 0;
         atomic_load_explicit(&driver.progress[thread].done, memory_order_acquire) < count; i++)
        if (i >= SPINS)
            sched_yield();
}

/* Waits until the trace's time of the next operation.  Without an allocator there is no wait. */
static void pause_until(uint64_t after_ns, uint64_t operations)
{
    uint64_t until = driver.start_ns + after_ns, before = driver_now_ns();
    const struct timespec time = {(time_t) (until / 1000000000u), (long) (until % 1000000000u)};
    if (driver.control->is_empty || before >= until)
        return;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
        ;
    if (until - before > LONG_PAUSE_NS)
        driver_samples_take(driver.control->last_live_bytes, operations);
}

static inline void touch(void *block, uint64_t size, uint32_t how)
{
    if (how == REPLAY_TOUCH_NONE || size == 0 || block == NULL || driver.control->is_empty)
        return;
    if (how == REPLAY_TOUCH_ALL)
        memset(block, 0x5a, size);
    else
        *(volatile char *) block = 0x5a;
}

static void *heap_malloc(uint32_t heap, uint64_t size)
{
    if (driver.allocator.heap_malloc == NULL || driver.heaps[heap] == NULL)
        return driver.allocator.malloc(size);
    return driver.allocator.heap_malloc(driver.heaps[heap], size);
}

/* Calls the function that the trace has instead of malloc. */
static void *allocate_as(uint32_t how, uint64_t size)
{
    void *block = NULL;
    if (driver.control->is_empty)
        return driver.allocator.malloc(size);
    if (how == REPLAY_AS_CALLOC)
        return calloc(1, size);
    return posix_memalign(&block, (size_t) 1 << (how - REPLAY_ALIGNED), size) == 0 ? block : NULL;
}

/* Operations that are not timed, or that are rare. */
static void run_other(const struct replay_op *op, struct driver_run *run, uint64_t operations)
{
    uint64_t size = op->size_kind >> REPLAY_KIND_BITS;
    const struct allocator *allocator = &driver.allocator;
    switch ((enum replay_kind)(op->size_kind & ((1u << REPLAY_KIND_BITS) - 1))) {
    case REPLAY_HEAP_MALLOC:
        driver.slots[op->slot] = heap_malloc(op->extra, size);
        touch(driver.slots[op->slot], size, driver.control->touch);
        return;
    case REPLAY_HEAP_FREE:
        if (allocator->heap_create == NULL)
            allocator->free(driver.slots[op->slot]);
        driver.slots[op->slot] = NULL;
        return;
    case REPLAY_HEAP_CREATE:
        if (allocator->heap_create != NULL)
            driver.heaps[op->extra] = allocator->heap_create();
        return;
    case REPLAY_HEAP_DESTROY:
        if (allocator->heap_create != NULL && driver.heaps[op->extra] != NULL)
            allocator->heap_destroy(driver.heaps[op->extra]);
        driver.heaps[op->extra] = NULL;
        return;
    case REPLAY_WAIT:
        driver_wait_for(op->slot, size);
        return;
    case REPLAY_THREAD_END:
        run->is_ended = true;
        return;
    case REPLAY_PAUSE:
        pause_until(size, operations);
        return;
    default:
        driver_samples_take(size, operations);
    }
}

/* Runs calls of the allocator up to the next operation of another kind, and returns that
 * operation. */
static const struct replay_op *run_calls(const struct replay_op *op, const struct replay_op *end,
                                         uint64_t *failures, struct driver_progress *progress)
{
    const struct allocator allocator = driver.allocator;
    const uint32_t how = driver.control->touch;
    void **const slots = driver.slots;
    uint64_t done = 0, failed = 0;
    if (progress != NULL)
        done = atomic_load_explicit(&progress->done, memory_order_relaxed);
    for (; op < end; op++) {
        __builtin_prefetch(&slots[op[REPLAY_AHEAD].slot], 1);
        void **slot = &slots[op->slot];
        const uint64_t size = op->size_kind >> REPLAY_KIND_BITS;
        const unsigned kind = op->size_kind & ((1u << REPLAY_KIND_BITS) - 1);
        if (kind == REPLAY_MALLOC) {
            void *block = __builtin_expect(op->extra == REPLAY_AS_MALLOC, 1)
                              ? allocator.malloc(size)
                              : allocate_as(op->extra, size);
            *slot = block;
            failed += block == NULL;
            touch(block, size, how);
        } else if (kind == REPLAY_FREE) {
            allocator.free(*slot);
        } else if (kind == REPLAY_REALLOC) {
            void *block = allocator.realloc(op->extra == 0 ? *slot : NULL, size);
            if (block != NULL || size == 0 || op->extra != 0)
                *slot = block;
            failed += block == NULL && size != 0;
            touch(block, size, how);
        } else {
            break;
        }
        if (progress != NULL)
            atomic_store_explicit(&progress->done, ++done, memory_order_release);
    }
    *failures += failed;
    return op;
}

void driver_run_section(struct replay_piece *piece, const struct replay_section *section,
                        struct driver_run *run)
{
    const struct replay_op *op = replay_piece_ops(piece) + section->first;
    const struct replay_op *end = op + section->count;
    struct driver_progress *progress =
        driver.control->is_threaded ? &driver.progress[section->thread] : NULL;
    while (op < end) {
        struct driver_clocks start = driver_clocks_look();
        const struct replay_op *next = run_calls(op, end, &run->failures, progress);
        driver_times_add(&run->times, start);
        run->operations += (uint64_t) (next - op);
        op = next;
        if (op == end)
            break;
        unsigned kind = op->size_kind & ((1u << REPLAY_KIND_BITS) - 1);
        bool is_call = kind == REPLAY_HEAP_MALLOC || kind == REPLAY_HEAP_DESTROY ||
                       kind == REPLAY_HEAP_CREATE || kind == REPLAY_HEAP_FREE;
        if (is_call)
            start = driver_clocks_look();
        run_other(op, run, driver.operations + run->operations);
        if (is_call)
            driver_times_add(&run->times, start);
        run->operations += kind == REPLAY_HEAP_MALLOC;
        bool is_counted = kind != REPLAY_WAIT && kind != REPLAY_SAMPLE && kind != REPLAY_PAUSE;
        if (progress != NULL && is_counted)
            atomic_fetch_add_explicit(&progress->done, 1, memory_order_release);
        op++;
    }
}

void driver_run_add(const struct driver_run *run)
{
    driver.operations += run->operations;
    driver.failures += run->failures;
    driver.busy_ns += run->times.busy_ns;
    driver.blocked_ns += run->times.blocked_ns;
}
