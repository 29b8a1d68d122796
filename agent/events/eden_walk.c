/* SPDX-License-Identifier: Apache-2.0 */
/* The walk, its checks and its records.
 *
 * When a collection is announced nothing has moved yet, headers are whole, and the rests of buffers
 * that threads have open are the only places without objects. So each object that was allocated
 * since the last collection is met once. Three things are checked each time: every class is one
 * that its mirror refers to; each piece ends exactly where an object ends; and the bytes of all
 * objects are no more than what the JVM's own counters say that its threads have allocated. What
 * they say beyond that was allocated elsewhere, and is recorded as of no known class. */
#include "agent/events/eden_walk.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/events/eden_lanes.h"
#include "agent/events/eden_records.h"
#include "agent/events/eden_rows.h"
#include "agent/events/eden_survived.h"
#include "agent/events/events.h"
#include "agent/events/last_arrays.h"
#include "agent/hotspot/eden_layout.h"
#include "agent/hotspot/eden_spaces.h"
#include "agent/hotspot/eden_survivors.h"
#include "agent/hotspot/eden_threads.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/object_ages.h"
#include "agent/hotspot/slots.h"
#include "agent/hotspot/thread_counters.h"
#include "agent/records/global_stream.h"
#include "capture/log.h"

enum walk_state { WALK_IS_ON, WALK_IS_OFF };

static struct {
    _Atomic int on; /* enum walk_state: set and read in pauses, or before and after them */
    bool in_pause;
    bool is_left_out;       /* the pause has begun and is not walked */
    bool moved;             /* a collection has ended since the last reading of the threads */
    uint32_t collections;   /* the JVM's own count when the last pause ended */
    uint64_t number;        /* of the last record */
    uint64_t counted_bytes; /* by the threads' counters, when they were last recorded */
    uint64_t due_ns;        /* before that, collections are left out */
    uint64_t ages_ns;       /* spent on check_ages() since the last walk */
    int64_t own_number;     /* in Java: the thread that makes the program stand still, */
    JNIEnv *own_jni;
    struct session *session; /* and for what; NULL: for the proof */
    const char *fault;       /* why eden is not walked any more in this process */
    bool is_proven;          /* the last proof was good */
    bool counts_survivors;
    const char *survivors_fault; /* why they are not counted any more */
} state = {.on = WALK_IS_OFF};

/* What one walk has found. */
struct eden_sums {
    uint64_t bytes; /* of all, with fillers */
    uint64_t filler_bytes;
    bool has_older; /* eden has what is older than the last walk */
    /* G1, fillers without a class: arrays at the end of a region */
    struct last_arrays last;
    struct eden_threads threads;
};

/* ---- the walk ---- */

static void add_bytes(void *user, struct eden_row *row)
{
    struct eden_sums *sums = user;
    sums->bytes += row->bytes;
}

static bool walk_all(struct eden_sums *sums)
{
    const struct eden_piece *pieces;
    size_t count;
    if (!eden_rows_clear() || !eden_spaces_list(&pieces, &count))
        return false;
    sums->has_older = eden_spaces_have_older();
    if (!eden_lanes_walk(&sums->threads, pieces, count, &sums->last, &sums->has_older))
        return false;
    eden_rows_each(add_bytes, sums);
    eden_survived_begin();
    return !state.counts_survivors || eden_survived_take_outside(pieces, count);
}

/* ---- fillers ---- */

static void add_named_filler(void *user, struct eden_row *row)
{
    struct eden_sums *sums = user;
    if (row->fills != ROW_FILLER)
        return;
    sums->filler_bytes += row->bytes;
    row->objects = row->bytes = 0;
}

struct unnamed_fillers {
    struct eden_sums *sums;
    uint64_t objects, bytes;
    bool are_known;
};

/* Takes the fillers out of the row of int[]; all of it, if their number is not known. */
static void take_unnamed(void *user, struct eden_row *row)
{
    struct unnamed_fillers *fillers = user;
    if (row->fills != ROW_PERHAPS_FILLER)
        return;
    bool known =
        fillers->are_known && row->objects >= fillers->objects && row->bytes >= fillers->bytes;
    uint64_t objects = known ? fillers->objects : row->objects;
    uint64_t bytes = known ? fillers->bytes : row->bytes;
    row->objects -= objects;
    row->bytes -= bytes;
    fillers->sums->filler_bytes += bytes;
}

/* Fillers that are int[]: one for each buffer that was closed, as the threads' statistics say; if
 * the JVM does not count them all, their number is not known. G1 fills the rests of regions
 * besides, with the last objects of these. Together these have what is beyond what the JVM has
 * counted. But last objects of regions may be fillers of buffers as well, or the program's: so
 * their number is known only if no other number of them has these bytes. */
