/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts the sampling interval. */
#include "agent/events/sample_rate.h"

#include <sched.h>

/* The rate is looked at when a quarter of a second's samples have come, or after a second. */
#define LOOKS_PER_SECOND 4u
#define WINDOW_NS UINT64_C(1000000000)
#define INTERVAL_MOST (UINT64_C(1) << 30)
/* A change by less is not worth one: each sample then carries its interval in the trace. */
#define GROWTH_LEAST 1.125
/* After a pause in which little was allocated, the interval comes down in steps. */
#define SHRINK_MOST 0.25

static struct {
    _Atomic uint64_t interval_bytes, count, since_ns;
    _Atomic bool busy; /* one thread looks at a time */
    _Atomic uint64_t least_bytes, rate;
} sampling;

static void set_interval(uint64_t bytes)
{
    atomic_store(&sampling.interval_bytes, bytes);
    (*tracer.jvmti)->SetHeapSamplingInterval(tracer.jvmti, (jint) bytes);
}

void sample_rate_begin(const struct session *session)
{
    atomic_store(&sampling.least_bytes, session->options.sample_bytes);
    atomic_store(&sampling.rate, session->options.rate);
    atomic_store(&sampling.count, 0);
    atomic_store(&sampling.since_ns, clock_monotonic_ns());
    /* the next file of a ring goes on with the interval of the last one */
    set_interval(session->options.file_number > 1 ? sample_rate_interval()
                                                  : session->options.sample_bytes);
}

void sample_rate_end(void)
{
    atomic_store(&sampling.rate, 0);
    while (atomic_exchange(&sampling.busy, true))
        sched_yield();
    (*tracer.jvmti)->SetHeapSamplingInterval(tracer.jvmti, (jint) OPTION_SAMPLE_DEFAULT);
    atomic_store(&sampling.busy, false);
}

uint64_t sample_rate_interval(void)
{
    return atomic_load_explicit(&sampling.interval_bytes, memory_order_relaxed);
}

/* Returns the interval that would have given `rate` samples a second. */
static uint64_t fitting(uint64_t interval_bytes, uint64_t count, uint64_t passed_ns, uint64_t rate)
{
    double found = (double) count * 1e9 / (double) (passed_ns > 0 ? passed_ns : 1);
    double factor = found / (double) rate;
    double wanted = (double) interval_bytes * (factor > SHRINK_MOST ? factor : SHRINK_MOST);
    uint64_t least = atomic_load(&sampling.least_bytes);
    if (factor > 1 && factor < GROWTH_LEAST)
        return interval_bytes;
    if (wanted >= (double) INTERVAL_MOST)
        return INTERVAL_MOST;
    return wanted > (double) least ? (uint64_t) wanted : least;
}

static void look(uint64_t rate)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t passed_ns = now_ns - atomic_load(&sampling.since_ns);
    uint64_t count = atomic_load(&sampling.count);
    if (passed_ns < WINDOW_NS && count * LOOKS_PER_SECOND < rate)
        return;
    uint64_t old = sample_rate_interval();
    uint64_t wanted = fitting(old, count, passed_ns, rate);
    /* fewer samples than a window has need the whole window to be judged */
    if (wanted < old && passed_ns < WINDOW_NS)
        return;
    atomic_store(&sampling.count, 0);
    atomic_store(&sampling.since_ns, now_ns);
    if (wanted != old)
        set_interval(wanted);
}

void sample_rate_count(void)
{
    uint64_t rate = atomic_load_explicit(&sampling.rate, memory_order_relaxed);
    if (rate == 0)
        return;
    atomic_fetch_add_explicit(&sampling.count, 1, memory_order_relaxed);
    if (atomic_exchange(&sampling.busy, true))
        return;
    rate = atomic_load(&sampling.rate); /* the session may have ended meanwhile */
    if (rate != 0)
        look(rate);
    atomic_store(&sampling.busy, false);
}
