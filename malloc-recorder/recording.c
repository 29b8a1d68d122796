/* SPDX-License-Identifier: Apache-2.0 */
/* A recording's start and end, as the program sees them. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/log.h"
#include "malloc-recorder/drain_start.h"
#include "malloc-recorder/heap_blocks.h"
#include "malloc-recorder/heap_numbers.h"
#include "malloc-recorder/import_slots.h"
#include "malloc-recorder/interpose.h"
#include "malloc-recorder/interpose_heaps.h"
#include "malloc-recorder/malloc_probes.h"
#include "malloc-recorder/own_heap.h"
#include "malloc-recorder/probe_threads.h"
#include "malloc-recorder/shared_map.h"
#include "malloc-recorder/stacks/frame_tree.h"
#include "malloc-recorder/stacks/unwind_rule.h"

#define OPTIONS_VARIABLE "STEPTRACE_MALLOC"
#define OWNER_VARIABLE "STEPTRACE_MALLOC_PROCESS"
#define DEFAULT_OPTIONS "file=steptrace-%p.step"
#define QUIET_NS 50000L
#define CLOSED_NS INT64_C(1000000000)
#define QUIET_MOST_NS INT64_C(5000000000)

struct recorder recorder = {.control_lock = PTHREAD_MUTEX_INITIALIZER};
union recorder_hot recorder_hot;

void own_mode_enter(struct own_mode *own)
{
    sigset_t all;
    own->saved_errno = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own->signals);
    own->mode = recorder_local.mode;
    recorder_local.mode = MODE_OWN;
}

void own_mode_leave(const struct own_mode *own)
{
    recorder_local.mode = own->mode;
    pthread_sigmask(SIG_SETMASK, &own->signals, NULL);
    errno = own->saved_errno;
}

uint64_t recorder_stamp(void)
{
    static _Atomic uint64_t last;
    uint64_t now = clock_raw() - recorder.start.raw;
    if (__builtin_expect(clock_uses_counter, 1))
        return now;
    uint64_t before = atomic_load(&last), stamp;
    do
        stamp = now > before ? now : before + 1;
    while (!atomic_compare_exchange_weak(&last, &before, stamp));
    return stamp;
}

/* ---- start ---- */

/* A name without the process id is that of one process: the one that `steptrace record-malloc`
 * started.  Others that it starts are not recorded. */
static bool may_use_name(bool names_processes)
{
    const char *owner = getenv(OWNER_VARIABLE);
    if (names_processes)
        return true;
    return !recorder.is_fork && (owner == NULL || strtol(owner, NULL, 10) == (long) getpid());
}

/* The drain has another directory. */
static bool make_absolute(char *name)
{
    char relative[OPTION_TEXT];
    if (name[0] == '/')
        return true;
    memcpy(relative, name, sizeof relative);
    if (getcwd(name, OPTION_TEXT) == NULL)
        return false;
    size_t used = strlen(name);
    return (size_t) snprintf(name + used, OPTION_TEXT - used, "/%s", relative) < OPTION_TEXT - used;
}

static bool begin(struct recording *recording, const char *text)
{
    if (!options_parse_shared(&recording->options, text))
        return false;
    if (!make_absolute(recording->options.file)) {
        log_message("%s: cannot be found from every directory", recording->options.file);
        return false;
    }
    /* streams 0 and 1 have a meaning of their own in Java traces */
    return drain_start(recording, strstr(text, "%p") != NULL) &&
           (recording->global = live_stream_create(&recording->map, true)) != NULL &&
           live_stream_create(&recording->map, true) != NULL;
}

static struct recording *create(void)
{
    const char *text = getenv(OPTIONS_VARIABLE);
    if (text == NULL || text[0] == '\0')
        text = DEFAULT_OPTIONS;
    if (!may_use_name(strstr(text, "%p") != NULL))
        return NULL;
    struct recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return NULL;
    recording->number = atomic_fetch_add(&recorder.recording_count, 1) + 1;
    recording->process_id = (uint64_t) getpid();
    if (!begin(recording, text)) {
        if (recording->options.required && !recorder.is_fork)
            _exit(EXIT_FAILURE);
        shared_map_close(recording);
        free(recording);
        return NULL;
    }
    return recording;
}

