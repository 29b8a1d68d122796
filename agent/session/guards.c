/* SPDX-License-Identifier: Apache-2.0 */
/* max-cpu=, max-pause= and max-memory=: what the agent takes of the program is measured, and
 * limited. The drain thread measures in each of its passes; it first lets the engine take fewer
 * samples, then ends the trace.
 *
 * Processor time is looked at over windows: a block of the trace is compressed in one go, and the
 * next one a second later. A window is above the limit if the agent took a larger share than
 * max-cpu= of the processor time of the process, or of one processor if the process has used less
 * than that: a service that rests is no reason to end its trace. */
#include "agent/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "agent/base/option_values.h"
#include "agent/base/own_share.h"
#include "agent/base/patience.h"
#include "agent/events/engine.h"
#include "capture/drain.h"
#include "capture/log.h"
#include "capture/trace_store.h"
#include "capture/writer_process.h"

#define WINDOW_NS (3 * SECOND_NS)
/* Windows above the limit before a trace ends that cannot sample less. */
#define WINDOWS_ABOVE 2u
/* Windows below a quarter of the limit, or without a decision, before there are twice as many
 * samples again. */
#define WINDOWS_BELOW 10u
#define FACTOR_MOST 64u
/* Samples become fewer when the memory is that full. */
#define MEMORY_NEAR(bytes) ((bytes) / 8 * 7)

static uint64_t ns_of_clock(clockid_t clock)
{
    struct timespec now;
    return clock_gettime(clock, &now) == 0
               ? (uint64_t) now.tv_sec * SECOND_NS + (uint64_t) now.tv_nsec
               : 0;
}

/* A window goes on in the next file of a ring, which may be shorter than the window. Files follow
 * one another, so the two members belong to one drain thread at a time. */
static struct {
    struct session_guards guards; /* of the last file */
    uint64_t writers_ns;          /* of processes that have written files that are closed */
} last;

/* The processes that write the files are the agent's, too: each file has its own. */
static uint64_t writer_ns(const struct session *session)
{
    const struct writer_process *writer = session->drain.store->writer;
    clockid_t clock;
    bool is_there = writer != NULL && clock_getcpuclockid(writer->process, &clock) == 0;
    return last.writers_ns + (is_there ? ns_of_clock(clock) : 0);
}

static void begin_window(struct session *session, uint64_t now_ns)
{
    struct session_guards *guards = &session->drain.guards;
    uint64_t writer = writer_ns(session);
    guards->from_ns = now_ns;
    guards->due_ns = now_ns + WINDOW_NS;
    guards->own_ns = own_share_ns() + writer;
    guards->process_ns = ns_of_clock(CLOCK_PROCESS_CPUTIME_ID) + writer;
}

static uint64_t later_less(uint64_t later, uint64_t before)
{
    return later > before ? later - before : 0;
}

/* Returns the agent's share in the window that ends now, as max-cpu= has it. */
static uint64_t share_of_window(const struct session *session, uint64_t now_ns)
{
    const struct session_guards *guards = &session->drain.guards;
    uint64_t writer = writer_ns(session);
    uint64_t own_ns = later_less(own_share_ns() + writer, guards->own_ns);
    uint64_t process_ns =
        later_less(ns_of_clock(CLOCK_PROCESS_CPUTIME_ID) + writer, guards->process_ns);
    uint64_t passed_ns = now_ns - guards->from_ns;
    uint64_t whole_ns = process_ns > passed_ns ? process_ns : passed_ns;
    return own_ns * OPTION_SHARE_WHOLE / (whole_ns != 0 ? whole_ns : 1);
}

/* Returns false if there cannot be fewer samples. */
static bool guards_sample_less(struct session *session, uint64_t factor, const char *reason)
{
    const struct engine *engine = session->engine;
    factor = factor < 2 ? 2 : factor > FACTOR_MOST ? FACTOR_MOST : factor;
    if (engine->sample_less == NULL || !engine->sample_less(factor, false))
        return false;
    session->drain.guards.decisions++;
    log_message("%s: %s: from now on one in %" PRIu64 " of the samples is taken",
                session->options.file, reason, factor);
    return true;
}

static void share_text(char *text, size_t size, uint64_t share)
{
    snprintf(text, size, "%" PRIu64 ".%02" PRIu64 " %%", share / OPTION_SHARE_PERCENT,
             share % OPTION_SHARE_PERCENT);
}

static bool guards_end(struct session *session, enum session_end end, const char *reason)
{
    session->end = end;
    log_message("%s: the trace ends here: %s", session->options.file, reason);
    return false;
}