static void find_unnamed(struct eden_sums *sums, uint64_t counted)
{
    const struct eden_threads *threads = &sums->threads;
    struct unnamed_fillers fillers = {.sums = sums,
                                      .objects = threads->fillers,
                                      .bytes = threads->filler_bytes,
                                      .are_known =
                                          threads->fillers_are_known && eden_layout.counts_fillers};
    uint64_t beyond = sums->bytes - threads->filler_bytes - counted; /* wraps if there is less */
    if (eden_layout.heap == EDEN_G1 && sums->last.count != 0 && beyond != 0) {
        uint64_t number = 0;
        fillers.are_known = fillers.are_known && last_arrays_choose(&sums->last, beyond, &number);
        fillers.objects += number;
        fillers.bytes += beyond;
    }
    eden_rows_each(take_unnamed, &fillers);
}

/* ---- records ---- */

/* Records the threads' bytes since the last record, with what is known of them. `waits`: at the end
 * of the pause. */
static void put_walk(enum step_live_eden how, const struct eden_sums *sums, uint64_t from_ns,
                     bool waits)
{
    struct eden_walk_totals walk = {.collection = ++state.number,
                                    .how = how,
                                    .counted_bytes = sums->threads.bytes - state.counted_bytes,
                                    .filler_bytes = sums->filler_bytes};
    state.counted_bytes = sums->threads.bytes;
    if (waits)
        eden_records_keep(state.session, &walk, sums->has_older, from_ns);
    else
        eden_records_put(state.session, &walk, from_ns);
}

/* Walks take `share` percent of the time: what this one took is not taken again before the rest of
 * those hundred has passed. */
static void pace(uint64_t took_ns)
{
    uint32_t share = state.session->options.share;
    state.due_ns = clock_monotonic_ns() + (took_ns + state.ages_ns) * (100 - share) / share;
    state.ages_ns = 0;
}

/* ---- survivors ---- */

static void survivors_fail(const char *reason)
{
    state.survivors_fault = reason;
    state.counts_survivors = false;
    internal_settled(INTERNAL_SURVIVORS, reason);
    log_message("engine=walk: %s", reason);
}

/* After a collection that was not announced, objects are elsewhere. */
static void check_ages(void)
{
    uint64_t from_ns = clock_monotonic_ns();
    if (state.counts_survivors && atomic_load(&tracer.session) == state.session &&
        eden_collections() == state.collections && !eden_survived_have_ages())
        survivors_fail("objects have lost their ages (biased locks, or another agent): what "
                       "survives is not counted any more");
    state.ages_ns += clock_monotonic_ns() - from_ns;
}

/* Counts what the collection has left, if it was a young one, and records what waits. */
static void count_survivors(void)
{
    uint64_t from_ns = clock_monotonic_ns(), took_ns;
    struct eden_survivors survivors;
    bool are_dated = eden_survivors_are_dated();
    bool is_young = eden_survivors_pause_ends(&survivors);
    if (!eden_records_wait() || atomic_load(&tracer.session) != state.session)
        return;
    bool is_good = !is_young || (eden_survived_count(&survivors) &&
                                 (!are_dated || eden_records_allow_survivors()));
    took_ns = eden_records_put_kept(state.session, is_young && is_good, are_dated, from_ns);
    pace(took_ns);
    if (!is_good)
        survivors_fail("survivors are not what they should be: they are not counted any more");
}

static void fail(const char *reason)
{
    state.fault = reason;
    atomic_store(&state.on, WALK_IS_OFF);
    internal_settled(INTERNAL_EDEN, reason);
    if (state.session == NULL)
        return;
    if (state.session->options.engine == ENGINE_WALK)
        session_give_up(state.session, reason);
    else
        log_message("totals=walk: %s; samples go on without totals", reason);
}

static const char *const no_memory = "out of memory";

/* Walks, and compares. Returns false if what was found must not be used. */
static bool walk_is_good(struct eden_sums *sums)
{
    uint64_t counted = sums->threads.bytes - state.counted_bytes;
    if (!walk_all(sums)) {
        fail("eden has what is no object: it is not walked any more");
        return false;
    }
    if (eden_layout.fillers_are_named)
        eden_rows_each(add_named_filler, sums);
    else
        find_unnamed(sums, counted);
    if (sums->bytes - sums->filler_bytes > counted) {
        if (state.session == NULL)
            return false; /* ends of threads are not announced yet: the proof is tried again */
        fail("eden has more than the JVM has counted: it is not walked any more");
        return false;
    }
    return true;
}

