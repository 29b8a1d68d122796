/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the awaited objects by id, with a weak reference to each: a tag alone could not be
 * removed. Its members are accessed between event_frees_enter() and event_frees_leave() only, so
 * that the order of frees and given-up objects in the trace is that of the table. References are
 * deleted by threads that take samples, and at the end: ObjectFree's callback may not call JNI. */
#include "agent/events/sampled_lives.h"

#include <stdlib.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/memory.h"
#include "agent/events/events.h"
#include "agent/events/memory_probes.h"
#include "agent/records/classes.h"
#include "format/core/hash.h"

#define DEAD_PER_SAMPLE 8u
#define DEAD_ROOM 64u
#define BATCH 256u
#define LOT_BITS 53u
#define LOTS (UINT64_C(1) << LOT_BITS)

struct awaited {
    uint64_t id, lot;
    jweak weak;     /* NULL: the JVM had no memory for it */
    uint32_t place; /* where `places` has its index */
};

static struct {
    uint64_t session;        /* 0: none is awaited */
    uint64_t ring;           /* the number of its ring, or of the last one */
    struct awaited *objects; /* a heap: the largest lot is first */
    uint32_t *places;        /* 1 + index in objects, by hash of the id; linear probing */
    jweak *dead;             /* references to dead objects */
    uint64_t paused_ring;    /* between two files of a set: their ring's number; else 0 */
    uint64_t *missed;        /* objects that died then */
    size_t missed_count;
    size_t mask; /* of places */
    size_t count, limit, dead_count;
    uint64_t threshold;
    uint64_t random; /* xorshift; not 0 */
} lives;

static void free_table(void)
{
    memory_free(MEMORY_TABLES, lives.objects);
    memory_free(MEMORY_TABLES, lives.places);
    memory_free(MEMORY_TABLES, lives.dead);
    memory_free(MEMORY_TABLES, lives.missed);
    lives.objects = NULL;
    lives.places = NULL;
    lives.dead = NULL;
    lives.missed = NULL;
    lives.count = lives.dead_count = lives.missed_count = 0;
}

static void end_pause(void)
{
    lives.paused_ring = 0;
    event_frees_between_files(NULL);
}

/* A file that is not the first: readers of it alone learn the threshold here. */
static void lives_go_on(struct session *session)
{
    lives.session = session->number;
    end_pause();
    if (lives.threshold < LOTS)
        event_given_up(session, 0, lives.threshold);
    for (size_t i = 0; i < lives.missed_count; i++)
        event_freed(session, lives.missed[i]);
    lives.missed_count = 0;
}

static bool lives_begin(const struct session *session)
{
    size_t limit = (size_t) session->options.live, places = 256;
    while (places < 2 * limit)
        places *= 2;
    free_table();
    lives.objects = memory_counted(MEMORY_TABLES, calloc(limit + 1, sizeof *lives.objects));
    lives.places = memory_counted(MEMORY_TABLES, calloc(places, sizeof *lives.places));
    lives.dead = memory_counted(MEMORY_TABLES, calloc(limit + DEAD_ROOM, sizeof *lives.dead));
    lives.missed = memory_counted(MEMORY_TABLES, calloc(limit + 1, sizeof *lives.missed));
    bool made =
        lives.objects != NULL && lives.places != NULL && lives.dead != NULL && lives.missed != NULL;
    lives.mask = places - 1;
    lives.limit = limit;
    lives.threshold = LOTS;
    lives.random = clock_raw() | 1;
    lives.ring = session->ring_number;
    lives.session = made ? session->number : 0;
    return made;
}

bool sampled_lives_begin(struct session *session)
{
    if ((session->options.events & TRACED_FREE) == 0)
        return true;
    if (sampled_lives_are_paused() && session->options.file_number == 1)
        sampled_lives_end(); /* another trace was faster than the next file */
    event_frees_enter();
    bool goes_on = lives.paused_ring != 0, made = goes_on || lives_begin(session);
    if (goes_on)
        lives_go_on(session);
    event_frees_leave();
    return made;
}

/* ---- the index by id ---- */

/* Returns the place of the id, or the empty one where the search for it ended. */
static size_t lives_find(uint64_t id)
{
    size_t at = (size_t) step_hash(id) & lives.mask;
    while (lives.places[at] != 0 && lives.objects[lives.places[at] - 1].id != id)
        at = (at + 1) & lives.mask;
    return at;
}

