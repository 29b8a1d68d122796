/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a record of each sample. The JVM draws the distance to a thread's next sample when it
 * takes the last one, from the interval of that moment: so each thread remembers the interval, and
 * a sample that was drawn with another than that of the trace is recorded with it. */
#include "agent/events/sampled_objects.h"

#include "agent/events/draw_repeats.h"
#include "agent/events/events.h"
#include "agent/events/sample_rate.h"
#include "agent/events/sampled_lives.h"
#include "agent/records/classes.h"
#include "agent/records/put_record.h"
#include "agent/stacks/stacks.h"

#define SAMPLED_WORDS 6u

/* The first session of the ring of files that the current one is of: between them nobody draws. */
static _Atomic uint64_t first_session;

struct sample {
    uint64_t class, size_bytes, drawn_bytes;
    uint64_t stack;
};

void sampled_objects_begin(const struct session *session)
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

void sampled_thread_starts(const struct session *session, struct os_thread *os)
{
    JNIEnv *jni = NULL;
    if ((*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) != JNI_OK)
        return;
    os->events.thread_began = true;
    note_draw(session, os, draw_repeats_thread(jni));
}

/* Returns the interval with which this sample was drawn; 0 for the first sample of a thread that
 * was there before the session. That was drawn long ago, with an interval that is not known: it is
 * left out (docs/engine-sampled.md). */
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
    jlong old = 0;
    (*tracer.jvmti)->GetTag(tracer.jvmti, object, &old);
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
static uint64_t record(struct session *session, struct live_stream *stream, uint64_t thread,
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

void sampled_object(struct session *session, struct os_thread *os, JNIEnv *jni, jthread thread,
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
    uint64_t id = record(session, stream, java != NULL ? java->id : 0, object, &sample);
    if (id != 0 && (session->options.events & EVENT_FREE) != 0)
        sampled_lives_add(session, jni, object, id);
}
