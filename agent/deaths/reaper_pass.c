/* SPDX-License-Identifier: Apache-2.0 */
/* A pass over the weak references: finds those that were cleared, dates their objects' deaths, and
 * reports them. */
#include "agent/deaths/reaper_pass.h"

#include <time.h>

#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/deaths/identity.h"
#include "agent/deaths/pace.h"
#include "agent/deaths/recycle.h"
#include "agent/deaths/reference_blocks.h"
#include "agent/deaths/weak_table.h"
#include "agent/events/collections.h"
#include "agent/events/events.h"
#include "agent/hotspot/slots.h"
#include "agent/records/hold.h"
#include "agent/records/threads.h"

#define PREFETCH_AHEAD 12u
#define PAUSE_POLL_NS 100000L

/* State when the last completed pass began, under the lock: the collections that had begun, and the
 * session whose references it checked. */
static struct {
    uint64_t begun, session;
} passed;

void reaper_pass_pause(void)
{
    nanosleep(&(struct timespec){0, PAUSE_POLL_NS}, NULL);
}

/* Returns true if the object of the reference is dead. The slot is read without a call of JNI,
 * since every living object is looked at after each collection.
 *
 * If the collector clears references only in its pauses, a slot that is zero needs no confirmation.
 * With a concurrent collector a slot may be zero, or not yet zero, while the JVM resolves the
 * reference differently, so the JVM is asked. */
static bool is_cleared(const struct reaper_pass *pass, jweak reference)
{
    if (__builtin_expect(pass->slots_report, 1)) {
        if (slot_word(reference) != 0)
            return false;
        if (pass->clears_in_pauses)
            return true;
    }
    return (*pass->jni)->IsSameObject(pass->jni, reference, NULL);
}

/* Returns true if a collection has begun since the pass was dated. It is checked for each dead
 * object, not for each entry: what lives needs no date. */
static bool is_outdated(const struct reaper_pass *pass)
{
    collections_notice(false);
    return atomic_load(&tracer.in_collection) ||
           pass->collection != atomic_load(&tracer.collections_begun);
}

/* Gives the pass its date: the collection that ended last, and that end.
 *
 * Waits for the end of a pause: what is cleared in it belongs to its collection. If one begins
 * meanwhile, number and time would be of two. The wait is bounded, since the JVM does not report a
 * pause's end if events were switched off meanwhile. */
static void date_pass(struct reaper_pass *pass)
{
    uint64_t from = clock_monotonic_ns();
    do {
        while (atomic_load(&tracer.in_collection) && clock_monotonic_ns() - from < PATIENCE_NS)
            reaper_pass_pause();
        collections_notice(true);
        pass->collection = atomic_load(&tracer.collections_begun);
        pass->ended = atomic_load(&tracer.collections);
        pass->stamp = stamp_of_collection(pass->session);
    } while (is_outdated(pass) && clock_monotonic_ns() - from < PATIENCE_NS);
}

/* Reports the dead that were found so far, all with one date. Their references are given away last:
 * a new object may get one at once, and identity_remove() has been called for all of them, so no
 * search finds the dead object's id any more. What recycling does not take is deleted in the JVM.
 */
static void bury(struct reaper_pass *pass)
{
    if (pass->dead == 0)
        return;
    event_free_many(pass->session, pass->dead_ids, pass->dead, pass->stamp, pass->collection);
    for (size_t i = recycle_give(pass->dead_references, pass->dead); i < pass->dead; i++)
        (*pass->jni)->DeleteWeakGlobalRef(pass->jni, pass->dead_references[i]);
    pass->dead = 0;
}

/* Where references are cleared while the program runs, a pause is not a collection. */
static void note_joined(const struct reaper_pass *pass, uint64_t collections)
{
    if (pace_knows_collections())
        atomic_fetch_add(&pass->session->deaths.joined, collections);
}

/* Returns true if the object is dead. `id` has the key above it.
 *
 * The date of a death is exact, although the collector runs while the table is searched. The
 * invariant: all that is in `dead_ids` was seen dead before any collection began after the one of
 * `collection`. The slot is read first, then the count of collections. If the count is unchanged,
 * the slot was cleared by the pass's collection or an earlier one. If not, the object may be the
 * new collection's. What was found before is then reported with the old date, the pass waits for
 * the end of the new one and takes its date, and this object and all later ones get that. An object
 * of the old collection that is found only now thus dies one collection too late; such collections
 * are counted (note_joined()), and the trace says how many there were. */