/* Returns false if the trace must end. */
static bool guards_judge_share(struct session *session, uint64_t share)
{
    struct session_guards *guards = &session->drain.guards;
    const uint64_t limit = session->options.max_cpu;
    char found[32], allowed[32], reason[128];
    if (share > guards->peak_share)
        guards->peak_share = share;
    guards->above = share > limit ? guards->above + 1 : 0;
    if (guards->above == 0)
        return true;
    share_text(found, sizeof found, share);
    share_text(allowed, sizeof allowed, limit);
    snprintf(reason, sizeof reason, "the agent took %s of the processor time (max-cpu=%s)", found,
             allowed);
    if (guards_sample_less(session, share / limit + 1, reason)) {
        guards->above = 0;
        return true;
    }
    return guards->above < WINDOWS_ABOVE || guards_end(session, END_MAX_CPU, reason);
}

static bool guards_keep_pause(struct session *session)
{
    struct session_guards *guards = &session->drain.guards;
    const uint64_t limit_ns = session->options.max_pause_ns;
    enum own_stop stop;
    uint64_t stop_ns = own_share_take_stop(&stop);
    char reason[128];
    if (stop_ns > guards->longest_ns)
        guards->longest_ns = stop_ns;
    if (limit_ns == 0 || stop_ns <= limit_ns)
        return true;
    snprintf(reason, sizeof reason, "%s stopped the program for %.3f ms (max-pause=%.3f ms)",
             own_stop_text(stop), (double) stop_ns / 1e6, (double) limit_ns / 1e6);
    return (stop == OWN_STOP_COLLECTION &&
            guards_sample_less(session, stop_ns / limit_ns + 1, reason)) ||
           guards_end(session, END_MAX_PAUSE, reason);
}

/* After windows in which no guard did anything there are more samples again. */
static void guards_relax(struct session *session, uint64_t share)
{
    struct session_guards *guards = &session->drain.guards;
    const uint64_t limit = session->options.max_cpu;
    bool is_calm = guards->decisions == guards->decided && (limit == 0 || share < limit / 4);
    guards->below = is_calm ? guards->below + 1 : 0;
    if (guards->below < WINDOWS_BELOW || session->engine->sample_less == NULL)
        return;
    session->engine->sample_less(2, true);
    guards->below = 0;
}

static bool guards_end_window(struct session *session, uint64_t now_ns)
{
    const struct options *options = &session->options;
    uint64_t share = options->max_cpu != 0 ? share_of_window(session, now_ns) : 0;
    bool goes_on = options->max_cpu == 0 || guards_judge_share(session, share);
    if (options->memory_bytes != 0 &&
        session->drain.memory.now > MEMORY_NEAR(options->memory_bytes))
        guards_sample_less(session, 2, "the agent's memory is nearly that of memory=");
    guards_relax(session, share);
    session->drain.guards.decided = session->drain.guards.decisions;
    begin_window(session, now_ns);
    return goes_on;
}

void guards_forget_stops(void)
{
    enum own_stop stop;
    own_share_take_stop(&stop);
}

/* Stops before the program's first instruction are none of the program. */
void guards_begin(struct session *session)
{
    struct session_guards *guards = &session->drain.guards;
    if (!session->late)
        guards_forget_stops();
    if (session->options.file_number > 1) {
        guards->due_ns = last.guards.due_ns;
        guards->from_ns = last.guards.from_ns;
        guards->own_ns = last.guards.own_ns;
        guards->process_ns = last.guards.process_ns;
        guards->above = last.guards.above;
        guards->below = last.guards.below;
    }
    atomic_store(&session->drain.guards.on, true);
}

bool guards_keep(struct session *session)
{
    struct session_guards *guards = &session->drain.guards;
    if (!atomic_load(&guards->on))
        return true;
    uint64_t now_ns = clock_monotonic_ns();
    bool goes_on = guards_keep_pause(session);
    if (guards->due_ns == 0)
        begin_window(session, now_ns);
    return goes_on && (now_ns < guards->due_ns || guards_end_window(session, now_ns));
}

void guards_put(const struct session *session, struct drain *drain)
{
    const struct session_guards *guards = &session->drain.guards;
    last.writers_ns = writer_ns(session);
    last.guards = *guards;
    if (session->options.max_cpu != 0)
        drain_put_number(drain, "guard-cpu-peak", guards->peak_share);
    if (session->options.max_pause_ns != 0)
        drain_put_number(drain, "guard-pause-ns", guards->longest_ns);
    if (guards->decisions != 0)
        drain_put_number(drain, "guard-fewer-samples", guards->decisions);
}
