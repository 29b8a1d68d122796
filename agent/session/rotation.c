/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that ends a trace and begins the next one, as the commands stop and start do, and the
 * files that it has made. A file is removed only if it still is the one that was made: the same
 * device and inode. */
#include "agent/session/rotation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/patience.h"
#include "agent/deaths/reaper.h"
#include "agent/events/engine.h"
#include "agent/events/sampled_lives.h"
#include "agent/records/threads.h"
#include "agent/session/session.h"
#include "capture/log.h"

#define REST_POLL_NS 1000000L
#define REST_POLLS 5000u
/* A window also ends when its trace has ended, as by a method of stop=. */
#define WINDOW_POLL_NS UINT64_C(20000000)

struct made_file {
    char *path;
    uint64_t device, inode;
};

/* The lock is held while a trace is replaced, and to change `state`. */
static struct {
    pthread_mutex_t lock;
    enum { RESTS, ROTATES, ENDS } state;
    sem_t wanted;            /* ENDS */
    struct options *options; /* of the first trace */
    struct options *window;  /* of the exact window that is wanted, or that is being recorded */
    bool in_window;
    uint64_t window_from_ns;
    struct made_file *files; /* oldest first; the last one is being written */
    size_t count;
    uint64_t file_number;  /* of the last one */
    jobject thread;        /* global reference */
    rotation_start *start; /* set at load */
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rotation_initialize(rotation_start *start)
{
    ring.start = start;
}

/* ---- files ---- */

/* Notes the file of the trace that has just begun: what has its name later may be another's. */
static void note_file(void)
{
    const struct session *session = tracer.last;
    struct made_file made = {.path = strdup(session->options.file),
                             .device = session->drain.device,
                             .inode = session->drain.inode};
    if (made.path != NULL)
        ring.files[ring.count++] = made;
}

static void remove_oldest(void)
{
    struct made_file *oldest = &ring.files[0];
    struct stat about;
    bool is_ours = lstat(oldest->path, &about) == 0 && S_ISREG(about.st_mode) &&
                   about.st_dev == oldest->device && about.st_ino == oldest->inode;
    if (is_ours && unlink(oldest->path) != 0)
        log_message("%s: the file cannot be removed (keep=)", oldest->path);
    free(oldest->path);
    memmove(ring.files, ring.files + 1, --ring.count * sizeof *ring.files);
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

/* Returns false if the trace has ended by itself, with a message. */
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

static bool begin_file(struct options *options)
{
    options->file_number = ring.file_number + 1;
    if (ring.start(options) != JNI_OK)
        return false;
    ring.file_number++;
    note_file();
    while (ring.count > ring.options->keep)
        remove_oldest();
    return true;
}

/* Under the lock. Returns false if no trace follows. */
static bool replace_trace(struct options *next)
{
    if (!announce_next())
        return false;
    bool begun = session_stop(END_STOPPED, COMMAND_PATIENCE_NS) && begin_file(next);
    if (!begun && next == ring.window) {
        log_message("option window: all objects cannot be recorded; the sample goes on");
        begun = begin_file(ring.options);
    }
    if (begun)
        return true;
    if (!tracer.dying)
        log_message("option rotate: no other trace follows");
    return false;
}

/* ---- exact windows ---- */

static void forget_window(void)
{
    free(ring.window);
    ring.window = NULL;
    ring.in_window = false;
}

static bool begin_window(void)
{
    bool goes_on = replace_trace(ring.window);
    ring.in_window = goes_on && tracer.last->options.engine != ENGINE_SAMPLED;
    ring.window_from_ns = clock_monotonic_ns();
    if (!ring.in_window)
        forget_window();
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
    return ring.in_window        ? end_window()
           : ring.window != NULL ? begin_window()
                                 : replace_trace(ring.options);
}

static void let_go(JNIEnv *jni)
{
    forget_window();
    end_engine();
    if (thread_leave_in(ring.thread))
        (*jni)->DeleteGlobalRef(jni, ring.thread);
    while (ring.count > 0)
        free(ring.files[--ring.count].path);
    free(ring.files);
    free(ring.options);
    sem_destroy(&ring.wanted);
    ring.state = RESTS;
}

static void JNICALL run(jvmtiEnv *jvmti, JNIEnv *jni, void *data)
{
    (void) jvmti, (void) data;
    for (bool goes_on = true; goes_on;) {
        semaphore_within(&ring.wanted, ring.in_window ? WINDOW_POLL_NS : ring.options->rotate_ns);
        pthread_mutex_lock(&ring.lock);
        goes_on = ring.state == ROTATES && next_step();
        if (!goes_on)
            let_go(jni);
        pthread_mutex_unlock(&ring.lock);
    }
}

static bool start_thread(JNIEnv *jni)
{
    jthread thread = agent_thread_new(jni, "StepTrace rotation");
    ring.thread = thread != NULL ? (*jni)->NewGlobalRef(jni, thread) : NULL;
    if (ring.thread == NULL)
        return false;
    thread_leave_out(ring.thread);
    jvmtiError code =
        (*tracer.jvmti)
            ->RunAgentThread(tracer.jvmti, thread, run, NULL, JVMTI_THREAD_NORM_PRIORITY);
    (*jni)->DeleteLocalRef(jni, thread);
    return code == JVMTI_ERROR_NONE;
}

/* Under the lock, while the ring rests. */
static void begin(JNIEnv *jni, const struct options *options)
{
    sem_init(&ring.wanted, 0, 0);
    ring.count = 0;
    ring.file_number = options->file_number;
    ring.thread = NULL;
    ring.options = malloc(sizeof *ring.options);
    ring.files = calloc(options->keep + 2, sizeof *ring.files);
    ring.state = ROTATES;
    if (ring.options != NULL && ring.files != NULL) {
        *ring.options = *options;
        note_file();
    }
    if (ring.options != NULL && ring.files != NULL && start_thread(jni))
        return;
    log_message("the thread that changes files could not be started: the trace stays in one file");
    let_go(jni);
}

/* Under the lock: waits for the thread of the trace before. */
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
    JNIEnv *jni = NULL;
    if (options->rotate_ns == 0 ||
        (*tracer.vm)->GetEnv(tracer.vm, (void **) &jni, JNI_VERSION_1_8) != JNI_OK ||
        !lock_within(&ring.lock, COMMAND_PATIENCE_NS))
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
        sem_post(&ring.wanted);
    }
    pthread_mutex_unlock(&ring.lock);
}

