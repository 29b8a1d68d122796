/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled: the objects that the JVM samples, and their deaths. It uses only what JVMTI
 * specifies, but with totals=; the callback is that of engine=jvmti. docs/engine-sampled.md */
#include <string.h>
#include <time.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/own_share.h"
#include "agent/base/patience.h"
#include "agent/events/draw_repeats.h"
#include "agent/events/eden_walk.h"
#include "agent/events/engine.h"
#include "agent/events/events.h"
#include "agent/events/memory_probes.h"
#include "agent/events/sampled_lives.h"
#include "agent/events/thread_totals.h"
#include "agent/hotspot/eden_threads.h"
#include "agent/records/classes.h"
#include "agent/records/put_record.h"
#include "agent/stacks/stacks.h"
#include "capture/log.h"

/* ---- the JVM's sampling interval, which grows while there are more samples a second than rate=
 * allows, and shrinks to that of sample= when there are fewer; Java threads only ---- */

/* The rate is looked at when a quarter of a second's samples have come, or after a second. */
#define LOOKS_PER_SECOND 4u
#define WINDOW_NS UINT64_C(1000000000)
#define INTERVAL_MOST (UINT64_C(1) << 30)
/* A change by less is not worth one: each sample then carries its interval in the trace. */
#define GROWTH_LEAST 1.125
/* After a pause in which little was allocated, the interval comes down in steps. */
#define SHRINK_MOST 0.25

static struct {
    _Atomic uint64_t interval_bytes, count, since_ns;
    _Atomic bool busy; /* one thread looks at a time */
    _Atomic uint64_t least_bytes, rate;
    _Atomic uint64_t guard_bytes; /* a guard wants no shorter interval; 0: none does */
    _Atomic bool guard_changed;
} sampling;

static void set_interval(uint64_t bytes)
{
    atomic_store(&sampling.interval_bytes, bytes);
    (*tracer.jvmti)->SetHeapSamplingInterval(tracer.jvmti, (jint) bytes);
}

/* Returns the interval in force. */
static uint64_t sample_rate_interval(void)
{
    return atomic_load_explicit(&sampling.interval_bytes, memory_order_relaxed);
}

/* Returns the shortest interval that options and guards allow. */
static uint64_t shortest_interval(void)
{
    uint64_t least = atomic_load(&sampling.least_bytes), guard = atomic_load(&sampling.guard_bytes);
    return guard > least ? guard : least;
}

/* The interval is set by the next thread that takes a sample: the drain thread, which asks for
 * this, may not call JVMTI. */
static bool sampled_less(uint64_t factor, bool more)
{
    uint64_t guard = atomic_load(&sampling.guard_bytes), now = sample_rate_interval();
    if (more && guard == 0)
        return false;
    uint64_t from = more || guard > now ? guard : now;
    uint64_t wanted = more ? from / factor : from * factor;
    if (more && wanted <= atomic_load(&sampling.least_bytes))
        wanted = 0;
    if (!more && from >= INTERVAL_MOST)
        return false;
    atomic_store(&sampling.guard_bytes, wanted < INTERVAL_MOST ? wanted : INTERVAL_MOST);
    atomic_store(&sampling.guard_changed, true);
    return true;
}

/* By the one thread that has set `busy`. With rate= the interval comes down by itself. */
static void sampled_follow_guard(uint64_t rate)
{
    uint64_t least = shortest_interval(), now = sample_rate_interval();
    if (atomic_exchange(&sampling.guard_changed, false) && (least > now || rate == 0))
        set_interval(least);
}

static void sample_rate_begin(const struct session *session)
{
    atomic_store(&sampling.least_bytes, session->options.sample_bytes);
    atomic_store(&sampling.rate, session->options.rate);
    atomic_store(&sampling.count, 0);
    atomic_store(&sampling.since_ns, clock_monotonic_ns());
    atomic_store(&sampling.guard_changed, false);
    if (session->options.file_number == 1)
        atomic_store(&sampling.guard_bytes, 0);
    /* the next file of a ring goes on with the interval of the last one */
    set_interval(session->options.file_number > 1 ? sample_rate_interval()
                                                  : session->options.sample_bytes);
}

static bool try_to_be_busy(void *unused)
{
    (void) unused;
    return !atomic_exchange(&sampling.busy, true);
}

/* A thread that changes the interval may have been suspended in the call: it goes on then with the
 * interval of a trace that has ended, which nobody sees. */
