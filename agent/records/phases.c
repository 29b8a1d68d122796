/* SPDX-License-Identifier: Apache-2.0 */
/* Names of phases, open phases, and the records of their begins and ends. */
#include "agent/records/phases.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/hash_numbers.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/records/global_stream.h"
#include "agent/records/put_record.h"
#include "format/core/grow.h"

#define MARK_WORDS 5u

/* ---- names ---- */

static struct session_dictionary names = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t phase_name(struct session *session, const char *name)
{
    if (!session_lock(session, &names.lock))
        return 0;
    uint64_t number = dictionary_number(&names, session, text_hash_key(text_hash(name)), 0,
                                        STEP_LIVE_IS_PHASE_NAME, name, "");
    pthread_mutex_unlock(&names.lock);
    return number;
}

/* ---- open phases ---- */

static struct {
    pthread_mutex_t lock;
    uint64_t session;
    struct phase_list open;
} program = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns false if there is no room. */
static bool put_mark(struct session *session, struct os_thread *os, const struct java_thread *java,
                     uint64_t name, size_t depth, uint64_t bits)
{
    struct live_stream *stream = thread_stream(session, os);
    uint64_t *room = stream != NULL ? reserve_event(session, stream, java->id, MARK_WORDS) : NULL;
    if (room == NULL)
        return false;
    stream->base_stamp = thread_stamp(session, stream);
    room[0] = live_word(STEP_LIVE_FACT, stream->base_stamp);
    room[1] = STEP_LIVE_PHASE;
    room[2] = STEP_LIVE_PHASE_BYTES;
    room[3] = name;
    room[4] = bits | (uint64_t) depth << 32;
    live_commit(stream, MARK_WORDS, 1);
    return true;
}

static void begin_in(struct session *session, struct os_thread *os, const struct java_thread *java,
                     struct phase_list *list, struct open_phase phase, uint64_t bits)
{
    if (STEP_MAKE_ROOM(list->open, list->capacity, list->count + 1) &&
        put_mark(session, os, java, phase.name, list->count + 1, bits))
        list->open[list->count++] = phase;
}

/* Returns the place of the innermost plus one; 0: there is none. */
static size_t phases_find(const struct phase_list *list, uint32_t key, uint64_t name)
{
    size_t found = list->count;
    while (found > 0 &&
           (list->open[found - 1].key != key || (name != 0 && list->open[found - 1].name != name)))
        found--;
    return found;
}

/* Ends phases until `left` are open. One whose record has no room stays, and the next end closes
 * it. */
static void end_down_to(struct session *session, struct os_thread *os, struct java_thread *java,
                        size_t left)
{
    struct phase_list *list = &java->phases;
    while (list->count > left && put_mark(session, os, java, list->open[list->count - 1].name,
                                          list->count, STEP_LIVE_PHASE_ENDS))
        list->count--;
}

/* Returns the program's list, locked. NULL: the trace ends. */
static struct phase_list *lock_program(struct session *session)
{
    if (!session_lock(session, &program.lock))
        return NULL;
    if (program.session != session->number)
        program.open.count = 0;
    program.session = session->number;
    return &program.open;
}

/* Events before the begin have an earlier tick, events after it this one or a later one. Other
 * threads' stamps may be a little early: stamps.h. */
static void begin_of_program(struct session *session, struct os_thread *os,
                             const struct java_thread *java, struct open_phase phase)
{
    stamps_pass_tick(session);
    struct phase_list *list = lock_program(session);
    if (list == NULL)
        return;
    begin_in(session, os, java, list, phase, STEP_LIVE_PHASE_OF_PROGRAM);
    pthread_mutex_unlock(&program.lock);
    stamps_pass_tick(session);
}

static void end_of_program(struct session *session, struct os_thread *os,
                           const struct java_thread *java, uint32_t key, uint64_t name)
{
    struct phase_list *list = lock_program(session);
    if (list == NULL)
        return;
    size_t found = phases_find(list, key, name);
    if (found != 0 && put_mark(session, os, java, list->open[found - 1].name, found,
                               STEP_LIVE_PHASE_ENDS | STEP_LIVE_PHASE_OF_PROGRAM)) {
        memmove(&list->open[found - 1], &list->open[found],
                (list->count - found) * sizeof list->open[0]);
        list->count--;
    }
    pthread_mutex_unlock(&program.lock);
    stamps_pass_tick(session);
    stamps_pass_tick(session);
}

void phase_begin(struct session *session, struct os_thread *os, enum phase_scope scope,
                 uint32_t key, uint64_t name)
{
    struct java_thread *java = thread_current(session, os, NULL);
    struct open_phase phase = {name, key, scope == PHASE_OF_THREADS};
    if (java == NULL || name == 0)
        return;
    if (scope == PHASE_OF_PROGRAM)
        begin_of_program(session, os, java, phase);
    else
        begin_in(session, os, java, &java->phases, phase, 0);
}