static void set_index(size_t place, uint32_t index_plus_one)
{
    lives.places[place] = index_plus_one;
    lives.objects[index_plus_one - 1].place = (uint32_t) place;
}

/* Empties a place: entries after it that a search would no longer reach move up. An entry may stay
 * if its home is behind the hole, counted around the end of the table. Markers of deleted entries
 * would fill the table in time, as objects come and go for as long as the trace runs. */
static void empty(size_t hole)
{
    for (size_t at = (hole + 1) & lives.mask; lives.places[at] != 0; at = (at + 1) & lives.mask) {
        size_t home = (size_t) step_hash(lives.objects[lives.places[at] - 1].id) & lives.mask;
        if (((at - home) & lives.mask) < ((at - hole) & lives.mask))
            continue;
        set_index(hole, lives.places[at]);
        hole = at;
    }
    lives.places[hole] = 0;
}

/* ---- the heap ---- */

static void move(size_t index, struct awaited object)
{
    lives.objects[index] = object;
    lives.places[object.place] = (uint32_t) index + 1;
}

/* Puts the object where its lot belongs, from `hole` upwards or downwards. */
static void lives_settle(size_t hole, struct awaited object)
{
    for (; hole > 0 && lives.objects[(hole - 1) / 2].lot < object.lot; hole = (hole - 1) / 2)
        move(hole, lives.objects[(hole - 1) / 2]);
    for (size_t child; (child = 2 * hole + 1) < lives.count; hole = child) {
        if (child + 1 < lives.count && lives.objects[child + 1].lot > lives.objects[child].lot)
            child++;
        if (lives.objects[child].lot <= object.lot)
            break;
        move(hole, lives.objects[child]);
    }
    move(hole, object);
}

static void lives_put(struct awaited object)
{
    size_t place = lives_find(object.id);
    object.place = (uint32_t) place;
    lives.objects[lives.count] = object;
    lives.places[place] = (uint32_t) ++lives.count;
    lives_settle(lives.count - 1, object);
}

static struct awaited take_at(size_t index)
{
    struct awaited taken = lives.objects[index];
    empty(taken.place);
    struct awaited last = lives.objects[--lives.count];
    if (index != lives.count)
        lives_settle(index, last);
    return taken;
}

/* A lot is never 0, so even a threshold of 1 awaits nothing. The low bits of xorshift are its
 * weakest; the multiplication spreads them, and the high ones are taken. */
static uint64_t draw_lot(void)
{
    lives.random ^= lives.random << 13;
    lives.random ^= lives.random >> 7;
    lives.random ^= lives.random << 17;
    return (lives.random * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - LOT_BITS) | 1;
}

/* Tells listeners of the probes: of a death, and of an object that nobody would hear of again. */
static void probe_end(uint64_t id)
{
    memory_probes_free((uint64_t) tag_in_ring(lives.ring, id));
}

/* ---- references and tags ---- */

/* Removes the object's tag, if it lives. Class mirrors and loaders keep theirs: they have numbers,
 * too. */
static void untag(JNIEnv *jni, jweak weak)
{
    jlong tag = 0;
    jobject object = weak != NULL ? (*jni)->NewLocalRef(jni, weak) : NULL;
    if (object == NULL)
        return;
    if ((*tracer.jvmti)->GetTag(tracer.jvmti, object, &tag) == JVMTI_ERROR_NONE &&
        (tag & TAG_MARKS) == 0)
        event_set_tag(object, 0);
    (*jni)->DeleteLocalRef(jni, object);
}

static void lives_let_go(JNIEnv *jni, jweak weak)
{
    untag(jni, weak);
    if (weak != NULL)
        (*jni)->DeleteWeakGlobalRef(jni, weak);
}

static size_t take_dead(jweak *out, size_t most)
{
    size_t taken = 0;
    while (taken < most && lives.dead_count > 0)
        out[taken++] = lives.dead[--lives.dead_count];
    return taken;
}

static void delete_dead(JNIEnv *jni, const jweak *dead, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (*jni)->DeleteWeakGlobalRef(jni, dead[i]);
}

/* ---- events ---- */