static void sample_rate_end(bool is_followed)
{
    atomic_store(&sampling.rate, 0);
    atomic_store(&sampling.guard_changed, false);
    if (is_followed)
        return;
    bool is_mine = succeeds_within(try_to_be_busy, NULL, PATIENCE_NS);
    (*tracer.jvmti)->SetHeapSamplingInterval(tracer.jvmti, (jint) OPTION_SAMPLE_DEFAULT);
    if (is_mine)
        atomic_store(&sampling.busy, false);
}

/* Returns the interval that would have given `rate` samples a second. The number of samples is
 * inversely proportional to the interval, so one division finds it. It grows at once to what is
 * needed, and shrinks by steps of SHRINK_MOST: after a pause almost no samples have come, and their
 * number says nothing of the rate to come; an interval of `sample` would then let a burst
 * through. */
static uint64_t fitting(uint64_t interval_bytes, uint64_t count, uint64_t passed_ns, uint64_t rate)
{
    double found = (double) count * 1e9 / (double) (passed_ns > 0 ? passed_ns : 1);
    double factor = found / (double) rate;
    double wanted = (double) interval_bytes * (factor > SHRINK_MOST ? factor : SHRINK_MOST);
    uint64_t least = shortest_interval();
    if (factor > 1 && factor < GROWTH_LEAST)
        return interval_bytes;
    if (wanted >= (double) INTERVAL_MOST)
        return INTERVAL_MOST;
    return wanted > (double) least ? (uint64_t) wanted : least;
}

/* Judges the samples since the last look, by the one thread that has set `busy`. More samples than
 * allowed are seen after a quarter of a second's number, fewer only after a whole second. A change
 * is not free: HotSpot draws a thread's next distance when it takes a sample, from the interval of
 * that moment, so for some time samples of both intervals come, and each one of another interval
 * than the trace's takes more words. */
static void sampled_look(uint64_t rate)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t passed_ns = now_ns - atomic_load(&sampling.since_ns);
    uint64_t count = atomic_load(&sampling.count);
    if (passed_ns < WINDOW_NS && count * LOOKS_PER_SECOND < rate)
        return;
    uint64_t old = sample_rate_interval();
    uint64_t wanted = fitting(old, count, passed_ns, rate);
    /* fewer samples than a window has need the whole window to be judged */
    if (wanted < old && passed_ns < WINDOW_NS)
        return;
    atomic_store(&sampling.count, 0);
    atomic_store(&sampling.since_ns, now_ns);
    if (wanted != old)
        set_interval(wanted);
}

/* Counts a sample, and changes the interval where it must. */
static void sample_rate_count(void)
{
    uint64_t rate = atomic_load_explicit(&sampling.rate, memory_order_relaxed);
    if (rate == 0 && !atomic_load_explicit(&sampling.guard_changed, memory_order_relaxed))
        return;
    atomic_fetch_add_explicit(&sampling.count, 1, memory_order_relaxed);
    if (atomic_exchange(&sampling.busy, true))
        return;
    rate = atomic_load(&sampling.rate); /* the session may have ended meanwhile */
    sampled_follow_guard(rate);
    if (rate != 0)
        sampled_look(rate);
    atomic_store(&sampling.busy, false);
}

/* ---- samples ---- */

/* ---- records of samples ----
 * The JVM draws the distance to a thread's next sample when it takes the last one, from the
 * interval of that moment: so each thread remembers the interval, and a sample that was drawn with
 * another than that of the trace is recorded with it. */

#define SAMPLED_WORDS 6u

/* The first session of the ring of files that the current one is of: between them nobody draws. */
static _Atomic uint64_t first_session;

struct sample {
    uint64_t class, size_bytes, drawn_bytes;
    uint64_t stack;
};

static void sampled_objects_begin(const struct session *session)
{
    if (session->options.file_number == 1)
        atomic_store(&first_session, session->number);
    draw_repeats_begin(session->options.file_number > 1);
}

static void note_draw(const struct session *session, struct os_thread *os, uint64_t draw)
{
    os->events.sampled = session->number;
    os->events.drawn_bytes = sample_rate_interval();
    os->events.draw = draw;
}

/* A platform thread starts: the distance to its first sample is drawn now. */
static void sampled_thread_starts(const struct session *session, struct os_thread *os)
{
    JNIEnv *jni = jvm_jni();
    if (jni == NULL)
        return;
    os->events.thread_began = true;
    note_draw(session, os, draw_repeats_thread(jni));
}

/* Returns the interval with which this sample was drawn; 0 for the first sample of a thread that
 * was there before the session. That was drawn long ago, with an interval that is not known: it is
 * left out (docs/engine-sampled.md).
 *
 * The weight of a sample is 1 / p with p = 1 - exp(-size / interval), so the interval must be that
 * of the draw, not of now. The draw for the next sample has just been made by the JVM, before this
 * callback; so it is noted here, with the interval that is set now. */