/* The program stands still. `is_last`: no collection follows. */
static void look(bool is_last)
{
    uint64_t from_ns = clock_monotonic_ns();
    struct eden_sums sums = {0};
    bool unannounced = eden_collections() != state.collections;
    if (!is_last && from_ns < state.due_ns && !unannounced) {
        state.is_left_out = true;
        return;
    }
    if (!eden_threads_read(&sums.threads, state.moved || unannounced)) {
        fail(no_memory);
        return;
    }
    state.moved = false;
    enum step_live_eden how = unannounced ? STEP_LIVE_EDEN_UNSEEN : STEP_LIVE_EDEN_WALKED;
    if (!unannounced && !walk_is_good(&sums))
        how = STEP_LIVE_EDEN_REFUSED;
    if (!eden_spaces_looked(&sums.threads))
        fail(no_memory);
    state.collections = eden_collections();
    bool waits = state.counts_survivors && !is_last && how == STEP_LIVE_EDEN_WALKED;
    put_walk(how, &sums, from_ns, waits);
    if (!is_last && !waits)
        pace(clock_monotonic_ns() - from_ns);
}

/* A collection that was left out has emptied eden: what was there has no classes. */
static void put_left_out(void)
{
    struct eden_sums sums = {0};
    uint64_t from_ns = clock_monotonic_ns();
    if (eden_threads_read(&sums.threads, true))
        put_walk(STEP_LIVE_EDEN_LEFT_OUT, &sums, from_ns, false);
    else
        fail(no_memory);
}

/* ---- pauses ---- */

void eden_walk_collection_begins(void)
{
    if (atomic_load(&state.on) == WALK_IS_OFF || state.in_pause)
        return;
    state.in_pause = true;
    event_frees_enter();
    check_ages();
    if (!eden_spaces_pause_begins() || (state.counts_survivors && !eden_survivors_pause_begins()))
        fail(no_memory);
    else if (atomic_load(&tracer.session) == state.session)
        look(false);
    event_frees_leave();
}

/* Some pauses collect nothing, such as those of G1's marking. */
void eden_walk_collection_ended(void)
{
    if (!state.in_pause)
        return;
    state.in_pause = false;
    uint32_t collections = eden_collections();
    bool counted = collections != state.collections;
    event_frees_enter();
    if (state.counts_survivors)
        count_survivors();
    if (atomic_load(&state.on) == WALK_IS_ON &&
        eden_spaces_pause_ends(counted, state.is_left_out)) {
        state.moved = true;
        if (state.is_left_out && atomic_load(&tracer.session) == state.session)
            put_left_out();
    }
    event_frees_leave();
    state.collections = collections;
    state.is_left_out = false;
}

/* ---- pauses of our own ---- */

/* Acts while the program stands still. Nothing is collected. */
static bool while_still(JNIEnv *jni, void (*act)(void *unused))
{
    uint64_t bytes;
    jthread thread = jvm_thread();
    bool known = thread != NULL && thread_counters_read(jni, thread, &state.own_number, &bytes);
    (*jni)->DeleteLocalRef(jni, thread);
    state.own_jni = jni;
    return known && heap_stand_still(act, NULL);
}

/* What there is now is known. */
static void take_all_as_known(void *unused)
{
    (void) unused;
    struct eden_sums sums = {0};
    const struct eden_piece *pieces;
    size_t count;
    bool good = eden_threads_find(state.own_number, state.own_jni) &&
                eden_threads_read(&sums.threads, true) && eden_spaces_list(&pieces, &count) &&
                eden_spaces_looked(&sums.threads);
    state.counted_bytes = sums.threads.bytes;
    state.collections = eden_collections();
    state.moved = state.in_pause = state.is_left_out = false;
    state.due_ns = state.ages_ns = 0;
    if (!good)
        fail("the JVM's threads are not where they should be");
    else if (state.session != NULL)
        atomic_store(&state.on, WALK_IS_ON);
}

static void begin_anew(struct session *session)
{
    state.session = session;
    state.number = 0;
    eden_threads_begin();
    eden_spaces_begin();
    eden_survivors_begin();
    eden_rows_begin();
    eden_records_begin();
}

bool eden_walk_is_proven(void)
{
    return state.is_proven && state.fault == NULL;
}

bool eden_walk_begin(struct session *session, JNIEnv *jni)
{
    if (!eden_walk_is_proven())
        return false;
    begin_anew(session);
    return while_still(jni, take_all_as_known) && atomic_load(&state.on) == WALK_IS_ON;
}