/* Returns what is to be given up: nothing, the new object, or that with the largest lot.
 *
 * The invariant: every awaited object has a lot below the threshold, and every object that was
 * given up has one at or above what the threshold was at that time. Lots are independent of
 * everything else, so the awaited objects are a uniform sample of all samples that live, whatever
 * their class or age, and an object is awaited to its death if its lot is below the least threshold
 * of its life. Giving up the oldest or the newest object instead would favour short or long lives.
 * That the threshold rises again is no contradiction: readers take the least one between birth and
 * death, and each change is a record in the same stream as the deaths, hence in order with them.
 *
 * The threshold doubles only when less than half of the places are in use. The objects that come
 * next are then awaited at most twice as often, so the table does not overflow at once and the
 * threshold does not swing. */
static struct awaited lives_choose(struct session *session, struct awaited added)
{
    struct awaited given_up = {.id = 0};
    if (added.lot >= lives.threshold) {
        given_up = added;
    } else {
        lives_put(added);
        if (lives.count > lives.limit) {
            given_up = take_at(0);
            lives.threshold = given_up.lot;
        }
    }
    bool rises = given_up.id == 0 && lives.threshold < LOTS && lives.count < lives.limit / 2;
    /* from the next object on */
    if (rises)
        lives.threshold = lives.threshold < LOTS / 2 ? 2 * lives.threshold : LOTS;
    if (rises || given_up.id != 0)
        event_given_up(session, given_up.id, lives.threshold);
    return given_up;
}

void sampled_lives_add(struct session *session, JNIEnv *jni, jobject object, uint64_t id)
{
    struct awaited added = {.id = id, .weak = object_weakly(jni, object)};
    jweak dead[DEAD_PER_SAMPLE];
    event_frees_enter();
    bool is_awaited = lives.session == session->number;
    added.lot = draw_lot();
    struct awaited given_up = is_awaited ? lives_choose(session, added) : added;
    size_t count = take_dead(dead, DEAD_PER_SAMPLE);
    if (given_up.id != 0)
        memory_probes_free((uint64_t) tag_in_ring(session->ring_number, given_up.id));
    event_frees_leave();
    if (given_up.id != 0)
        lives_let_go(jni, given_up.weak);
    delete_dead(jni, dead, count);
}

/* `dead` always has room: an object is in `objects` or its reference in `dead`, and there are at
 * most limit + 1 of both together. A new sample adds one, and takes at least one out of `dead` if
 * there is any. */
static bool lives_take(uint64_t id)
{
    uint32_t index_plus_one = lives.places[lives_find(id)];
    if (index_plus_one == 0)
        return false;
    struct awaited taken = take_at(index_plus_one - 1);
    probe_end(id);
    if (taken.weak != NULL)
        lives.dead[lives.dead_count++] = taken.weak;
    return true;
}

bool sampled_lives_take(const struct session *session, uint64_t id)
{
    return lives.session == session->number && lives_take(id);
}

/* Of an object that dies between two files: its death is in the next one. There are never more than
 * were awaited, for which there is room; this is a callback that may not allocate through the JVM,
 * and holds the flag of frees. */
static void miss(jlong tag)
{
    uint64_t id = object_of_ring(lives.paused_ring, tag);
    if (id != 0 && lives_take(id))
        lives.missed[lives.missed_count++] = id;
}

/* Takes some of the objects that are awaited or dead. */
static size_t take_some(struct awaited *out)
{
    jweak dead[BATCH];
    size_t count = take_dead(dead, BATCH);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct awaited){.weak = dead[i]};
    while (count < BATCH && lives.count > 0) {
        out[count++] = lives.objects[--lives.count];
        probe_end(lives.objects[lives.count].id);
    }
    return count;
}

void sampled_lives_pause(const struct session *session)
{
    event_frees_enter();
    if (lives.session == session->number) {
        lives.session = 0;
        lives.paused_ring = session->ring_number;
        event_frees_between_files(miss);
    }
    event_frees_leave();
}

bool sampled_lives_are_paused(void)
{
    event_frees_enter();
    bool paused = lives.paused_ring != 0;
    event_frees_leave();
    return paused;
}

void sampled_lives_end(void)
{
    JNIEnv *jni = tracer.dying ? NULL : jvm_jni();
    struct awaited some[BATCH];
    event_frees_enter();
    lives.session = 0;
    end_pause();
    event_frees_leave();
    if (jni == NULL)
        return;
    for (size_t count = BATCH; count == BATCH;) {
        event_frees_enter();
        count = take_some(some);
        event_frees_leave();
        for (size_t i = 0; i < count; i++)
            lives_let_go(jni, some[i].weak);
    }
    event_frees_enter();
    free_table();
    event_frees_leave();
}
