/* SPDX-License-Identifier: Apache-2.0 */
/* Time stamps: the CPU's counter if it is invariant, otherwise CLOCK_MONOTONIC. */
#ifndef CAPTURE_CLOCK_H
#define CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum option_clock { CLOCK_AUTO, CLOCK_TSC, CLOCK_MONOTONIC_NS };

/* Converts raw stamps to nanoseconds: ((raw - zero) * multiplier) >> shift. */
struct clock_scale {
    uint64_t zero;
    uint64_t multiplier;
    uint32_t shift;
};

/* One moment on the raw, the monotonic and the wall clock. */
struct clock_moment {
    uint64_t raw;
    uint64_t monotonic_ns;
    uint64_t wall_ns; /* since 1970 */
};

extern bool clock_uses_counter;

/* Chooses the clock. Returns false if the wanted one is not available. */
bool clock_select(enum option_clock wanted);
const char *clock_name(void);
struct clock_moment clock_moment_now(void);
/* Computes the scale from `first` and now; waits until they are far enough apart. */
void clock_calibrate(const struct clock_moment *first, struct clock_scale *scale);

static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

/* Reads the CPU's counter, only if clock_uses_counter. No ordering: for comparisons with stamps
 * from long ago. */
static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t count;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(count)::"memory");
    return count;
#else
    return 0;
#endif
}

/* Reads the clock after all earlier loads are complete. A stamp that is taken after a value was
 * seen in memory is therefore not earlier than the stamp taken before that value was stored. */
static inline uint64_t clock_raw(void)
{
#if defined(__x86_64__)
    unsigned cpu;
    if (clock_uses_counter)
        return __rdtscp(&cpu);
#elif defined(__aarch64__)
    if (clock_uses_counter)
        return clock_counter();
#endif
    return clock_monotonic_ns();
}

/* Same as clock_raw() without that ordering. */
static inline uint64_t clock_raw_unordered(void)
{
    return clock_uses_counter ? clock_counter() : clock_monotonic_ns();
}

#endif
