/* SPDX-License-Identifier: Apache-2.0 */
/* A list, bounded in bytes, of facts that a session is to have later, or the traces after it. */
#include "agent/bytecode/not_probed.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/bytecode/class_hook.h"
#include "agent/records/global_stream.h"
#include "agent/records/threads.h"

#define HELD_BYTES ((size_t) 4 << 20)

static struct {
    pthread_mutex_t lock;
    bool holds;
    _Atomic bool keeps; /* for the traces that follow, too (probes=keep) */
    bool reported;      /* the session has what was held; what is found now is recorded at once */
    bool again;         /* what is found may be there already */
    size_t bytes;
    struct fact *first, **end;
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds the lock. */
static bool held_has(const struct fact *fact)
{
    for (const struct fact *at = held.first; at != NULL; at = at->next)
        if (fact_equals(at, fact))
            return true;
    return false;
}

enum fact_place { FACT_LOST, FACT_HELD, FACT_IS_DUE };

/* FACT_LOST: no facts are held, or there is no room for this one. FACT_IS_DUE: the session shall
 * have it, too. It is freed if it is not kept. */
static enum fact_place hold_fact(struct fact *fact)
{
    pthread_mutex_lock(&held.lock);
    bool holds = held.holds && fact != NULL, known = holds && held.again && held_has(fact);
    bool is_held = holds && !known && held.bytes + fact->payload_bytes <= HELD_BYTES;
    enum fact_place place = known                      ? FACT_HELD
                            : is_held && held.reported ? FACT_IS_DUE
                            : is_held                  ? FACT_HELD
                                                       : FACT_LOST;
    if (is_held) {
        held.bytes += fact->payload_bytes;
        *held.end = fact;
        held.end = &fact->next;
    }
    pthread_mutex_unlock(&held.lock);
    if (!is_held)
        free(fact);
    return place;
}

/* Facts are not held any more. */
void not_probed_forget(void)
{
    pthread_mutex_lock(&held.lock);
    struct fact *fact = held.first;
    held.first = NULL;
    held.holds = held.reported = held.again = false;
    atomic_store(&held.keeps, false);
    held.bytes = 0;
    pthread_mutex_unlock(&held.lock);
    while (fact != NULL) {
        struct fact *next = fact->next;
        free(fact);
        fact = next;
    }
}

void not_probed_hold(bool keep)
{
    not_probed_forget();
    pthread_mutex_lock(&held.lock);
    held.holds = true;
    atomic_store(&held.keeps, keep);
    held.end = &held.first;
    pthread_mutex_unlock(&held.lock);
}

/* Facts that are found meanwhile are recorded by who finds them. The list only grows, and its
 * lock is not held while the session may wait for room. */
void not_probed_report(void)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    pthread_mutex_lock(&held.lock);
    bool keeps = atomic_load(&held.keeps);
    struct fact *fact = held.first, *const *end = held.end;
    held.reported = keeps;
    pthread_mutex_unlock(&held.lock);
    while (session != NULL && fact != NULL) {
        fact_record(session, fact);
        fact = &fact->next != end ? fact->next : NULL;
    }
    if (session != NULL)
        probe_leave(os);
    if (!keeps)
        not_probed_forget();
}

void not_probed_rest(void)
{
    pthread_mutex_lock(&held.lock);
    held.reported = false;
    pthread_mutex_unlock(&held.lock);
}

void not_probed_again(bool again)
{
    pthread_mutex_lock(&held.lock);
    held.again = again;
    pthread_mutex_unlock(&held.lock);
}

bool not_probed_record(const char *class_name, const char *method_name, const char *descriptor,
                       const char *reason, uint64_t missing)
{
    struct os_thread *os;
    struct fact *fact = fact_not_probed(class_name, method_name, descriptor, reason, missing);
    struct session *session = class_hook.armed ? NULL : probe_enter(&os); /* else a sample */
    if (session == NULL)
        return hold_fact(fact) != FACT_LOST;
    bool for_later =
        atomic_load(&held.keeps) && hold_fact(fact_not_probed(class_name, method_name, descriptor,
                                                              reason, missing)) == FACT_HELD;
    if (for_later) /* not_probed_report() records it */
        free(fact);
    else
        fact_put(session, fact);
    probe_leave(os);
    return true;
}