static uint64_t draw_next(const struct session *session, struct os_thread *os)
{
    uint64_t first = atomic_load_explicit(&first_session, memory_order_relaxed);
    uint64_t drawn_bytes = os->events.sampled >= first ? os->events.drawn_bytes : 0;
    if (drawn_bytes != 0)
        draw_repeats_count(os->events.draw, os->events.thread_began);
    note_draw(session, os, draw_repeats_next());
    return drawn_bytes;
}

static bool tag(const struct session *session, jobject object, uint64_t id)
{
    jlong old = jvm_tag(object);
    return (old & TAG_MARKS) != 0 ? object_claim_tag(session, old, id)
                                  : event_set_tag(object, tag_of_object(session, id));
}

static void write_with_interval(uint64_t stamp, struct live_stream *stream, uint64_t *room,
                                const struct sample *sample, uint64_t id)
{
    stream->base_stamp = stamp;
    room[0] = live_word(STEP_LIVE_FACT, stamp);
    room[1] = STEP_LIVE_SAMPLED;
    room[2] = STEP_LIVE_SAMPLED_BYTES;
    room[3] = step_live_alloc_word(sample->class, 0, sample->size_bytes);
    room[4] = id;
    room[5] = sample->drawn_bytes;
    live_commit(stream, SAMPLED_WORDS, 1);
}

/* Returns the object's id, or 0. */
static uint64_t sampled_record(struct session *session, struct live_stream *stream, uint64_t thread,
                               jobject object, const struct sample *sample)
{
    uint64_t *room = reserve_alloc(session, stream, thread, sample->stack, SAMPLED_WORDS);
    if (room == NULL)
        return 0;
    uint64_t id = live_next_object(session->map, stream);
    uint64_t stamp = thread_stamp(session, stream);
    if (!tag(session, object, id))
        return 0;
    if (sample->drawn_bytes == session->options.sample_bytes)
        write_alloc_at(session, stamp, stream, room, sample->class, sample->size_bytes, id, false);
    else
        write_with_interval(stamp, stream, room, sample, id);
    return id;
}

static void take_object(struct session *session, struct os_thread *os, JNIEnv *jni, jthread thread,
                        jobject object, jclass class, jlong size_bytes)
{
    struct live_stream *stream = thread_stream(session, os);
    struct sample sample = {.drawn_bytes = draw_next(session, os)};
    sample_rate_count();
    if (stream == NULL || size_bytes < 0 || sample.drawn_bytes == 0)
        return;
    sample.size_bytes = (uint64_t) size_bytes;
    sample.class = class_cached(session, os, jni, class)->number;
    if (sample.class == 0)
        return;
    const struct java_thread *java = thread_current(session, os, thread);
    sample.stack = stack_of_allocation(session, os, jni, NULL, 0);
    uint64_t id = sampled_record(session, stream, java != NULL ? java->id : 0, object, &sample);
    if (id == 0)
        return;
    memory_probes_alloc((uint64_t) tag_of_object(session, id), sample.size_bytes,
                        sample.drawn_bytes);
    if ((session->options.events & TRACED_FREE) != 0)
        sampled_lives_add(session, jni, object, id);
}

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t) now.tv_sec * SECOND_NS + (uint64_t) now.tv_nsec;
}

/* With max-cpu= the time that a sample takes is the agent's; the clock of a thread is a call of the
 * kernel. */
static void sampled_object(struct session *session, struct os_thread *os, JNIEnv *jni,
                           jthread thread, jobject object, jclass class, jlong size_bytes)
{
    bool is_timed = session->options.max_cpu != 0;
    uint64_t from_ns = is_timed ? processor_ns() : 0;
    take_object(session, os, jni, thread, object, class, size_bytes);
    thread_totals_look(session, jni); /* this object is in both */
    if (is_timed)
        own_share_add(processor_ns() - from_ns);
}

/* ---- totals=: eden is walked as with engine=walk, or counters of threads are read; samples are
 * the same without ---- */

/* Where eden cannot be walked, the bytes of all classes together are known at least. The next file
 * of a ring goes on with what the first one has proven, or has not. */
