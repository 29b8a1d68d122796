/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that changes the pulse each millisecond while a session has events without stamps. */
#include "agent/records/pulse.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "agent/base/own_share.h"
#include "capture/log.h"

#define PERIOD_NS 1000000L
#define BRISK_NS 1000u

static void *pulse_run(void *data)
{
    struct session *session = data;
    pthread_setname_np(pthread_self(), "StepTrace pulse");
    own_share_thread_begins();
    while (!atomic_load_explicit(&session->stamps.pulse_ends, memory_order_relaxed)) {
        nanosleep(&(struct timespec){0, PERIOD_NS}, NULL);
        stamps_pulse();
    }
    own_share_thread_ends();
    return NULL;
}

/* It blocks all signals: they belong to the program. */
static bool start_pulse(struct session *session)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int code = pthread_create(&session->stamps.pulse, NULL, pulse_run, session);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
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
    atomic_store(&session->stamps.pulse_ends, true);
    pthread_join(session->stamps.pulse, NULL);
}
