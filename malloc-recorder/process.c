/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the program's threads, forks and ends. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc-recorder/interpose.h"
#include "malloc-recorder/own_heap.h"
#include "malloc-recorder/probe_threads.h"
#include "malloc-recorder/program_heaps.h"
#include "malloc-recorder/shared_map.h"
#include "malloc-recorder/stacks/frame_tree.h"
#include "malloc-recorder/stacks/stack_walk.h"

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
typedef void (*exit_function)(int) __attribute__((noreturn));
static create_function real_create;
static pid_t (*real_fork)(void);
static exit_function real_exit, real_exit_c99;
static int (*real_close_library)(void *);

extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* Resolved with the others, because pthread_create() may be the recorder's own call. */
void process_find_real(void)
{
    real_create = (create_function) dlsym(RTLD_NEXT, "pthread_create");
    real_exit = (exit_function) dlsym(RTLD_NEXT, "_exit");
    real_exit_c99 = (exit_function) dlsym(RTLD_NEXT, "_Exit");
    real_fork = (pid_t(*)(void)) dlsym(RTLD_NEXT, "_Fork");
    real_close_library = (int (*)(void *)) dlsym(RTLD_NEXT, "dlclose");
}

/* ---- threads ---- */

struct thread_start {
    void *(*function)(void *);
    void *argument;
    uint64_t number;
};

static void *run_thread(void *data)
{
    struct own_mode own;
    struct thread_start start = *(struct thread_start *) data;
    own_mode_enter(&own);
    free(data);
    own_mode_leave(&own);
    recorder_local.mode = MODE_BUSY;
    record_thread_begin(start.number);
    recorder_local.mode = MODE_PROGRAM;
    return start.function(start.argument);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    recorder_prepare();
    if (recorder_local.mode != MODE_PROGRAM)
        return real_create(thread, attributes, function, argument);
    recorder_local.mode = MODE_BUSY;
    uint64_t number = record_thread_number();
    recorder_local.mode = MODE_PROGRAM;
    struct own_mode own;
    own_mode_enter(&own);
    struct thread_start *start = number != 0 ? malloc(sizeof *start) : NULL;
    own_mode_leave(&own);
    if (start == NULL)
        return real_create(thread, attributes, function, argument);
    *start = (struct thread_start){function, argument, number};
    int code = real_create(thread, attributes, run_thread, start);
    if (code != 0) {
        own_mode_enter(&own);
        free(start);
        own_mode_leave(&own);
    }
    return code;
}

/* Destructors of other keys may still free blocks, so this one waits for the last round. */
static void end_thread(void *data)
{
    recorder_local.mode = MODE_BUSY;
    if (++recorder_local.end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(recorder.exit_key, data);
    } else if (recorder_local.thread == data) {
        record_thread_end();
    }
    recorder_local.mode = MODE_PROGRAM;
}

/* ---- forks ---- */

static struct own_mode fork_mode;

static void before_fork(void)
{
    struct own_mode own;
    own_mode_enter(&own);
    pthread_mutex_lock(&recorder.control_lock);
    pthread_mutex_lock(&frame_tree_lock);
    if (recorder.last != NULL)
        pthread_mutex_lock(&recorder.last->map.lock);
    pthread_mutex_lock(&program_heaps_lock);
    pthread_mutex_lock(&own_heap_lock);
    fork_mode = own;
    recorder_local.fork_stamp = recorder_stamp();
}

static void after_fork_in_parent(void)
{
    struct own_mode own = fork_mode;
    recorder_local.fork_stamp = 0;
    pthread_mutex_unlock(&own_heap_lock);
    pthread_mutex_unlock(&program_heaps_lock);
    if (recorder.last != NULL)
        pthread_mutex_unlock(&recorder.last->map.lock);
    pthread_mutex_unlock(&frame_tree_lock);
    pthread_mutex_unlock(&recorder.control_lock);
    own_mode_leave(&own);
}

/* The live file belongs to the parent, and may not even be mapped here. */
void process_forget_parent(void)
{
    struct recording *recording = recorder.last;
    recorder.last = NULL;
    atomic_store(&recorder_hot.recording, NULL);
    pthread_mutex_init(&recorder.control_lock, NULL);
    record_forget_threads();
    recorder.is_fork = true;
    recorder.fork_stamp = recorder_local.fork_stamp;
    recorder_local.fork_stamp = 0;
    if (recording != NULL) {
        recorder.parent_id = recording->process_id;
        if (!recorder.is_wiped_in_forks)
            shared_map_close(recording);
        recorder.start = clock_moment_now();
        atomic_store(&recorder.missed_early, 0);
    }
    atomic_store(&recorder_hot.state, recording != NULL ? STATE_PENDING : STATE_OFF);
}

static void after_fork_in_child(void)
{
    struct own_mode own = fork_mode;
    pthread_mutex_unlock(&own_heap_lock);
    pthread_mutex_unlock(&program_heaps_lock);
    frame_tree_reset();
    process_forget_parent();
    own_mode_leave(&own);
}

/* No handlers run here; the child resets itself when it allocates. */
EXPORT pid_t _Fork(void)
{
    if (real_fork == NULL)
        recorder_prepare();
    if (real_fork == NULL) {
        errno = ENOSYS; /* a libc without it has no callers of it */
        return -1;
    }
    recorder_local.fork_stamp = recorder_stamp();
    pid_t child = real_fork();
    if (child != 0)
        recorder_local.fork_stamp = 0;
    return child;
}

/* ---- ends ---- */

static void stop_at_exit(void *unused)
{
    (void) unused;
    recorder_stop("exit");
}

static void stop_at_quick_exit(void)
{
    recorder_stop("exit");
}

EXPORT __attribute__((noreturn)) void _exit(int code)
{
    if (real_exit == NULL)
        recorder_prepare();
    recorder_stop("exit");
    real_exit(code);
}

EXPORT __attribute__((noreturn)) void _Exit(int code)
{
    if (real_exit_c99 == NULL)
        recorder_prepare();
    recorder_stop("exit");
    real_exit_c99(code);
}

/* Inspect the library while it is still loaded. */
EXPORT int dlclose(void *library)
{
    recorder_prepare();
    if (recorder_local.mode == MODE_PROGRAM)
        recorder_look_at_libraries();
    int code = real_close_library(library);
    stack_walk_forget();
    return code;
}

/* Called once for the process and its forks, before any handler of the program is registered, so
 * that its handler runs last. */
void process_follow(void)
{
    static bool is_followed;
    if (is_followed)
        return;
    is_followed = true;
    recorder.exit_key_made = pthread_key_create(&recorder.exit_key, end_thread) == 0;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    at_quick_exit(stop_at_quick_exit);
}

__attribute__((constructor)) static void start_with_program(void)
{
    recorder_prepare();
    recorder_report_sanitizer();
}

/* The program's exit functions have run; destructors of libraries are running.  A handler
 * registered now, for no library, runs after those. */
__attribute__((destructor)) static void end_with_program(void)
{
    if (__cxa_atexit(stop_at_exit, NULL, NULL) != 0)
        recorder_stop("exit");
}
