/* SPDX-License-Identifier: Apache-2.0 */
/* Method events from rewritten code. */
#include "agent/bytecode/method_events.h"

#include <stdlib.h>

#include "agent/bytecode/constructors.h"
#include "agent/events/events.h"
#include "agent/records/classes.h"
#include "agent/records/put_record.h"

#define PAGE_NUMBERS 4096u
#define PAGES 32768u
#define SESSION_SHIFT 40u
/* A method that the session does not trace, or that the JVM cannot name. */
#define NOT_TRACED ((UINT64_C(1) << SESSION_SHIFT) - 1)

/* For each number: session << 40 | the method's entry in the session's dictionary. */
struct number_page {
    _Atomic uint64_t methods[PAGE_NUMBERS];
    _Atomic(jmethodID) ids[PAGE_NUMBERS];
    _Atomic uint64_t classes[PAGE_NUMBERS]; /* of constructors: session << 40 | class */
};

static _Atomic(struct number_page *) pages[PAGES];
static _Atomic uint32_t last_number;

uint32_t method_new_number(void)
{
    uint32_t number = atomic_fetch_add(&last_number, 1) + 1;
    if (number >= PAGE_NUMBERS * PAGES) {
        atomic_store(&last_number, PAGE_NUMBERS * PAGES);
        return 0;
    }
    struct number_page *page = atomic_load(&pages[number / PAGE_NUMBERS]);
    if (page == NULL) {
        struct number_page *fresh = calloc(1, sizeof *fresh), *none = NULL;
        if (fresh == NULL)
            return 0;
        if (!atomic_compare_exchange_strong(&pages[number / PAGE_NUMBERS], &none, fresh))
            free(fresh);
    }
    return number;
}

static struct number_page *page_of(uint32_t number)
{
    return atomic_load_explicit(&pages[number / PAGE_NUMBERS % PAGES], memory_order_relaxed);
}

static uint64_t know(struct session *session, uint32_t number, jmethodID method)
{
    struct number_page *page = page_of(number);
    _Atomic uint64_t *known = &page->methods[number % PAGE_NUMBERS];
    atomic_store(&page->ids[number % PAGE_NUMBERS], method);
    const struct method_entry *entry = method_lookup(session, method);
    uint64_t id = entry != NULL && entry->is_traced && entry->id != 0 ? entry->id : NOT_TRACED;
    atomic_store(known, session->number << SESSION_SHIFT | id);
    return id;
}

static jmethodID in_between;

void method_called_through(jmethodID probe)
{
    in_between = probe;
}

static jmethodID method_at(jint depth)
{
    jmethodID method = NULL;
    jlocation location;
    return (*tracer.jvmti)->GetFrameLocation(tracer.jvmti, NULL, depth, &method, &location) ==
                   JVMTI_ERROR_NONE
               ? method
               : NULL;
}

/* First sight of a number: the probe was called by the method itself. */
static uint64_t find_method(struct session *session, uint32_t number)
{
    jmethodID method = method_at(1);
    if (method != NULL && method == in_between)
        method = method_at(2);
    return method != NULL ? know(session, number, method) : NOT_TRACED;
}

/* Where the number's method stands; NULL: there is no such number. */
static _Atomic uint64_t *known_of(uint32_t number)
{
    struct number_page *page = page_of(number);
    return page != NULL ? &page->methods[number % PAGE_NUMBERS] : NULL;
}

static uint64_t method_of(struct session *session, uint32_t number)
{
    _Atomic uint64_t *known = known_of(number);
    if (known == NULL)
        return NOT_TRACED;
    uint64_t packed = atomic_load_explicit(known, memory_order_relaxed);
    if (__builtin_expect(packed >> SESSION_SHIFT == session->number, 1))
        return packed & NOT_TRACED;
    return find_method(session, number);
}

jclass method_declaring_class(uint32_t number)
{
    jclass class = NULL;
    struct number_page *page = page_of(number);
    jmethodID method = page != NULL ? atomic_load(&page->ids[number % PAGE_NUMBERS]) : NULL;
    if (method == NULL ||
        (*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &class) != JVMTI_ERROR_NONE)
        return NULL;
    return class;
}

uint64_t method_class_of(struct session *session, uint32_t number)
{
    struct number_page *page = page_of(number);
    if (page == NULL)
        return 0;
    _Atomic uint64_t *known = &page->classes[number % PAGE_NUMBERS];
    uint64_t packed = atomic_load_explicit(known, memory_order_relaxed);
    if (__builtin_expect(packed >> SESSION_SHIFT == session->number, 1))
        return packed & NOT_TRACED;
    JNIEnv *jni = NULL;
    jclass class = method_declaring_class(number);
    if (class == NULL || (*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) != JNI_OK)
        return 0;
    uint64_t id = class_number(session, class);
    (*jni)->DeleteLocalRef(jni, class);
    atomic_store(known, session->number << SESSION_SHIFT | id);
    return id;
}

