/* SPDX-License-Identifier: Apache-2.0 */
/* Time stamps: the CPU's counter where it is invariant, else CLOCK_MONOTONIC. */
#ifndef CAPTURE_CLOCK_H
#define CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum option_clock { CLOCK_AUTO, CLOCK_TSC, CLOCK_MONOTONIC_NS };

/* How raw stamps become nanoseconds: ((raw - zero) * multiplier) >> shift. */
struct clock_scale {
    uint64_t zero;
    uint64_t multiplier;
    uint32_t shift;
};

/* One moment on both clocks, and on the wall. */
struct clock_moment {
    uint64_t raw;
    uint64_t monotonic_ns;
    uint64_t wall_ns; /* since 1970 */
};

extern bool clock_uses_counter;

/* Chooses the clock; false if the one asked for is not there. */
bool clock_select(enum option_clock wanted);
const char *clock_name(void);
struct clock_moment clock_moment_now(void);
/* The scale between two moments; waits until they are far enough apart. */
void clock_calibrate(const struct clock_moment *first, struct clock_scale *scale);

static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

/* The CPU's counter, where clock_uses_counter: as it comes, for what happened long ago. */
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

/* The counter is read only when all earlier loads are done, so that a stamp taken after something
 * was seen in memory is not before the stamp of what put it there. */
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

/* The same without the order. */
static inline uint64_t clock_raw_unordered(void)
{
    return clock_uses_counter ? clock_counter() : clock_monotonic_ns();
}

#endif
