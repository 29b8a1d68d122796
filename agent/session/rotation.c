/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that ends a trace and begins the next one, as the commands stop and start do.
 *
 * A sample without rotate= gets the thread when the first exact window is asked for. */
#include "agent/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/events/engine.h"
#include "agent/events/sampled_lives.h"
#include "agent/records/agent_thread.h"
#include "agent/records/redaction.h"
#include "agent/records/threads.h"
#include "capture/log.h"

#define REST_POLL_NS 1000000L
#define REST_POLLS 5000u
/* A window also ends when its trace has ended, as by a method of stop=. */
#define WINDOW_POLL_NS UINT64_C(20000000)
/* The thread looks whether the trace has ended by itself. */
#define LOOK_NS SECOND_NS

/* The lock is held while a trace is replaced, and to change `state`. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the thread: something is wanted */
    bool wanted;
    enum { RESTS, ROTATES, ENDS } state;
    uint64_t number;         /* of the traces: session.ring_number */
    struct options *options; /* of the first trace */
    uint64_t due_ns;         /* when the next file begins */
    bool lacks_file;         /* the last one could not begin, or failed: it is due, too */
    struct options *window;  /* of the exact window that is wanted, or that is being recorded */
    bool waits;              /* it is not wanted before a method of start= is entered */
    char waits_for[STEP_LIVE_WAITS_BYTES]; /* those methods */
    uint64_t entered_ns;                   /* when that happened; 0: the window has no start= */
    _Atomic bool starts;                   /* the thread that entered it waits for the window */
    bool in_window;
    uint64_t window_from_ns;
    uint64_t file_number;  /* of the file that is being written */
    jobject thread;        /* global reference */
    rotation_start *start; /* set at load */
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rotation_initialize(rotation_start *start)
{
    condition_initialize(&ring.changed);
    ring.start = start;
}

/* Under the lock, as all that follows. */
static void want(void)
{
    ring.wanted = true;
    pthread_cond_signal(&ring.changed);
}

/* Waits until something is wanted, for that time at most. */
static void rotation_await(uint64_t limit_ns)
{
    struct timespec until;
    uint64_t until_ns = clock_monotonic_ns() + limit_ns;
    until.tv_sec = (time_t) (until_ns / SECOND_NS);
    until.tv_nsec = (long) (until_ns % SECOND_NS);
    for (int code = 0; !ring.wanted && code == 0;)
        code = pthread_cond_timedwait(&ring.changed, &ring.lock, &until);
    ring.wanted = false;
}

/* ---- a window that waits ---- */

/* The live file says what is waited for: steptrace attach --status. */
static void tell_waiting(const char *methods)
{
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    char *text = session->map->header->waits_for;
    if (redaction_of_names(session) && methods[0] != '\0')
        methods = "a method of start=";
    snprintf(text, STEP_LIVE_WAITS_BYTES, "%s", methods);
    probe_leave(os);
}

static void forget_window(void)
{
    if (ring.waits) {
        trigger_disarm();
        tell_waiting("");
    }
    free(ring.window);
    ring.window = NULL;
    ring.waits = ring.in_window = false;
    atomic_store(&ring.starts, false);
}

/* Returns false if no thread enters a method of start= to begin the window. */
static bool wait_for_start(JNIEnv *jni)
{
    options_list_methods(ring.window, &ring.window->start_at, ring.waits_for,
                         sizeof ring.waits_for);
    ring.waits = trigger_arm_window(ring.window, jni);
    if (ring.waits)
        tell_waiting(ring.waits_for);
    ring.window->start_at.count = 0; /* its trace begins at once, then */
    return ring.waits;
}

/* ---- the thread ---- */

/* Ends what the engine kept for the file that does not follow. */
static void end_engine(void)
{
    if (!control_take(COMMAND_PATIENCE_NS))
        return;
    if (tracer.last != NULL)
        tracer.last->is_followed = false;
    if (tracer.last != NULL && sampled_lives_are_paused())
        engine_sampled.enable(tracer.last, false);
    control_give_back();
}

/* Returns false if the trace has ended by itself, with a message.
 *
 * Marks the ending trace as followed. The engine looks at that mark when it is disabled:
 * engine=sampled then keeps its tags and references instead of deleting them, and deaths between
 * the two files are noted for the next one (sampled_lives_pause()). Without the mark the objects of
 * the first file would never be known to die. */
static bool announce_next(void)
{
    bool goes_on = control_take(COMMAND_PATIENCE_NS);
    if (!goes_on)
        return false;
    goes_on = (atomic_load(&tracer.session) != NULL || ring.in_window) && !tracer.dying;
    if (goes_on)
        tracer.last->is_followed = true;
    control_give_back();
    return goes_on;
}

/* The old files are removed after the new one has begun. The other order would lose an old one for
 * nothing if the new one cannot be made. */
static bool begin_file(struct options *options)
{
    options->file_number = ring.file_number + 1;
    if (ring.start(options) != JNI_OK)
        return false;
    ring.file_number++;
    ring_files_note(ring.options);
    ring_files_keep(ring.options->keep);
    if (ring.waits)
        tell_waiting(ring.waits_for);
    return true;
}

