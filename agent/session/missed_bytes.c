/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that threads allocated while a trace was recorded and that the trace does not have, by the
 * JVM's own counters: those of method calls that had begun before the trace. */
#include "agent/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/jvm_classes.h"
#include "agent/hotspot/thread_counters.h"
#include "agent/records/global_stream.h"
#include "agent/records/redaction.h"
#include "agent/records/threads.h"
#include "capture/drain.h"
#include "capture/log.h"
#include "format/core/grow.h"
#include "format/live/live_decoder.h"

#define NAME_BYTES 64
#define NAMED_MOST 8u
#define LEAST_BYTES (UINT64_C(256) << 10)
#define LEAST_SHARE 100 /* of what a thread allocated */

/* A platform thread. At the beginning its counter is what it had allocated before. */
struct thread_count {
    int64_t id;      /* in Java */
    uint64_t number; /* in the trace; 0: it has made no event */
    uint64_t bytes;
    uint64_t missed;
    char name[NAME_BYTES];
};

struct missed_bytes {
    struct thread_count *before, *after;
    size_t before_count, after_count;
    _Atomic bool is_read; /* both */
    uint64_t sum;
    char text[900]; /* "": nothing is missing */
    bool is_in_trace;
};

/* ---- the counters ---- */

static void name_thread(const struct session *session, jthread thread, JNIEnv *jni,
                        struct thread_count *count)
{
    char number[REDACTION_BYTES];
    jvmtiThreadInfo info;
    memset(&info, 0, sizeof info);
    if ((*tracer.jvmti)->GetThreadInfo(tracer.jvmti, thread, &info) != JVMTI_ERROR_NONE)
        return;
    const char *name = info.name != NULL ? info.name : "";
    if (name[0] != '\0' && redaction_of_names(session)) {
        redaction_name('t', name, number);
        name = number;
    }
    size_t length = strlen(name);
    length = length < NAME_BYTES ? length : NAME_BYTES - 1;
    memcpy(count->name, name, length);
    count->name[utf8_cut(count->name, length)] = '\0';
    for (char *at = count->name; *at != '\0'; at++) { /* the text is also printed on stderr */
        bool is_c1 = (unsigned char) at[0] == 0xc2 && (unsigned char) at[1] < 0xa0;
        if ((unsigned char) *at < ' ' || *at == 0x7f)
            *at = '?';
        else if (is_c1 && at[1] != '\0')
            at[0] = at[1] = '?';
    }
    jvm_free(info.name);
    (*jni)->DeleteLocalRef(jni, info.thread_group);
    (*jni)->DeleteLocalRef(jni, info.context_class_loader);
}

/* The program's platform threads, in a session that ends with their names and numbers. */
struct counts {
    const struct session *session;
    JNIEnv *jni;
    bool names, lacks_one; /* lacks_one: out of memory */
    struct thread_count *at;
    size_t count, room;
};

static void add_count(void *user, jthread thread, int64_t id, uint64_t bytes)
{
    struct counts *counts = user;
    if (thread_is_left_out(thread))
        return;
    if (!STEP_MAKE_ROOM(counts->at, counts->room, counts->count + 1)) {
        counts->lacks_one = true;
        return;
    }
    const struct java_thread *java = counts->names ? thread_of(thread) : NULL;
    struct thread_count *one = &counts->at[counts->count++];
    *one = (struct thread_count){.id = id, .bytes = bytes};
    one->number = java != NULL && java->session == counts->session->number ? java->id : 0;
    if (counts->names)
        name_thread(counts->session, thread, counts->jni, one);
}

static struct thread_count *missed_bytes_read_all(const struct session *session, JNIEnv *jni,
                                                  bool names, size_t *count)
{
    struct counts counts = {.session = session, .jni = jni, .names = names};
    *count = 0;
    if (!thread_counters_each(jni, add_count, &counts) || counts.lacks_one) {
        free(counts.at);
        return NULL;
    }
    *count = counts.count;
    return counts.at;
}

bool missed_bytes_are_wanted(const struct session *session)
{
    return session->late && session->options.missed &&
           (session->options.events & TRACED_ALLOC) != 0 &&
           session->options.engine != ENGINE_SAMPLED && session->options.engine != ENGINE_WALK;
}

/* A method that runs when a trace begins keeps its old code without probes until it returns, which
 * for the loop of a server is never. Nothing in the trace would show that: the objects of that call
 * are simply absent. The JVM counts the bytes of each thread in any case. So the counters are read
 * at both ends and compared with the bytes that were recorded; only the difference of a thread that
 * is still there can be computed. */
void missed_bytes_begin(struct session *session, JNIEnv *jni)
{
    if (!missed_bytes_are_wanted(session))
        return;
    struct missed_bytes *missed = calloc(1, sizeof *missed);
    if (missed == NULL)
        return;
    missed->before = missed_bytes_read_all(session, jni, false, &missed->before_count);
    atomic_store(&session->missed, missed);
}

