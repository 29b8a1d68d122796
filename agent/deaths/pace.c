/* SPDX-License-Identifier: Apache-2.0 */
/* How far the program is ahead of the reaper. */
#include "agent/deaths/pace.h"

#include <time.h>

#include "agent/hotspot/headers.h"
#include "agent/records/threads.h"

#define BEHIND_PAGES 2048u
#define BEHIND_COLLECTIONS 2u
#define LATE_NS UINT64_C(50000000)
#define STEPS 50
#define STEP_NS 1000000L

static bool begun, stops_to_clear;
/* When the last completed pass began. */
static _Atomic uint64_t passed_pages, passed_collections;
/* When the last collection ended: the time, the pages so far, and how many of them came since the
 * collection before, about. */
static struct {
    _Atomic uint64_t ended_ns, pages, between;
} last_collection;

void pace_begin(void)
{
    stops_to_clear = collector_works_in_pauses();
    begun = true;
}

bool pace_knows_collections(void)
{
    return stops_to_clear;
}

static uint64_t pages_of(const struct weak_table *table)
{
    return atomic_load_explicit(&table->pages, memory_order_relaxed);
}

/* Collections may follow each other at once: what came between the others counts by half. */
void pace_collection_ended(const struct weak_table *table)
{
    uint64_t pages = pages_of(table), between = pages - atomic_load(&last_collection.pages);
    uint64_t usual = atomic_load(&last_collection.between) / 2;
    atomic_store(&last_collection.between, between > usual ? between : usual);
    atomic_store(&last_collection.pages, pages);
    atomic_store(&last_collection.ended_ns, clock_monotonic_ns());
}

void pace_passed(uint64_t pages, uint64_t collections)
{
    atomic_store(&passed_pages, pages);
    atomic_store(&passed_collections, collections);
}

uint64_t pace_collections_passed(void)
{
    return atomic_load_explicit(&passed_collections, memory_order_relaxed);
}

static uint64_t collections_behind(void)
{
    return atomic_load_explicit(&tracer.collections, memory_order_relaxed) -
           pace_collections_passed();
}

/* Returns true if references to the dead of two collections, some four million, have accumulated
 * since the last pass began. */
static bool is_far_behind(const struct weak_table *table)
{
    return pages_of(table) - atomic_load_explicit(&passed_pages, memory_order_relaxed) >
               BEHIND_PAGES &&
           collections_behind() >= BEHIND_COLLECTIONS;
}

/* Returns true if the program has made half of what it makes between two collections, and the dead
 * of the last collection are not found yet, though it is not long ago. Half leaves the other half
 * for the search to end before the next collection begins. LATE_NS bounds it: a reaper that needs
 * longer than that would slow the program for the sake of dates alone. */
static bool pace_is_late(const struct weak_table *table)
{
    if (!stops_to_clear || collections_behind() == 0 ||
        pages_of(table) - atomic_load_explicit(&last_collection.pages, memory_order_relaxed) <
            atomic_load_explicit(&last_collection.between, memory_order_relaxed) / 2)
        return false;
    return clock_monotonic_ns() - atomic_load(&last_collection.ended_ns) < LATE_NS;
}

static bool pace_must_wait(const struct weak_table *table)
{
    return is_far_behind(table) || pace_is_late(table);
}

/* The program may make objects faster than the reaper can search for the dead. The references of
 * the dead then pile up, and a death is dated by a later collection. So a thread that has filled a
 * page waits, 50 ms at most, as long as the reaper is behind. The check is made once a page, that
 * is, for some two thousand objects. A session that drops rather than waits is not slowed. */
void pace_keep(const struct session *session, const struct os_thread *os,
               const struct weak_table *table)
{
    if (!begun || session->map->drop || !pace_must_wait(table))
        return;
    uint64_t from = clock_monotonic_ns();
    for (int i = 0; i < STEPS && pace_must_wait(table) && !tracer.dying; i++)
        nanosleep(&(struct timespec){0, STEP_NS}, NULL);
    live_note_wait(session->map, os->current != NULL ? os->current->id : 0,
                   clock_monotonic_ns() - from);
}