static void set_due(void)
{
    uint64_t rotate_ns = ring.options->rotate_ns;
    ring.due_ns = rotate_ns != 0 ? clock_monotonic_ns() + rotate_ns : UINT64_MAX;
}

static bool change_files(struct options *next)
{
    if (!session_stop(END_STOPPED, COMMAND_PATIENCE_NS))
        return false;
    ring_files_name_first(ring.options, ring.file_number);
    return begin_file(next);
}

/* A name that cannot be used, or a full disk, ends no ring. Returns false if there is none. */
static bool waits_for_file(void)
{
    if (tracer.dying)
        return false;
    end_engine();
    ring.lacks_file = ring.options->rotate_ns != 0;
    log_message(ring.lacks_file ? "%s: no trace is being recorded until the next file begins"
                                : "%s: no other trace follows",
                ring.options->file);
    return ring.lacks_file;
}

/* Returns false if no trace follows.
 *
 * An exact window that cannot begin does not cost the sample: the next file of the sample is begun
 * in its place. Ids go on across the files: session_prepare() starts with the first id that the
 * last file does not have, and the tags of all files carry the number of the first session
 * (classes.h), so an object that was tagged in an earlier file is recognised, and its death is
 * written as one of an earlier file. */
static bool replace_trace(struct options *next)
{
    if (!announce_next())
        return false;
    bool begun = change_files(next);
    if (!begun && next == ring.window) {
        log_message("option window: recording all objects failed; the sample continues");
        begun = begin_file(ring.options);
    }
    set_due();
    return begun || waits_for_file();
}

/* The file that is missing is tried when the next one would have begun. */
static bool begin_missing_file(void)
{
    ring.lacks_file = false;
    bool begun = begin_file(ring.options);
    set_due();
    return begun || waits_for_file();
}

/* Returns true if it ended by itself because its file could not be written. */
static bool last_has_failed(void)
{
    bool has_failed = false;
    if (control_take(COMMAND_PATIENCE_NS)) {
        has_failed = tracer.last != NULL && session_has_ended(tracer.last) &&
                     (tracer.last->end == END_DISK_FULL || tracer.last->end == END_FAILED);
        control_give_back();
    }
    return has_failed;
}

/* ---- exact windows ---- */

/* The probes of start= methods go first: the window's own follow. */
static bool begin_window(void)
{
    if (ring.entered_ns != 0 && !trigger_disarm()) {
        forget_window();
        return true;
    }
    bool goes_on = replace_trace(ring.window);
    ring.in_window = goes_on && tracer.last->options.engine != ENGINE_SAMPLED;
    ring.window_from_ns = clock_monotonic_ns();
    if (!ring.in_window)
        forget_window();
    else if (ring.entered_ns != 0)
        atomic_store(&tracer.last->start_wait_ns, ring.window_from_ns - ring.entered_ns);
    atomic_store(&ring.starts, false);
    return goes_on;
}

static bool end_window(void)
{
    bool is_over = atomic_load(&tracer.session) == NULL ||
                   clock_monotonic_ns() - ring.window_from_ns >= ring.window->window_ns;
    if (!is_over)
        return true;
    bool goes_on = replace_trace(ring.options);
    forget_window();
    return goes_on;
}

static bool next_step(void)
{
    if (ring.in_window)
        return end_window();
    if (ring.lacks_file)
        return clock_monotonic_ns() < ring.due_ns || begin_missing_file();
    if (ring.window != NULL && !ring.waits)
        return begin_window();
    if (atomic_load(&tracer.session) == NULL)
        return last_has_failed() && waits_for_file(); /* it has ended by itself */
    return clock_monotonic_ns() < ring.due_ns || replace_trace(ring.options);
}

static uint64_t until_next_step(void)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t rest_ns = ring.due_ns > now_ns ? ring.due_ns - now_ns : 0;
    if (ring.in_window)
        return WINDOW_POLL_NS;
    return rest_ns < LOOK_NS ? rest_ns : LOOK_NS;
}

static void rotation_let_go(JNIEnv *jni)
{
    forget_window();
    end_engine();
    if (thread_leave_in(ring.thread))
        (*jni)->DeleteGlobalRef(jni, ring.thread);
    ring_files_forget();
    free(ring.options);
    ring.state = RESTS;
}

static void JNICALL rotation_run(jvmtiEnv *jvmti, JNIEnv *jni, void *data)
{
    (void) jvmti, (void) data;
    pthread_mutex_lock(&ring.lock);
    do
        rotation_await(until_next_step());
    while (ring.state == ROTATES && next_step());
    rotation_let_go(jni);
    pthread_mutex_unlock(&ring.lock);
}

