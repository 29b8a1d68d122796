/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a session: its files, and the thread that alone opens and writes them. */
#include "agent/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/records/pulse.h"
#include "agent/stacks/stacks.h"
#include "capture/apart.h"
#include "capture/log.h"
#include "capture/quiet_thread.h"
#include "capture/trace_store.h"
#include "format/live/live_decoder.h"
#include "steptrace/java_trace.h"

#define FILES_PATIENCE_NS (30 * SECOND_NS)

void session_numbered_name(const struct options *options, char *out, size_t size)
{
    const char *slash = strrchr(options->file, '/');
    const char *dot = strrchr(slash != NULL ? slash : options->file, '.');
    size_t length = dot != NULL ? (size_t) (dot - options->file) : strlen(options->file);
    snprintf(out, size, "%.*s.%06" PRIu64 "%s", (int) length, options->file, options->file_number,
             options->file + length);
}

/* Without rotate=, the first file has no number until another one follows. */
static void file_name(const struct options *options, char *out, size_t size)
{
    if (options->rotate_ns == 0 && options->file_number == 1)
        snprintf(out, size, "%s", options->file);
    else
        session_numbered_name(options, out, size);
}

const char *session_consequence(void)
{
    bool is_first = !tracer.attached && tracer.last == NULL;
    return is_first && !tracer.options.required ? "; the program runs untraced" : "";
}

static bool say_why_not(const struct step_error *error)
{
    char text[900];
    step_error_print(error, text, sizeof text);
    log_message("%s%s", text, session_consequence());
    return false;
}

/* Sets options.file to the trace's name. */
static bool session_open_files(struct session *session)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    struct step_writer_options writing;
    step_writer_options_init(&writing);
    memory_account_limit(&session->options, &writing);
    const struct options *options = &session->options;
    char name[OPTION_TEXT];
    file_name(options, name, sizeof name);
    const struct trace_store_wanted wanted = {.path = name,
                                              .rules = {options->overwrite, options->mode},
                                              .ring = options->ring,
                                              .buffer_bytes = options->buffer_bytes,
                                              .drop = options->overflow == OVERFLOW_DROP,
                                              .gives_up = session_drain_gives_up,
                                              .owner = session};
    if (trace_store_open(&wanted, &session->drain.store, &error) != STEP_STATUS_OK)
        return say_why_not(&error);
    snprintf(session->options.file, sizeof session->options.file, "%s", session->drain.store->path);
    session->drain.identity = session->drain.store->identity;
    session->map = session->drain.store->map;
    session->map->run_apart = session->drain.keeps_apart ? apart_run : NULL;
    atomic_store(&session->map->next_object, session->first_object);
    writing.definition = &step_java_trace_definition;
    writing.output = trace_store_output(session->drain.store);
    writing.level = (int) options->level;
    if (step_writer_create(&writing, &session->drain.writer, &error) != STEP_STATUS_OK)
        return say_why_not(&error);
    if (session->options.stack != 0 && (session->stacks = stack_tree_create()) == NULL) {
        log_message("%s: out of memory for call stacks", session->options.file);
        return false;
    }
    session->global = live_stream_create(session->map, true);
    session->frees = live_stream_create(session->map, true);
    return session->global != NULL && session->frees != NULL;
}

static bool start_drain(struct session *session)
{
    int code = quiet_thread_start(&session->drain.thread, NULL, session_drain_run, session);
    if (code != 0)
        log_message("the drain thread could not be started: %s", strerror(code));
    return code == 0;
}

/* The drain thread may have a descriptor table of its own (capture/apart.h), in which only it can
 * open and write the trace. Two semaphores hand the work over and back; they order all memory
 * between the two threads, so the session's members need no other protection until the thread
 * drains. A thread that the kernel holds in a write cannot be ended or joined: the session is
 * abandoned then, that is, never freed. */
bool session_errand(struct session *session, bool (*errand)(struct session *session))
{
    session->drain.errand = errand;
    sem_post(&session->drain.errand_wanted);
    if (semaphore_within(&session->drain.errand_done, FILES_PATIENCE_NS))
        return errand == NULL || session->drain.errand_succeeded;
    log_message("%s: the disk does not respond", session->options.file);
    session->abandoned = true;
    return false;
}

static bool dismiss(struct session *session)
{
    step_writer_destroy(session->drain.writer);
    live_decoder_destroy(session->drain.decoder);
    stack_tree_destroy(session->stacks);
    trace_store_discard(session->drain.store);
    return session->drain.dismissed = true;
}

/* A session whose drain thread does not return is kept; that thread is dismissed when it does. */
void session_discard(struct session *session)
{
    pulse_end(session);
    if (session->abandoned) {
        session->drain.errand = dismiss;
        sem_post(&session->drain.errand_wanted);
        return;
    }
    if (session->drain.started) {
        if (!session_errand(session, dismiss))
            return;
        pthread_join(session->drain.thread, NULL);
    }
    free(session);
}

struct session *session_prepare(const struct options *options)
{
    struct session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return NULL;
    session->options = *options;
    session->options.events &= tracer.capable;
    engine_choice_apply(session);
    session->number = atomic_fetch_add(&tracer.session_count, 1) + 1;
    bool follows = options->file_number > 1 && tracer.last != NULL;
    if (!follows)
        guards_forget_stops(); /* the last trace's end may have changed classes */
    session->ring_number = follows ? tracer.last->ring_number : session->number;
    session->first_object = follows ? tracer.last->next_object : 1;
    session->late = tracer.attached || session->number > 1 || session->options.start_at.count != 0;
    pthread_mutex_init(&session->global_lock, NULL);
    pthread_mutex_init(&session->state_lock, NULL);
    pthread_cond_init(&session->state_changed, NULL);
    sem_init(&session->drain.errand_wanted, 0, 0);
    sem_init(&session->drain.errand_done, 0, 0);
    session->drain.started = start_drain(session);
    if (!session->drain.started || !session_errand(session, session_open_files)) {
        session_discard(session);
        return NULL;
    }
    return session;
}