static void start(void)
{
    struct recording *recording = create();
    if (recording != NULL) {
        interpose_heaps();
        record_early(recording);
    }
    recorder.last = recording;
    atomic_store(&recorder_hot.recording, recording);
    atomic_store(&recorder_hot.state, recording != NULL ? STATE_ON : STATE_OFF);
}

static void start_pending(void)
{
    int pending = STATE_PENDING;
    if (environ == NULL ||
        !atomic_compare_exchange_strong(&recorder_hot.state, &pending, STATE_STARTING))
        return;
    struct own_mode own;
    own_mode_enter(&own);
    process_follow();
    start();
    own_mode_leave(&own);
}

static void find_real(void)
{
    unwind_rule_prepare();
    real.calloc = (void *(*) (size_t, size_t)) dlsym(RTLD_NEXT, "calloc");
    real.realloc = (void *(*) (void *, size_t)) dlsym(RTLD_NEXT, "realloc");
    real.free = (void (*)(void *)) dlsym(RTLD_NEXT, "free");
    real.posix_memalign = (int (*)(void **, size_t, size_t)) dlsym(RTLD_NEXT, "posix_memalign");
    real.aligned_alloc = (void *(*) (size_t, size_t)) dlsym(RTLD_NEXT, "aligned_alloc");
    real.memalign = (void *(*) (size_t, size_t)) dlsym(RTLD_NEXT, "memalign");
    real.valloc = (void *(*) (size_t)) dlsym(RTLD_NEXT, "valloc");
    real.pvalloc = (void *(*) (size_t)) dlsym(RTLD_NEXT, "pvalloc");
    real.malloc_usable_size = (size_t(*)(void *)) dlsym(RTLD_NEXT, "malloc_usable_size");
    process_find_real();
    real.malloc = (void *(*) (size_t)) dlsym(RTLD_NEXT, "malloc"); /* the last: see is_own() */
}