/* While the ring rests, and the control lock is held or the trace has just begun. */
static void begin(JNIEnv *jni, const struct options *options)
{
    ring.wanted = ring.lacks_file = false;
    ring.number = tracer.last->ring_number;
    ring.file_number = options->file_number;
    ring.thread = NULL;
    ring.options = options_copy(options);
    bool is_possible = ring_files_begin(options->keep) && ring.options != NULL;
    ring.state = ROTATES;
    if (is_possible) {
        set_due();
        ring_files_note(ring.options);
    }
    if (is_possible &&
        agent_thread_start(jni, "StepTrace rotation", rotation_run, NULL, &ring.thread))
        return;
    log_message("the thread that changes files could not be started: the trace stays in one file");
    rotation_let_go(jni);
}

/* Waits for the thread of the trace before. */
static void await_rest(void)
{
    for (unsigned i = 0; ring.state == ENDS && i < REST_POLLS; i++) {
        pthread_mutex_unlock(&ring.lock);
        nanosleep(&(struct timespec){0, REST_POLL_NS}, NULL);
        pthread_mutex_lock(&ring.lock);
    }
}

void rotation_begin(const struct options *options)
{
    JNIEnv *jni = options->rotate_ns != 0 ? jvm_jni() : NULL;
    if (jni == NULL || !lock_within(&ring.lock, COMMAND_PATIENCE_NS))
        return;
    await_rest();
    if (ring.state == RESTS)
        begin(jni, options);
    else
        log_message("the files of another trace are still being changed: the trace stays in one "
                    "file");
    pthread_mutex_unlock(&ring.lock);
}

void rotation_end(void)
{
    if (!lock_within(&ring.lock, COMMAND_PATIENCE_NS))
        return;
    if (ring.state == ROTATES) {
        ring.state = ENDS;
        want();
    }
    pthread_mutex_unlock(&ring.lock);
}

/* The window's file is one of the ring's, and its call stacks are as deep. */
static struct options *options_of_window(const struct options *options)
{
    struct options *window = options_copy(options);
    if (window == NULL)
        return NULL;
    snprintf(window->file, sizeof window->file, "%s", ring.options->file);
    window->rotate_ns = ring.options->rotate_ns;
    window->keep = ring.options->keep;
    window->resolution_ns = ring.options->resolution_ns;
    window->mode = ring.options->mode;
    window->overwrite = ring.options->overwrite;
    window->existing = false;
    options_limit(window, ring.options); /* as the files between which it stands */
    window->named |= NAMED_ENGINE;       /* its deaths are not those that the JVM reports */
    if ((options->named & NAMED_STACK) == 0)
        window->stack = ring.options->stack;
    return window;
}

/* Makes the sample that is being recorded the first file of a ring, if it is none of one. Returns
 * false if there is no such sample. */
static bool join_sample(JNIEnv *jni)
{
    if (!control_take(COMMAND_PATIENCE_NS))
        return false;
    const struct session *session = tracer.last;
    bool is_sampled =
        atomic_load(&tracer.session) != NULL && session->options.engine == ENGINE_SAMPLED;
    if (is_sampled && ring.state == RESTS)
        begin(jni, &session->options);
    bool is_joined = is_sampled && ring.state == ROTATES && ring.number == session->ring_number;
    control_give_back();
    return is_joined;
}

/* Returns false if no window can be recorded, with a message. */
static bool window_is_possible(JNIEnv *jni)
{
    if (ring.window != NULL)
        log_message("option window: another window is being recorded");
    else if (!join_sample(jni))
        log_message("option window: no sample is being recorded (engine=sampled)");
    else
        return ring_files_first_can_be_named(ring.options, ring.file_number);
    return false;
}

/* A window that waits for its start gives way to this one. */
static bool take_window(const struct options *options, JNIEnv *jni)
{
    if (ring.waits)
        forget_window();
    if (!window_is_possible(jni) || (ring.window = options_of_window(options)) == NULL)
        return false;
    ring.entered_ns = 0;
    if (ring.window->start_at.count == 0) {
        want();
        return true;
    }
    bool waits = wait_for_start(jni);
    if (!waits)
        forget_window();
    return waits;
}

bool rotation_window(const struct options *options)
{
    JNIEnv *jni = jvm_jni();
    if (jni == NULL || !lock_within(&ring.lock, COMMAND_PATIENCE_NS))
        return false;
    bool taken = take_window(options, jni);
    pthread_mutex_unlock(&ring.lock);
    return taken;
}

/* ---- the thread of the program that begins a window ---- */

static bool has_begun(void *unused)
{
    (void) unused;
    return !atomic_load(&ring.starts) || tracer.dying;
}

bool rotation_window_entered(void)
{
    if (!lock_within(&ring.lock, SECOND_NS))
        return false;
    bool is_start = ring.state == ROTATES && ring.waits && trigger_was_entered();
    if (is_start) {
        ring.waits = false;
        ring.entered_ns = clock_monotonic_ns();
        atomic_store(&ring.starts, true);
        want();
    }
    pthread_mutex_unlock(&ring.lock);
    if (is_start && !succeeds_within(has_begun, NULL, PATIENCE_NS))
        log_message("option window: the method of start= was not delayed any longer: its "
                    "allocations before the window began are missing");
    return is_start;
}