static bool look_at(struct reaper_pass *pass, jweak reference, uint64_t id)
{
    if (!is_cleared(pass, reference))
        return false;
    if (is_outdated(pass)) { /* a collection that began meanwhile may have cleared it */
        uint64_t ended = pass->ended;
        bury(pass);
        date_pass(pass);
        note_joined(pass, pass->ended - ended);
    }
    if (pass->session->finds_objects)
        identity_remove(pass->session, (uint32_t) (id >> WEAK_ID_BITS), id & WEAK_ID_MASK);
    pass->dead_ids[pass->dead] = id & WEAK_ID_MASK;
    pass->dead_references[pass->dead++] = reference;
    if (pass->dead == PASS_IDS)
        bury(pass);
    return true;
}

/* Searches one page. The load of `used` pairs with the release store of weak_table_add(): all words
 * below it are written. The owner may append meanwhile; those objects are younger than the
 * collection. Dead words become 0 in a page that another thread fills, which is no race: the owner
 * writes only beyond `used`. The slots are anywhere in the JVM's blocks of references, so each is a
 * cache miss unless it is fetched early. */
static void look_at_page(void *context, struct weak_page *page)
{
    struct reaper_pass *pass = context;
    uint32_t used = atomic_load_explicit(&page->used, memory_order_acquire);
    uint64_t id, next = 0;
    for (uint32_t i = 0; i < used; i++) {
        if (i + PREFETCH_AHEAD < used)
            __builtin_prefetch((const void *) (uintptr_t) page->words[i + PREFETCH_AHEAD]);
        jweak reference = weak_page_read(page->words[i], &id, &next);
        if (reference != NULL && look_at(pass, reference, id))
            page->words[i] = 0;
    }
    bury(pass);
}

/* Returns the pages that threads fill, linked by next_active. The acquire load of the page pairs
 * with the release store that installed it (weak_table_add()): its header is initialised. A page of
 * an earlier session may still be there until reaper_clear(); the session's number excludes it. */
static struct weak_page *find_active(const struct reaper_pass *pass)
{
    struct weak_page *active = NULL;
    for (struct os_thread *os = threads_first(); os != NULL; os = os->next_all) {
        struct weak_page *page = atomic_load_explicit(&os->deaths.weak_page, memory_order_acquire);
        if (page == NULL || atomic_load(&os->deaths.weak_session) != pass->session->number)
            continue;
        page->next_active = active;
        active = page;
    }
    return active;
}

static void trim(JNIEnv *jni)
{
    recycle_trim(jni, false);
    reference_blocks_trim(false);
}

/* The pages that threads fill are listed before those that were handed over are collected. A page
 * that a thread hands over in between is then in both lists, and `collected` shows it. In the other
 * order it would be in neither, and its dead would get the date of the next collection. What is
 * stored in `passed` is the state at the pass's beginning: a collection during the pass may have
 * cleared entries that were looked at before, so it must cause another pass. */
void reaper_pass_over(struct reaper_pass *pass)
{
    uint64_t pages = atomic_load(&pass->table->pages);
    date_pass(pass);
    uint64_t begun = pass->collection, ended = pass->ended;
    uint64_t before = pace_collections_passed();
    if (passed.session == pass->session->number && ended > before)
        note_joined(pass, ended - before - 1);
    pass->clears_in_pauses = places_are_good(pass->session);
    /* First the pages that threads fill, then those handed over: a page may be both. */
    struct weak_page *active = find_active(pass);
    weak_table_collect(pass->table);
    for (; active != NULL; active = active->next_active)
        if (!active->collected)
            look_at_page(pass, active);
    weak_table_pass(pass->table, look_at_page, pass);
    if (ended != before)
        trim(pass->jni);
    pace_passed(pages, ended);
    passed.begun = begun;
    passed.session = pass->session->number;
}

bool reaper_pass_may_find(const struct session *session)
{
    return !holds_are_good(session) || passed.session != session->number ||
           passed.begun != atomic_load(&tracer.collections_begun);
}
