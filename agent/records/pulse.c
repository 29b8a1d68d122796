/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that changes the pulse each millisecond while events go without stamps.
 *
 * Once it has changed, no event goes without one before its thread has read the clock. That thread
 * then wants the next change (stamp_of_many()), having read the pulse before; so if none is wanted,
 * all threads' next events have stamps, and this one may sleep. */
#include "agent/records/pulse.h"

#include <string.h>
#include <time.h>

#include "agent/base/own_share.h"
#include "capture/log.h"
#include "capture/quiet_thread.h"

#define PERIOD_NS 1000000L
#define BRISK_NS 1000u
#define ASLEEP_NS INT64_C(1000000000)

/* The end of the session is set before it changes `beat`, so it is seen here, or by the kernel. */
static void sleep_while_idle(struct session *session)
{
    uint32_t idle = BEAT_IDLE;
    if (atomic_compare_exchange_strong(&tracer.beat, &idle, BEAT_ASLEEP) &&
        !atomic_load(&session->stamps.pulse_ends))
        futex_wait(&tracer.beat, BEAT_ASLEEP, ASLEEP_NS);
}

static void *pulse_run(void *data)
{
    struct session *session = data;
    pthread_setname_np(pthread_self(), "StepTrace pulse");
    own_share_thread_begins();
    while (!atomic_load(&session->stamps.pulse_ends)) {
        nanosleep(&(struct timespec){0, PERIOD_NS}, NULL);
        if (atomic_exchange(&tracer.beat, BEAT_IDLE) == BEAT_WANTED)
            stamps_pulse();
        else
            sleep_while_idle(session);
    }
    own_share_thread_ends();
    return NULL;
}

static bool start_pulse(struct session *session)
{
    int code = quiet_thread_start(&session->stamps.pulse, NULL, pulse_run, session);
    if (code != 0)
        log_message("option resolution: each event gets a time stamp: a thread could not be "
                    "started: %s",
                    strerror(code));
    return code == 0;
}

void pulse_begin(struct session *session)
{
    const struct options *options = &session->options;
    struct session_stamps *stamps = &session->stamps;
    bool methods = (options->events & TRACED_METHOD) != 0 && options->method != METHOD_COUNT;
    bool allocations = (options->events & TRACED_ALLOC) != 0;
    if (options->stamp_events < 2 || options->engine != ENGINE_BYTECODE ||
        !stamps_are_times(session) || !(methods || allocations))
        return;
    stamps->beats = start_pulse(session);
    if (!stamps->beats)
        return;
    stamps->every = options->stamp_events;
    stamps->repeats = !methods;
    stamps->brisk = tracer_stamps_of_ns(BRISK_NS);
}

void pulse_end(struct session *session)
{
    if (!session->stamps.beats)
        return;
    session->stamps.beats = false;
    uint32_t asleep = BEAT_ASLEEP;
    atomic_store(&session->stamps.pulse_ends, true);
    atomic_compare_exchange_strong(&tracer.beat, &asleep, BEAT_IDLE);
    futex_wake(&tracer.beat);
    pthread_join(session->stamps.pulse, NULL);
}