void missed_bytes_end(struct session *session)
{
    struct missed_bytes *missed = atomic_load(&session->missed);
    JNIEnv *jni = missed != NULL ? jvm_jni() : NULL;
    if (jni == NULL || atomic_load(&missed->is_read))
        return;
    missed->after = missed_bytes_read_all(session, jni, true, &missed->after_count);
    atomic_store(&missed->is_read, missed->before != NULL && missed->after_count != 0);
}

void missed_bytes_free(struct session *session)
{
    struct missed_bytes *missed = atomic_exchange(&session->missed, NULL);
    if (missed == NULL)
        return;
    free(missed->before);
    free(missed->after);
    free(missed);
}

/* ---- the difference ---- */

static int by_id(const void *a, const void *b)
{
    const struct thread_count *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

static int by_missed(const void *a, const void *b)
{
    const struct thread_count *one = a, *other = b;
    return (one->missed < other->missed) - (one->missed > other->missed);
}

/* The beginning was counted after the probes saw the session (and after objects without a record of
 * theirs became existing ones), the end before they no longer did: a difference is of objects that
 * have no record, never of such a moment. */
static void subtract(struct missed_bytes *missed, const struct live_decoder *decoder)
{
    qsort(missed->before, missed->before_count, sizeof *missed->before, by_id);
    for (size_t i = 0; i < missed->after_count; i++) {
        struct thread_count *one = &missed->after[i];
        const struct thread_count *before =
            bsearch(one, missed->before, missed->before_count, sizeof *missed->before, by_id);
        uint64_t recorded = one->number != 0 ? live_decoder_bytes_of(decoder, one->number) : 0;
        one->bytes -= before != NULL && before->bytes <= one->bytes ? before->bytes : 0;
        one->missed = one->bytes > recorded ? one->bytes - recorded : 0;
        if (one->missed < LEAST_BYTES || one->missed < one->bytes / LEAST_SHARE)
            one->missed = 0;
    }
    qsort(missed->after, missed->after_count, sizeof *missed->after, by_missed);
}

/* What virtual threads allocate the JVM counts for their carriers, so only the sums compare. */
static void subtract_sums(struct missed_bytes *missed, const struct live_decoder *decoder)
{
    struct thread_count all = {.name = "all threads"};
    subtract(missed, decoder);
    for (size_t i = 0; i < missed->after_count; i++)
        all.bytes += missed->after[i].bytes;
    uint64_t recorded = live_decoder_bytes_of(decoder, LIVE_ALL_THREADS);
    if (all.bytes > recorded && all.bytes - recorded >= LEAST_BYTES &&
        all.bytes - recorded >= all.bytes / LEAST_SHARE)
        all.missed = all.bytes - recorded;
    missed->after[0] = all;
    missed->after_count = 1;
}

__attribute__((format(printf, 2, 3))) static void add(struct missed_bytes *missed,
                                                      const char *format, ...)
{
    size_t used = strlen(missed->text);
    va_list values;
    va_start(values, format);
    vsnprintf(missed->text + used, sizeof missed->text - used, format, values);
    va_end(values);
}

static double mib(uint64_t bytes)
{
    return (double) bytes / (1 << 20);
}

static void missed_bytes_describe(struct missed_bytes *missed, enum option_engine engine)
{
    size_t count = 0;
    for (; count < missed->after_count && missed->after[count].missed != 0; count++)
        missed->sum += missed->after[count].missed;
    for (size_t i = 0; i < count && i < NAMED_MOST; i++)
        add(missed, "%s%.1f of %.1f MiB of %s",
            i != 0 ? ", " : "not recorded: ", mib(missed->after[i].missed),
            mib(missed->after[i].bytes),
            missed->after[i].name[0] != '\0' ? missed->after[i].name : "a thread without a name");
    if (count > NAMED_MOST)
        add(missed, ", and of %zu other threads", count - NAMED_MOST);
    if (count > 0 && engine == ENGINE_BYTECODE)
        add(missed, ", in method calls that had begun before the trace (engine=jvmti and "
                    "engine=sampled see these)");
}

/* What virtual threads allocate is counted for their carriers. */
static bool has_carriers(void)
{
    for (const struct os_thread *os = threads_first(); os != NULL; os = os->next_all)
        if (os->carries)
            return true;
    return false;
}

void missed_bytes_put(const struct session *session, struct drain *drain)
{
    struct missed_bytes *missed = atomic_load(&session->missed);
    if (missed == NULL || !atomic_load(&missed->is_read))
        return; /* the trace ended by itself */
    (has_carriers() ? subtract_sums : subtract)(missed, session->drain.decoder);
    missed_bytes_describe(missed, session->options.engine);
    drain_put_number(drain, "not-recorded-bytes", missed->sum);
    missed->is_in_trace = missed->sum != 0 && session->incomplete == NULL &&
                          session->options.engine == ENGINE_BYTECODE;
    if (missed->is_in_trace)
        drain_put_text(drain, "incomplete", missed->text);
}

void missed_bytes_report(const struct session *session)
{
    const struct missed_bytes *missed = atomic_load(&session->missed);
    if (missed == NULL || missed->text[0] == '\0')
        return;
    if (missed->is_in_trace)
        log_copy_to(-1); /* the program that attached reports what the trace lacks */
    log_message("%s: %s", session->options.file, missed->text);
}