/* The page is new memory, since that of a file cannot be cleared in forks. */
static void clear_page_in_forks(void)
{
    void *page = &recorder_hot;
    if (mmap(page, sizeof recorder_hot, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        recorder.is_wiped_in_forks = madvise(page, sizeof recorder_hot, MADV_WIPEONFORK) == 0;
}

static void resolve(void)
{
    recorder_local.mode = MODE_OWN;
    clear_page_in_forks();
    log_only_to_this_stderr();
    find_real();
    record_initialize();
    clock_select(CLOCK_AUTO);
    recorder.start = clock_moment_now();
    recorder.is_resolved = true;
    atomic_store(&recorder_hot.state, STATE_PENDING);
    recorder_local.mode = MODE_PROGRAM;
}

/* A child of _Fork() or the bare system call: fork()'s handlers have not run, and what other
 * threads of the parent held is held for ever. */
static void adopt_fork(void)
{
    struct own_mode own;
    own_mode_enter(&own);
    own_heap_reset();
    if (recorder_local.fork_stamp == 0 || !heap_numbers_adopt() || !heap_blocks_adopt()) {
        recorder_local.fork_stamp = 0;
        heap_numbers_reset();
        heap_blocks_reset();
    }
    frame_tree_reset();
    process_forget_parent();
    own_mode_leave(&own);
}

void recorder_prepare(void)
{
    if (atomic_load(&recorder_hot.state) == STATE_UNRESOLVED &&
        recorder_local.mode == MODE_PROGRAM) {
        if (recorder.is_resolved)
            adopt_fork();
        else
            resolve();
    }
    if (atomic_load(&recorder_hot.state) == STATE_PENDING)
        start_pending();
}

/* ---- libraries that the recorder is not in front of ---- */

static void look_at_import(void *user, const struct import_slot *slot)
{
    struct recording *recording = user;
    const void *const functions[] = {(void *) real.malloc, (void *) real.calloc,
                                     (void *) real.realloc, (void *) real.free};
    bool bypasses = false;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        bypasses = bypasses || *slot->place == functions[i];
    if (!bypasses || slot->is_inside || recording->control->bypassed[0] != '\0')
        return;
    snprintf(recording->control->bypassed, sizeof recording->control->bypassed, "%s",
             slot->library);
    log_message("%s calls the allocator past the recorder (was it opened with RTLD_DEEPBIND?): "
                "what it allocates is missing",
                slot->library);
}

void recorder_look_at_libraries(void)
{
    struct recording *recording = recorder.last;
    struct own_mode own;
    if (recording == NULL || recording->process_id != (uint64_t) getpid())
        return;
    own_mode_enter(&own);
    import_slots_each(look_at_import, recording);
    own_mode_leave(&own);
}

/* ---- end ---- */

static void turn_off(void)
{
    atomic_store(&recorder_hot.state, STATE_OFF);
    atomic_store(&recorder_hot.recording, NULL);
    record_order_probes();
}

static void say_message(const struct recording *recording)
{
    const struct drain_control *control = recording->control;
    uint32_t length = atomic_load(&control->message_bytes);
    if (length != 0 && length < sizeof control->message)
        log_message("%.*s", (int) length, control->message);
}

/* Its memory stays: another thread may be in a probe. */
void recorder_give_up(struct recording *recording)
{
    struct recording *current = recording;
    if (!atomic_compare_exchange_strong(&recorder_hot.recording, &current, NULL))
        return;
    atomic_store(&recorder_hot.state, STATE_OFF);
    if (atomic_load(&recording->control->is_closed))
        return; /* said at the end */
}

static bool is_silent(struct recording *recording)
{
    return !shared_map_is_drained(&recording->map);
}

/* Until no thread is in a probe; what they still write is drained meanwhile.  A thread that left
 * the allocator by a jump is never outside again. */
static void wait_until_quiet(struct recording *recording)
{
    int64_t waited_ns = 0;
    while (!record_all_outside() && waited_ns < QUIET_MOST_NS) {
        nanosleep(&(struct timespec){0, QUIET_NS}, NULL);
        waited_ns += QUIET_NS;
        if (waited_ns % CLOSED_NS == 0 && is_silent(recording))
            return;
    }
}

static void wait_until_closed(struct recording *recording)
{
    struct drain_control *control = recording->control;
    while (!atomic_load(&control->is_closed)) {
        uint32_t seen = atomic_load(&control->closed.count);
        if (!atomic_load(&control->is_closed) &&
            !futex_gate_wait(&control->closed, seen, CLOSED_NS) && is_silent(recording)) {
            log_message("%s: its drain does not answer: the trace has to be recovered",
                        recording->options.file);
            return;
        }
    }
}

static void end_recording(struct recording *recording, const char *end)
{
    recorder_look_at_libraries();
    struct drain_control *control = recording->control;
    turn_off();
    wait_until_quiet(recording);
    atomic_fetch_add(&control->missed, atomic_exchange(&recorder.missed_early, 0));
    snprintf(control->end, sizeof control->end, "%s", end);
    atomic_store(&control->end_wanted, 1);
    futex_gate_open(&control->shared.work);
    wait_until_closed(recording);
    say_message(recording);
    recorder.last = NULL;
}

void recorder_stop(const char *end)
{
    struct recorder_thread *thread = recorder_local.thread;
    if (recorder_local.mode != MODE_PROGRAM ||
        (thread != NULL && atomic_load(&thread->in_probe) != 0))
        return; /* a signal handler ends the program inside malloc: the live file has it all */
    if (recorder.last == NULL || recorder.last->process_id != (uint64_t) getpid())
        return;
    struct own_mode own;
    own_mode_enter(&own);
    pthread_mutex_lock(&recorder.control_lock);
    struct recording *recording = recorder.last;
    if (recording != NULL)
        end_recording(recording, end);
    pthread_mutex_unlock(&recorder.control_lock);
    own_mode_leave(&own);
}