void phase_end(struct session *session, struct os_thread *os, enum phase_scope scope, uint32_t key,
               uint64_t name)
{
    struct java_thread *java = thread_current(session, os, NULL);
    if (java == NULL)
        return;
    if (scope == PHASE_OF_PROGRAM) {
        end_of_program(session, os, java, key, name);
        return;
    }
    size_t found = phases_find(&java->phases, key, name);
    if (found != 0)
        end_down_to(session, os, java, found - 1);
}

void phase_caught(struct session *session, struct os_thread *os, uint32_t key)
{
    struct java_thread *java = thread_known(session, os);
    size_t at = java != NULL ? phases_find(&java->phases, key, 0) : 0;
    if (at == 0)
        return;
    while (at < java->phases.count && java->phases.open[at].key == PHASE_BY_NAME)
        at++;
    end_down_to(session, os, java, at);
}

/* ---- threads that start others ---- */

/* What a thread that has not started yet will be in. */
struct heritage {
    jweak thread;
    uint64_t session;
    struct phase_list phases;
    struct heritage *next;
};

static struct {
    pthread_mutex_t lock;
    struct heritage *first;
    _Atomic size_t count;
} handed_on = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool copy_handed_on(struct phase_list *copy, const struct phase_list *open)
{
    for (size_t i = 0; i < open->count; i++) {
        if (!open->open[i].is_handed_on)
            continue;
        if (!STEP_MAKE_ROOM(copy->open, copy->capacity, copy->count + 1))
            return false;
        copy->open[copy->count++] = open->open[i];
    }
    return copy->count != 0;
}

static void heritage_free(struct heritage *heritage, JNIEnv *jni)
{
    if (heritage->thread != NULL)
        (*jni)->DeleteWeakGlobalRef(jni, heritage->thread);
    free(heritage->phases.open);
    free(heritage);
}

/* Takes that of `thread` out of the list, or NULL, and frees what nobody will take: of threads that
 * are gone without a start, and of other traces.  The caller holds the lock. */
static struct heritage *take_heritage(const struct session *session, JNIEnv *jni, jobject thread)
{
    struct heritage *found = NULL;
    for (struct heritage **at = &handed_on.first; *at != NULL;) {
        struct heritage *one = *at;
        bool is_wanted = found == NULL && (*jni)->IsSameObject(jni, one->thread, thread);
        if (!is_wanted && one->session == session->number &&
            !(*jni)->IsSameObject(jni, one->thread, NULL)) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        atomic_fetch_sub(&handed_on.count, 1);
        if (is_wanted && one->session == session->number)
            found = one;
        else
            heritage_free(one, jni);
    }
    return found;
}

/* A start that calls another hands on once: the later call takes the place of the earlier. */
void phases_hand_on(struct session *session, struct os_thread *os, JNIEnv *jni, jobject thread)
{
    struct java_thread *java = thread_current(session, os, NULL);
    struct heritage *heritage =
        java != NULL && java->phases.count != 0 ? calloc(1, sizeof *heritage) : NULL;
    if (heritage == NULL)
        return;
    heritage->session = session->number;
    if (!copy_handed_on(&heritage->phases, &java->phases) ||
        (heritage->thread = object_weakly(jni, thread)) == NULL ||
        !session_lock(session, &handed_on.lock)) {
        heritage_free(heritage, jni);
        return;
    }
    struct heritage *earlier = take_heritage(session, jni, thread);
    heritage->next = handed_on.first;
    handed_on.first = heritage;
    atomic_fetch_add(&handed_on.count, 1);
    pthread_mutex_unlock(&handed_on.lock);
    if (earlier != NULL)
        heritage_free(earlier, jni);
}

void phases_take_over(struct session *session, struct os_thread *os, jobject thread)
{
    JNIEnv *jni = atomic_load(&handed_on.count) != 0 ? jvm_jni() : NULL;
    if (jni == NULL || !session_lock(session, &handed_on.lock))
        return;
    struct heritage *heritage = take_heritage(session, jni, thread);
    pthread_mutex_unlock(&handed_on.lock);
    if (heritage == NULL)
        return;
    for (size_t i = 0; i < heritage->phases.count; i++)
        phase_begin(session, os, PHASE_OF_THREADS, heritage->phases.open[i].key,
                    heritage->phases.open[i].name);
    heritage_free(heritage, jni);
}

void phases_thread_ends(struct session *session, struct os_thread *os, struct java_thread *java)
{
    if (java != NULL && java->session == session->number)
        end_down_to(session, os, java, 0);
}