static const char *sampled_prove(JNIEnv *jni, struct session *session)
{
    struct options *options = &session->options;
    bool is_first = options->file_number <= 1;
    const char *reason = NULL;
    if (options->totals == TOTALS_WALK) {
        reason = is_first ? eden_walk_prove(jni) : NULL;
        if (!eden_walk_is_proven())
            options->totals = TOTALS_THREADS;
    }
    if (options->totals != TOTALS_THREADS)
        return NULL;
    bool is_known = thread_totals_prove(jni);
    if (reason != NULL)
        log_message("totals=walk: %s: %s", reason,
                    is_known ? "the trace has the bytes of all classes together (totals=threads)"
                             : "the trace has samples only");
    else if (!is_known && is_first)
        log_message("totals=threads: the JVM's counters of what threads allocate cannot be read: "
                    "the trace has samples only");
    if (!is_known)
        options->totals = TOTALS_NONE;
    return NULL;
}

/* Before the first sample, so that none comes of what is no part of the totals. */
static void begin_totals(struct session *session)
{
    enum option_totals totals = session->options.totals;
    JNIEnv *jni = totals != TOTALS_NONE ? jvm_jni() : NULL;
    if (jni == NULL)
        return;
    if (totals == TOTALS_WALK && !eden_walk_begin(session, jni))
        log_message("%s: totals=walk: eden cannot be walked: the trace has samples only",
                    session->options.file);
    if (totals == TOTALS_THREADS && !thread_totals_begin(session, jni))
        log_message("%s: totals=threads: the JVM's counters cannot be read: the trace has samples "
                    "only",
                    session->options.file);
}

/* After the last sample. */
static void end_totals(struct session *session)
{
    enum option_totals totals = session->options.totals;
    JNIEnv *jni = totals != TOTALS_NONE ? jvm_jni() : NULL;
    if (jni == NULL)
        return;
    engine_notify(false, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    if (totals == TOTALS_WALK)
        eden_walk_end(session, jni);
    else
        thread_totals_end(session, jni);
}

static void sampled_thread_ends(JNIEnv *jni, jthread thread)
{
    const struct session *session = atomic_load(&tracer.session);
    enum option_totals totals = session != NULL ? session->options.totals : TOTALS_NONE;
    if (totals == TOTALS_WALK)
        eden_threads_ended(jni, thread);
    else if (totals == TOTALS_THREADS)
        thread_totals_thread_ends(jni, thread);
}

/* ---- the engine ---- */

static void sampled_want_capabilities(uint32_t event, jvmtiCapabilities *wanted)
{
    if (event == TRACED_ALLOC)
        wanted->can_generate_sampled_object_alloc_events = 1;
}

/* An event on its way, of the engine before this one. */
static void JNICALL on_vm_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                jclass class, jlong size)
{
    (void) jvmti, (void) jni, (void) thread, (void) object, (void) class, (void) size;
}

/* Another agent may have the events then. */
static void give_back_capability(void)
{
    jvmtiCapabilities mine;
    memset(&mine, 0, sizeof mine);
    sampled_want_capabilities(TRACED_ALLOC, &mine);
    if ((*tracer.jvmti)->RelinquishCapabilities(tracer.jvmti, &mine) == JVMTI_ERROR_NONE)
        tracer.capable &= ~(uint32_t) (TRACED_ALLOC | TRACED_FREE);
}

static void sampled_begin(struct session *session)
{
    if (!sampled_lives_begin(session))
        session_give_up(session, "out of memory for live=");
    sampled_objects_begin(session);
    sample_rate_begin(session);
    begin_totals(session);
    engine_notify(true, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
}

/* The interval is the JVM's, not this agent's: afterwards it is what it was at the JVM's start.
 * When disabling, the event comes first, so that no sample is taken with the restored interval. If
 * another file follows, the objects stay awaited, and the interval stays: a thread draws its next
 * distance by the interval of that moment, also while no file is recorded. Otherwise tags,
 * references and the capability are given back, and another agent may have the event. */
static void sampled_enable(struct session *session, bool on)
{
    if (on) {
        sampled_begin(session);
        return;
    }
    engine_notify(on, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    sample_rate_end(session->is_followed);
    if (session->is_followed) {
        sampled_lives_pause(session);
        return;
    }
    sampled_lives_end();
    give_back_capability();
}

const struct engine engine_sampled = {.want_capabilities = sampled_want_capabilities,
                                      .prove = sampled_prove,
                                      .end_totals = end_totals,
                                      .collection_begins = eden_walk_collection_begins,
                                      .collection_ended = eden_walk_collection_ended,
                                      .platform_thread_ends = sampled_thread_ends,
                                      .vm_object_alloc = on_vm_alloc,
                                      .enable = sampled_enable,
                                      .take_sample = sampled_object,
                                      .thread_starts = sampled_thread_starts,
                                      .awaits = sampled_lives_take,
                                      .sample_less = sampled_less,
                                      .needs_allocs =
                                          "engine=sampled: this JVM has no SampledObjectAlloc "
                                          "events, or another agent uses them: no trace is made"};