static void look_last(void *unused)
{
    (void) unused;
    if (atomic_load(&state.on) == WALK_IS_OFF)
        return;
    event_frees_enter();
    if (atomic_load(&tracer.session) == state.session)
        look(true);
    event_frees_leave();
    atomic_store(&state.on, WALK_IS_OFF);
}

void eden_walk_end(struct session *session, JNIEnv *jni)
{
    if (atomic_load(&tracer.session) == session)
        while_still(jni, look_last);
    atomic_store(&state.on, WALK_IS_OFF);
}

/* ---- the proof ---- */

#define KNOWN_OBJECTS 50
#define KNOWN_LENGTH 997 /* elements of 8 bytes */
#define PROOFS_MOST 10

static struct {
    uint64_t objects, bytes;
    bool is_good;
} found;

static void find_known(void *user, struct eden_row *row)
{
    (void) user;
    if (row->kind == ROW_ARRAY && row->element_shift == 3 && row->objects >= KNOWN_OBJECTS &&
        row->objects < 2 * KNOWN_OBJECTS) {
        found.objects = row->objects;
        found.bytes = row->bytes;
    }
}

static void walk_for_proof(void *unused)
{
    (void) unused;
    struct eden_sums sums = {0};
    found.is_good = eden_collections() == state.collections &&
                    eden_threads_read(&sums.threads, false) && walk_is_good(&sums);
    if (found.is_good)
        eden_rows_each(find_known, NULL);
}

static bool make_known(JNIEnv *jni)
{
    jthrowable of_program = exception_set_aside(jni);
    bool made = true;
    for (int i = 0; i < KNOWN_OBJECTS && made; i++) {
        jobject array = (*jni)->NewLongArray(jni, KNOWN_LENGTH);
        made = array != NULL;
        (*jni)->DeleteLocalRef(jni, array);
    }
    exception_restore(jni, of_program, !made, THROWN_BY_ALLOCATION);
    return made;
}

/* Arrays of known number and size must be found, each whole. With a collection between, or a thread
 * that ended, it is tried again. */
static const char *prove_walk(JNIEnv *jni)
{
    for (int attempt = 0; attempt < PROOFS_MOST && state.fault == NULL; attempt++) {
        begin_anew(NULL);
        found.objects = found.bytes = 0;
        found.is_good = false;
        if (!while_still(jni, take_all_as_known) || state.fault != NULL)
            break;
        if (!make_known(jni) || !while_still(jni, walk_for_proof))
            break;
        uint64_t least = KNOWN_OBJECTS * header_array_size(KNOWN_LENGTH, 3);
        if (found.is_good && found.objects >= KNOWN_OBJECTS && found.bytes >= least)
            return NULL;
    }
    return state.fault != NULL ? state.fault : "arrays of known size were not found in eden";
}

void eden_walk_prove_survivors(JNIEnv *jni)
{
    if (!internal_is_allowed(INTERNAL_SURVIVORS))
        return;
    const char *reason = state.survivors_fault;
    if (reason == NULL)
        reason = eden_survivors_find();
    if (reason == NULL)
        reason = object_ages_prove(jni);
    state.counts_survivors = reason == NULL;
    internal_settled(INTERNAL_SURVIVORS, reason);
    if (reason != NULL)
        log_message("engine=walk: survivors are not counted: %s", reason);
}

const char *eden_walk_prove(JNIEnv *jni)
{
    state.is_proven = state.counts_survivors = false;
    if (state.fault != NULL)
        return state.fault;
    if (!internal_is_allowed(INTERNAL_EDEN))
        return "the option internals does not allow `eden`, which is what it reads";
    if (!internal_is_allowed(INTERNAL_COUNTERS) || !internal_is_allowed(INTERNAL_HEADERS) ||
        !internal_is_allowed(INTERNAL_SLOTS))
        return "the options or this JVM do not allow `slots`, `headers` and `counters`, which it "
               "needs";
    headers_prove(jni, true); /* headers are read in pauses only */
    const char *reason =
        header_layout.known ? eden_layout_find(jni) : "objects are laid out in an unknown way";
    thread_counters_prove(jni);
    jthread thread = jvm_thread();
    int64_t number;
    uint64_t counted;
    if (reason == NULL && (thread == NULL || !thread_counters_read(jni, thread, &number, &counted)))
        reason = "the JVM does not count what threads allocate";
    (*jni)->DeleteLocalRef(jni, thread);
    if (reason == NULL)
        reason = prove_walk(jni);
    state.is_proven = reason == NULL;
    internal_settled(INTERNAL_EDEN, reason);
    return reason;
}
