/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of the agent's threads, and its longest stop. */
#include "agent/base/own_share.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/clock.h"

/* Drain, pulse, reaper, rotation, duration, wake, and those of the trace before. */
#define THREADS 12u

/* A thread's clock has a number other than 0, which is the clock of the day. */
static _Atomic clockid_t clocks[THREADS];
static _Atomic uint64_t added_ns; /* of threads that have ended, and in threads of the program */

/* Returns 0 for the clock of a thread that has just ended. */
static uint64_t clock_value(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return 0;
    return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

/* The kernel's number of the calling thread's clock. The libc's function that returns it needs a
 * later libc than the JVM does. */
static clockid_t own_clock(void)
{
    const clockid_t of_thread = 4, scheduled = 2;
    return (clockid_t) (~(unsigned) syscall(SYS_gettid) << 3) | of_thread | scheduled;
}

void own_share_thread_begins(void)
{
    clockid_t own = own_clock();
    for (size_t i = 0; i < THREADS; i++) {
        clockid_t none = 0;
        if (atomic_compare_exchange_strong(&clocks[i], &none, own))
            return;
    }
}

/* The clock goes first: the sum is too small for a moment, and never too large. */
void own_share_thread_ends(void)
{
    clockid_t own = own_clock();
    for (size_t i = 0; i < THREADS; i++) {
        clockid_t mine = own;
        if (atomic_compare_exchange_strong(&clocks[i], &mine, 0))
            break;
    }
    own_share_add(clock_value(CLOCK_THREAD_CPUTIME_ID));
}

void own_share_add(uint64_t ns)
{
    atomic_fetch_add_explicit(&added_ns, ns, memory_order_relaxed);
}

uint64_t own_share_ns(void)
{
    uint64_t sum = atomic_load(&added_ns);
    for (size_t i = 0; i < THREADS; i++) {
        clockid_t clock = atomic_load(&clocks[i]);
        sum += clock != 0 ? clock_value(clock) : 0;
    }
    return sum;
}

/* ---- collections; only pauses write ---- */

static _Atomic uint64_t collected_ns; /* in those that are over */
static _Atomic uint64_t open_from_ns; /* of the one that is not over; 0: there is none */
static unsigned open_pauses;

void own_share_collection_begins(void)
{
    if (open_pauses++ == 0)
        atomic_store(&open_from_ns, clock_monotonic_ns());
}

/* The beginning of the first pause may not have been announced. */
void own_share_collection_ends(void)
{
    if (open_pauses == 0 || --open_pauses != 0)
        return;
    uint64_t from_ns = atomic_exchange(&open_from_ns, 0);
    atomic_fetch_add(&collected_ns, clock_monotonic_ns() - from_ns);
}

/* Between the two stores of an end, this is too small for a moment; a later look is not. */
uint64_t own_share_collected_ns(void)
{
    uint64_t from_ns = atomic_load(&open_from_ns), now_ns = clock_monotonic_ns();
    return atomic_load(&collected_ns) + (from_ns != 0 && now_ns > from_ns ? now_ns - from_ns : 0);
}

/* ---- stops: nanoseconds and, in the low bits, their cause ---- */

#define STOP_BITS 3u
_Static_assert(OWN_STOP_COUNT <= 1u << STOP_BITS, "a stop fits");

static _Atomic uint64_t longest;

void own_share_stopped(enum own_stop stop, uint64_t ns)
{
    uint64_t packed = ns << STOP_BITS | (uint64_t) stop, known = atomic_load(&longest);
    while (packed > known && !atomic_compare_exchange_weak(&longest, &known, packed))
        ;
}

struct own_call own_share_calls(void)
{
    return (struct own_call){.collected_ns = own_share_collected_ns(),
                             .from_ns = clock_monotonic_ns()};
}

void own_share_called_for(enum own_stop stop, const struct own_call *call, uint64_t ns)
{
    uint64_t waited_ns = own_share_collected_ns() - call->collected_ns;
    own_share_stopped(stop, ns > waited_ns ? ns - waited_ns : 0);
}

void own_share_called(enum own_stop stop, const struct own_call *call)
{
    own_share_called_for(stop, call, clock_monotonic_ns() - call->from_ns);
}

uint64_t own_share_take_stop(enum own_stop *stop)
{
    uint64_t packed = atomic_exchange(&longest, 0);
    *stop = (enum own_stop)(packed & ((1u << STOP_BITS) - 1));
    return packed >> STOP_BITS;
}

const char *own_stop_text(enum own_stop stop)
{
    static const char *const texts[] = {
#define STOP_TEXT(name, text) [OWN_STOP_##name] = text,
        OWN_STOPS(STOP_TEXT)
#undef STOP_TEXT
    };
    return texts[stop];
}