uint64_t method_of_number(struct session *session, uint32_t number)
{
    uint64_t method = method_of(session, number);
    return method != NOT_TRACED ? method : 0;
}

bool method_know(struct session *session, uint32_t number, jmethodID method)
{
    _Atomic uint64_t *known = known_of(number);
    if (known == NULL)
        return false;
    uint64_t packed = atomic_load_explicit(known, memory_order_relaxed);
    uint64_t id = packed >> SESSION_SHIFT == session->number ? packed & NOT_TRACED
                                                             : know(session, number, method);
    return id != NOT_TRACED;
}

static void *key_of(uint32_t number)
{
    return (void *) (uintptr_t) number;
}

/* Writes an event in its short form, or else in the long one. */
static bool write_method(struct session *session, struct live_stream *stream, uint64_t thread,
                         enum step_live_kind brief, enum step_live_kind full, uint64_t method,
                         uint64_t object)
{
    uint64_t *room = reserve_event(session, stream, thread, 3);
    if (room == NULL)
        return false;
    if (object != 0 || !write_short(session, stream, room, brief, method))
        write_event(session, stream, room, full, method, object);
    return true;
}

/* A constructor's, of an object that has its id. */
static void enter_reserved(struct session *session, struct live_stream *stream,
                           struct java_thread *java, uint32_t number, uint64_t method, uint64_t id)
{
    if (write_method(session, stream, java->id, STEP_LIVE_ENTRY_SHORT, STEP_LIVE_ENTRY, method,
                     id) &&
        push_frame(java, (struct method_frame){method, key_of(number),
                                               stream->events | FRAME_RESERVED, stream, id}))
        java->reserved++;
}

void method_entered(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                    jobject object, bool is_new)
{
    if (!atomic_load_explicit(&session->methods_on, memory_order_relaxed))
        return;
    uint64_t method = method_of(session, number);
    struct java_thread *java = thread_current(session, os, NULL);
    struct live_stream *stream = thread_stream(session, os);
    if (method == NOT_TRACED || java == NULL || stream == NULL)
        return;
    bool waits = is_new && session->names_objects;
    if (constructors_wait_long(java, stream))
        constructors_keep_window(session, os, jni, java, stream);
    uint64_t id = session->names_objects && object != NULL
                      ? event_object_id(session, stream, java->id, jni, object)
                      : 0;
    if (__builtin_expect(waits && java->reserved != 0, 0) &&
        (id = constructor_reserved(session, java, jni, number)) != 0) {
        enter_reserved(session, stream, java, number, method, id);
        return;
    }
    if (!write_method(session, stream, java->id,
                      waits ? STEP_LIVE_ENTRY_NEW_SHORT : STEP_LIVE_ENTRY_SHORT,
                      waits ? STEP_LIVE_ENTRY_NEW : STEP_LIVE_ENTRY, method, id))
        return;
    if (!push_frame(java, (struct method_frame){method, key_of(number), waits ? stream->events : 0,
                                                stream, 0}) ||
        !waits)
        return;
    if (java->pending++ == 0)
        java->window_start = stream->events;
}

void method_calls_super(struct session *session, struct os_thread *os, uint32_t number)
{
    struct java_thread *java = thread_known(session, os);
    if (java == NULL || java->depth == 0 || java->pending + java->reserved == 0)
        return;
    if (java->frames[java->depth - 1].key != key_of(number))
        method_left(session, os, number, LEAVE_CAUGHT);
    struct method_frame *frame = java->depth != 0 ? &java->frames[java->depth - 1] : NULL;
    if (frame != NULL && frame->key == key_of(number) && frame->pending != 0)
        frame->pending |= FRAME_IN_SUPER;
}

/* What a probe in the usual case needs. */
struct quick {
    struct os_thread *os;
    struct session *session;
    struct java_thread *java;
    struct live_stream *stream;
};

