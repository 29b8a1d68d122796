/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/events/collections.h"

#include "agent/hotspot/headers.h"
#include "agent/hotspot/vm_structs.h"
#include "agent/records/hold.h"

#define COUNTERS 2 /* of young and of full collections */

static struct {
    bool all_announced;
    const volatile int64_t *counters[COUNTERS]; /* NULL: the JVM does not count */
    _Atomic int64_t counted;                    /* at the end of the last one that is known */
} watch = {.all_announced = true};

static int64_t count(void)
{
    return *watch.counters[0] + *watch.counters[1];
}

void collections_watch(void)
{
    watch.all_announced = collector_announces_all();
    if (watch.all_announced)
        return;
    watch.counters[0] = vm_counter("sun.gc.collector.0.invocations");
    watch.counters[1] = vm_counter("sun.gc.collector.1.invocations");
    if (watch.counters[0] == NULL || watch.counters[1] == NULL)
        watch.counters[0] = watch.counters[1] = NULL;
    else
        atomic_store(&watch.counted, count());
}

void collection_begins(void)
{
    atomic_store(&tracer.in_collection, true);
    holds_wait();
    atomic_fetch_add(&tracer.collections_begun, 1);
}

static void date(void)
{
    atomic_store(&tracer.collection_raw, clock_raw());
    atomic_store(&tracer.collection_tick, atomic_fetch_add(&tracer.tick, 1));
    atomic_fetch_add(&tracer.collections, 1);
}

void collection_ends(void)
{
    date();
    if (watch.counters[0] != NULL)
        atomic_store(&watch.counted, count());
    atomic_store(&tracer.in_collection, false);
    holds_go_on();
}

/* A counter is greater before anything is cleared. */
void collections_notice(void)
{
    if (__builtin_expect(watch.all_announced, 1) || atomic_load(&tracer.in_collection))
        return;
    int64_t counted = watch.counters[0] != NULL ? count() : -1;
    if (counted >= 0 && atomic_exchange(&watch.counted, counted) == counted)
        return;
    date();
    atomic_fetch_add(&tracer.collections_begun, 1);
}
