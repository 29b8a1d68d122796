/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses and calibrates the clock. */
#include "capture/clock.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "capture/provenance.h"

#define CALIBRATION_NS UINT64_C(10000000)
#define SCALE_SHIFT 32u
#define ATTEMPTS 4

bool clock_uses_counter;

/* If the kernel itself uses the counter, it has compared the counters of all CPUs. */
static bool kernel_trusts_counter(void)
{
    char name[64];
    provenance_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
                    sizeof name);
    name[strcspn(name, "\n")] = '\0';
    return strcmp(name, "tsc") == 0 || strcmp(name, "arch_sys_counter") == 0 ||
           strcmp(name, "kvm-clock") == 0;
}

static bool counter_is_invariant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    const unsigned invariant_bit = 1u << 8, rdtscp_bit = 1u << 27;
    if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || (d & rdtscp_bit) == 0)
        return false;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & invariant_bit) != 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

bool clock_select(enum option_clock wanted)
{
    bool usable = wanted != CLOCK_MONOTONIC_NS && counter_is_invariant();
    clock_uses_counter = usable && (wanted == CLOCK_TSC || kernel_trusts_counter());
    return wanted != CLOCK_TSC || clock_uses_counter;
}

const char *clock_name(void)
{
    return clock_uses_counter ? "tsc" : "monotonic";
}

/* Two clocks cannot be read at one moment. The monotonic clock is read between two reads of the
 * counter, and the narrowest of eight attempts is taken: an interrupt or a change of processor in
 * between makes an attempt wide. The error is at most half of that width, some 20 ns. */
struct clock_moment clock_moment_now(void)
{
    struct clock_moment best = {0, 0, 0};
    uint64_t best_width = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before = clock_raw();
        uint64_t monotonic = clock_monotonic_ns();
        uint64_t after = clock_raw();
        if (after - before < best_width) {
            best_width = after - before;
            best.raw = before + (after - before) / 2;
            best.monotonic_ns = monotonic;
        }
    }
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    uint64_t wall_ns = (uint64_t) wall.tv_sec * 1000000000u + (uint64_t) wall.tv_nsec;
    best.wall_ns = wall_ns - (clock_monotonic_ns() - best.monotonic_ns);
    return best;
}

/* Returns false if no CPU counter can have this rate, that is, if it is not within a factor of 1000
 * of 1 GHz: one of the clocks was set meanwhile. */
static bool rate_between(const struct clock_moment *first, const struct clock_moment *second,
                         uint64_t *multiplier)
{
    if (second->raw <= first->raw || second->monotonic_ns <= first->monotonic_ns)
        return false;
    unsigned __int128 rate =
        ((unsigned __int128) (second->monotonic_ns - first->monotonic_ns) << SCALE_SHIFT) /
        (second->raw - first->raw);
    *multiplier = (uint64_t) rate;
    return rate >= (UINT64_C(1) << SCALE_SHIFT) / 1000 && rate <= UINT64_C(1000) << SCALE_SHIFT;
}

/* The counter or the other clock has gone back since `first`. Measures the rate now, and puts the
 * counter's zero where `first` is on the other clock. */
static void calibrate_anew(const struct clock_moment *first, struct clock_scale *scale)
{
    struct clock_moment from, to;
    bool known = false;
    for (int i = 0; i < ATTEMPTS && !known; i++) {
        from = clock_moment_now();
        nanosleep(&(struct timespec){0, (long) CALIBRATION_NS}, NULL);
        to = clock_moment_now();
        known = rate_between(&from, &to, &scale->multiplier);
    }
    if (!known)
        scale->multiplier = UINT64_C(1) << SCALE_SHIFT;
    uint64_t passed =
        to.monotonic_ns > first->monotonic_ns ? to.monotonic_ns - first->monotonic_ns : 0;
    scale->zero =
        to.raw - (uint64_t) (((unsigned __int128) passed << SCALE_SHIFT) / scale->multiplier);
}

/* The rate is measured between `first`, usually the JVM's start, and now: the longer that is, the
 * smaller the share of the error of both moments. Ten milliseconds are the least; then 40 ns of
 * error are 4 in a million. A trace that begins later has a better scale. The scale is fixed for a
 * whole session, because probes store raw stamps, and one rate must convert all of them. */
void clock_calibrate(const struct clock_moment *first, struct clock_scale *scale)
{
    scale->zero = first->raw;
    scale->shift = clock_uses_counter ? SCALE_SHIFT : 0;
    scale->multiplier = 1;
    if (!clock_uses_counter)
        return;
    uint64_t passed = clock_monotonic_ns() - first->monotonic_ns;
    if (passed < CALIBRATION_NS) {
        struct timespec rest = {0, (long) (CALIBRATION_NS - passed)};
        nanosleep(&rest, NULL);
    }
    struct clock_moment second = clock_moment_now();
    if (!rate_between(first, &second, &scale->multiplier))
        calibrate_anew(first, scale);
}
