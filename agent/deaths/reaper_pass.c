/* SPDX-License-Identifier: Apache-2.0 */
/* Page by page; the dead of one collection are reported together. */
#include "agent/deaths/reaper_pass.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/deaths/identity.h"
#include "agent/deaths/recycle.h"
#include "agent/events/events.h"
#include "agent/hotspot/slots.h"
#include "agent/records/threads.h"

#define PREFETCH_AHEAD 12u
#define PAUSE_POLL_NS 100000L
#define BEHIND_PAGES 4096u
#define BEHIND_COLLECTIONS 2u

/* What there was when the last pass that has ended began. */
static _Atomic uint64_t passed_pages, passed_collections;
/* The same, under the lock: the collections that had begun, and whose references it looked at. */
static struct {
    uint64_t begun, session;
} passed;

void reaper_pass_pause(void)
{
    nanosleep(&(struct timespec){0, PAUSE_POLL_NS}, NULL);
}

/* With a collector that clears in its pauses only, a word that is zero needs no second opinion. */
static bool is_cleared(const struct reaper_pass *pass, jweak reference)
{
    if (__builtin_expect(pass->slots_report, 1)) {
        if (slot_word(reference) != 0)
            return false;
        if (pass->session->holds)
            return true;
    }
    return (*pass->jni)->IsSameObject(pass->jni, reference, NULL);
}

/* Waits out a pause: what is cleared in it belongs to its collection. */
static void date_pass(struct reaper_pass *pass)
{
    while (atomic_load(&tracer.in_collection))
        reaper_pass_pause();
    pass->collection = atomic_load(&tracer.collections_begun);
    pass->stamp = stamp_of_collection(pass->session);
}

static void bury(struct reaper_pass *pass)
{
    if (pass->dead == 0)
        return;
    event_free_many(pass->session, pass->dead_ids, pass->dead, pass->stamp, pass->collection);
    for (size_t i = recycle_give(pass->dead_references, pass->dead); i < pass->dead; i++)
        (*pass->jni)->DeleteWeakGlobalRef(pass->jni, pass->dead_references[i]);
    pass->dead = 0;
}

static bool is_outdated(const struct reaper_pass *pass)
{
    return atomic_load(&tracer.in_collection) ||
           pass->collection != atomic_load(&tracer.collections_begun);
}

static void look_at(struct reaper_pass *pass, struct weak_entry *entry)
{
    if (entry->reference == NULL || !is_cleared(pass, entry->reference))
        return;
    if (is_outdated(pass)) { /* this one may be of a collection that began meanwhile */
        bury(pass);
        date_pass(pass);
    }
    uint64_t id = entry->id & WEAK_ID_MASK;
    identity_remove((uint32_t) (entry->id >> WEAK_ID_BITS), id);
    pass->dead_ids[pass->dead] = id;
    pass->dead_references[pass->dead++] = entry->reference;
    entry->reference = NULL;
    if (pass->dead == PASS_IDS)
        bury(pass);
}

static void look_at_page(struct reaper_pass *pass, struct weak_page *page)
{
    uint32_t used = atomic_load_explicit(&page->used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        if (i + PREFETCH_AHEAD < used)
            __builtin_prefetch((const void *) page->entries[i + PREFETCH_AHEAD].reference);
        look_at(pass, &page->entries[i]);
    }
    bury(pass);
}

/* Takes the dead out of a page that the reaper owns. */
static void squeeze(struct weak_page *page)
{
    uint32_t used = atomic_load_explicit(&page->used, memory_order_relaxed), kept = 0;
    for (uint32_t i = 0; i < used; i++)
        if (page->entries[i].reference != NULL)
            page->entries[kept++] = page->entries[i];
    atomic_store_explicit(&page->used, kept, memory_order_relaxed);
}

/* Moves all entries of `page` to `to`, if there is room. */
static bool join(struct weak_page *to, const struct weak_page *page)
{
    uint32_t used = atomic_load_explicit(&page->used, memory_order_relaxed);
    uint32_t there = atomic_load_explicit(&to->used, memory_order_relaxed);
    if (used > to->capacity - there)
        return false;
    memcpy(&to->entries[there], page->entries, used * sizeof page->entries[0]);
    atomic_store_explicit(&to->used, there + used, memory_order_relaxed);
    return true;
}

static void look_at_owned(struct reaper_pass *pass)
{
    struct weak_page *before = NULL, **link = &pass->table->first;
    while (*link != NULL) {
        struct weak_page *page = *link;
        look_at_page(pass, page);
        squeeze(page);
        if (before != NULL && join(before, page)) {
            *link = page->next;
            free(page);
            continue;
        }
        before = page;
        link = &page->next;
    }
    pass->table->last = before;
}

/* The pages in use, linked by next_active. */
static struct weak_page *find_active(const struct reaper_pass *pass)
{
    struct weak_page *active = NULL;
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all) {
        struct weak_page *page = atomic_load_explicit(&os->weak_page, memory_order_acquire);
        if (page == NULL || atomic_load(&os->weak_session) != pass->session->number)
            continue;
        page->next_active = active;
        active = page;
    }
    return active;
}

void reaper_pass_over(struct reaper_pass *pass)
{
    uint64_t pages = atomic_load(&pass->table->pages);
    uint64_t collections = atomic_load(&tracer.collections);
    date_pass(pass);
    uint64_t begun = pass->collection;
    /* First the pages in use, then what was handed over: one may be both. */
    struct weak_page *active = find_active(pass);
    weak_table_collect(pass->table);
    for (; active != NULL; active = active->next_active)
        if (!active->collected)
            look_at_page(pass, active);
    look_at_owned(pass);
    if (collections != atomic_load(&passed_collections))
        recycle_trim(pass->jni);
    atomic_store(&passed_pages, pages);
    atomic_store(&passed_collections, collections);
    passed.begun = begun;
    passed.session = pass->session->number;
}

/* With a collector that clears in announced pauses only, nothing died where none was since the last
 * pass began: what lives need not be looked at again. */
bool reaper_pass_may_find(const struct session *session)
{
    return !session->holds || passed.session != session->number ||
           passed.begun != atomic_load(&tracer.collections_begun);
}

bool reaper_pass_is_behind(const struct weak_table *table)
{
    return atomic_load_explicit(&table->pages, memory_order_relaxed) -
                   atomic_load_explicit(&passed_pages, memory_order_relaxed) >
               BEHIND_PAGES &&
           atomic_load_explicit(&tracer.collections, memory_order_relaxed) -
                   atomic_load_explicit(&passed_collections, memory_order_relaxed) >=
               BEHIND_COLLECTIONS;
}