/* The window's file is one of the ring's, and its call stacks are as deep. */
static struct options *options_of_window(const struct options *options)
{
    struct options *window = malloc(sizeof *window);
    if (window == NULL)
        return NULL;
    *window = *options;
    snprintf(window->file, sizeof window->file, "%s", ring.options->file);
    window->rotate_ns = ring.options->rotate_ns;
    window->keep = ring.options->keep;
    window->resolution_ns = ring.options->resolution_ns;
    window->mode = ring.options->mode;
    window->overwrite = ring.options->overwrite;
    window->existing = false;
    window->engine_named = true; /* its deaths are not those that the JVM reports */
    if ((options->named & NAMED_STACK) == 0)
        window->stack = ring.options->stack;
    return window;
}

bool rotation_window(const struct options *options)
{
    if (!lock_within(&ring.lock, COMMAND_PATIENCE_NS))
        return false;
    bool is_possible = ring.state == ROTATES && ring.window == NULL;
    if (is_possible)
        ring.window = options_of_window(options);
    if (!is_possible)
        log_message("option window: %s", ring.window != NULL
                                             ? "another window is being recorded"
                                             : "no sample is being recorded in files of rotate=");
    is_possible = is_possible && ring.window != NULL;
    if (is_possible)
        sem_post(&ring.wanted);
    pthread_mutex_unlock(&ring.lock);
    return is_possible;
}