/* True: the thread is marked as in a probe, and its stream has room for a word. */
static inline bool begin_quickly(struct quick *quick)
{
    struct os_thread *os = quick->os = thread_self;
    if (__builtin_expect(os == NULL || probes_need_fence || !clock_uses_counter, 0))
        return false;
    atomic_store_explicit(&os->in_probe, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst); /* see probe_enter() */
    struct session *session = quick->session =
        atomic_load_explicit(&tracer.session, memory_order_acquire);
    struct java_thread *java = quick->java = os->current;
    struct live_stream *stream = quick->stream = os->stream;
    if (__builtin_expect(session != NULL && java != NULL && stream != NULL &&
                             java->session == session->number && os->session == session->number &&
                             atomic_load_explicit(&java->os, memory_order_relaxed) == os &&
                             stream->thread == java->id && stream->cursor != stream->end &&
                             !atomic_load_explicit(&tracer.forked, memory_order_relaxed) &&
                             atomic_load_explicit(&session->methods_on, memory_order_relaxed),
                         1))
        return true;
    probe_leave(os);
    return false;
}

/* Calls nothing, so that no register need be saved. */
static inline bool write_quickly(const struct quick *quick, enum step_live_kind kind,
                                 uint64_t method)
{
    struct live_stream *stream = quick->stream;
    uint64_t stamp = stream_stamp(stream, clock_counter() - tracer.scale.zero);
    return write_short_at(stamp, stream, stream->cursor, kind, method);
}

bool method_entered_quickly(uint32_t number)
{
    struct quick quick;
    if (!begin_quickly(&quick))
        return false;
    struct java_thread *java = quick.java;
    _Atomic uint64_t *known = known_of(number);
    uint64_t packed = known != NULL ? atomic_load_explicit(known, memory_order_relaxed) : 0;
    uint64_t method = packed & NOT_TRACED;
    bool done = packed >> SESSION_SHIFT == quick.session->number && method != NOT_TRACED &&
                !quick.session->names_objects && java->depth != java->capacity &&
                write_quickly(&quick, STEP_LIVE_ENTRY_SHORT, method);
    if (done)
        java->frames[java->depth++] =
            (struct method_frame){method, key_of(number), 0, quick.stream, 0};
    probe_leave(quick.os);
    return done;
}

bool method_left_quickly(uint32_t number)
{
    struct quick quick;
    if (!begin_quickly(&quick))
        return false;
    struct java_thread *java = quick.java;
    const struct method_frame *frame = java->depth != 0 ? &java->frames[java->depth - 1] : NULL;
    bool done = frame != NULL && frame->key == key_of(number) && frame->pending == 0 &&
                write_quickly(&quick, STEP_LIVE_EXIT_SHORT, frame->method);
    java->depth -= done;
    probe_leave(quick.os);
    return done;
}

void method_constructed(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                        jobject object)
{
    struct java_thread *java = thread_known(session, os);
    struct live_stream *stream = thread_stream(session, os);
    if (java == NULL || stream == NULL || java->pending + java->reserved == 0)
        return;
    size_t found = java->depth;
    while (found > 0 && java->frames[found - 1].key != key_of(number))
        found--;
    if (found == 0 || java->frames[found - 1].pending == 0)
        return;
    struct method_frame *frame = &java->frames[found - 1];
    if (!frame_waits(frame)) {
        java->reserved--;
        frame->pending = 0;
        return;
    }
    uint64_t id = event_object_id(session, stream, java->id, jni, object);
    java->pending--;
    if (frame->stream == stream)
        constructor_write(session, stream, java, frame, id);
    frame->pending = 0;
}

/* Closes the innermost frame.  If there is no room it stays: the next exit closes it. */
static bool close_frame(struct session *session, struct os_thread *os, struct live_stream *stream,
                        struct java_thread *java, bool by_exception)
{
    const struct method_frame *frame = &java->frames[java->depth - 1];
    if (__builtin_expect(frame->pending != 0, 0))
        constructor_fails(session, os, java, stream);
    if (!(by_exception ? write_method(session, stream, java->id, STEP_LIVE_FRAME_POP_SHORT,
                                      STEP_LIVE_FRAME_POP, frame->method, 0)
                       : write_method(session, stream, java->id, STEP_LIVE_EXIT_SHORT,
                                      STEP_LIVE_EXIT, frame->method, 0)))
        return false;
    java->depth--;
    return true;
}

void method_left(struct session *session, struct os_thread *os, uint32_t number,
                 enum method_leave how)
{
    struct java_thread *java = thread_known(session, os);
    if (java == NULL || java->depth == 0)
        return;
    struct live_stream *stream = thread_stream(session, os);
    if (stream == NULL)
        return;
    size_t found = java->depth;
    while (found > 0 && java->frames[found - 1].key != key_of(number))
        found--;
    if (found == 0)
        return;
    while (java->depth > found)
        if (!close_frame(session, os, stream, java, true))
            return;
    if (how != LEAVE_CAUGHT)
        close_frame(session, os, stream, java, how == LEAVE_UNWIND);
}
