/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that ends a trace and begins the next one, as the commands stop and start do, and the
 * files that it has made. A file is removed only if it still is the one that was made: the same
 * device and inode. */
#include "agent/session/rotation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/patience.h"
#include "agent/events/agent_thread.h"
#include "agent/records/threads.h"
#include "agent/session/session.h"
#include "capture/log.h"

#define REST_POLL_NS 1000000L
#define REST_POLLS 5000u

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
    struct made_file *files; /* oldest first; the last one is being written */
    size_t count;
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

/* Under the lock. Returns false if no trace follows. */
static bool replace_trace(void)
{
    if (atomic_load(&tracer.session) == NULL || tracer.dying)
        return false; /* it has ended by itself, with a message */
    if (!session_stop(END_STOPPED, COMMAND_PATIENCE_NS))
        return false;
    ring.options->file_number++;
    if (ring.start(ring.options) != JNI_OK) {
        if (!tracer.dying)
            log_message("option rotate: no other trace follows");
        return false;
    }
    note_file();
    while (ring.count > ring.options->keep)
        remove_oldest();
    return true;
}

static void let_go(JNIEnv *jni)
{
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
        semaphore_within(&ring.wanted, ring.options->rotate_ns);
        pthread_mutex_lock(&ring.lock);
        goes_on = ring.state == ROTATES && replace_trace();
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
