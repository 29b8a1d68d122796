/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of a recording in the traced program: starts the drain, maps the live file, and
 * stops the probes. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/detached.h"
#include "capture/log.h"
#include "capture/provenance.h"
#include "malloc-recorder/allocator_order.h"
#include "malloc-recorder/import_slots.h"
#include "malloc-recorder/interpose.h"
#include "malloc-recorder/malloc_probes.h"
#include "malloc-recorder/own_heap.h"
#include "malloc-recorder/probe_threads.h"
#include "malloc-recorder/program_heaps.h"
#include "malloc-recorder/recorder.h"
#include "malloc-recorder/shared_map.h"
#include "malloc-recorder/stacks/frame_tree.h"
#include "malloc-recorder/stacks/unwind_rule.h"

/* ---- the drain's program, and the arguments that it is started with ---- */

#define PROGRAM "steptrace-drain"
#define PLACE_VARIABLE "STEPTRACE_MALLOC_DRAIN"
#define ATTEMPTS 16u
#define REPLY_MOST_MS 30000
#define NUMBERS_TEXT 512

/* ---- where it lies ---- */

static bool try_place(char *out, const char *directory, const char *below)
{
    char place[2 * PATH_MAX];
    snprintf(place, sizeof place, "%s/%s" PROGRAM, directory, below);
    return access(place, X_OK) == 0 && realpath(place, out) != NULL;
}

/* Returns its path: beside this library in a build tree, else where it is installed. */
static const char *find_program(void)
{
    static char found[PATH_MAX];
    const char *named = secure_getenv(PLACE_VARIABLE);
    Dl_info info;
    char directory[PATH_MAX];
    if (found[0] != '\0')
        return found;
    if (named != NULL && named[0] != '\0')
        return realpath(named, found) != NULL ? found : NULL;
    if (dladdr((void *) &recorder, &info) == 0 || realpath(info.dli_fname, directory) == NULL)
        return NULL;
    *strrchr(directory, '/') = '\0';
    static const char *const below[] = {"", "../libexec/steptrace/", "../../libexec/steptrace/",
                                        "../../../libexec/steptrace/"};
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
        if (try_place(found, directory, below[i]))
            return found;
    found[0] = '\0';
    return NULL;
}

/* ---- starting it ---- */

/* Returns false if the drain does not reply in time, for example because a disk does not
 * respond. */
static bool await_reply(int file)
{
    struct pollfd reply = {.fd = file, .events = POLLIN};
    int code;
    do
        code = poll(&reply, 1, REPLY_MOST_MS);
    while (code < 0 && errno == EINTR);
    return code > 0;
}

static void read_reply(int file, char *reply, size_t most)
{
    size_t used = 0;
    while (used < most - 1 && await_reply(file)) {
        ssize_t got = read(file, reply + used, most - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t) got;
    }
    reply[used] = '\0';
}

/* Starts the drain and reads its reply.  Returns 0, or an errno. */
static int recording_ask(char *const *arguments, char *reply, size_t most)
{
    char *const no_variables[] = {NULL};
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return errno;
    struct detached detached = {.arguments = arguments,
                                .environment = no_variables,
                                .descriptors = &pipe_ends[1],
                                .descriptor_count = 1};
    int code = detached_start(&detached);
    close(pipe_ends[1]);
    read_reply(pipe_ends[0], reply, most);
    close(pipe_ends[0]);
    return code;
}

/* ---- what the drain gets ---- */

static void recording_print_numbers(const struct recording *recording, char *out)
{
    const struct drain_numbers numbers = {.address = (uintptr_t) recording->base,
                                          .range_bytes = recording->range_bytes,
                                          .buffer_bytes = recording->options.buffer_bytes,
                                          .limit_bytes = recording->options.limit_bytes,
                                          .stack = recording->options.stack,
                                          .level = recording->options.level,
                                          .overwrite = recording->options.overwrite,
                                          .mode = recording->options.mode,
                                          .uses_counter = clock_uses_counter,
                                          .start_raw = recorder.start.raw,
                                          .start_monotonic_ns = recorder.start.monotonic_ns,
                                          .start_wall_ns = recorder.start.wall_ns,
                                          .parent = recorder.is_fork ? recorder.parent_id : 0,
                                          .parent_process = (uint64_t) getppid(),
                                          .fork_stamp = recorder.fork_stamp};
    int used = 0;
#define X(name)                                                                                    \
    used += snprintf(out + used, NUMBERS_TEXT - (size_t) used, "%" PRIx64 ",", numbers.name);
    DRAIN_NUMBERS(X)
#undef X
}

static bool is_started(struct recording *recording, const char *place, char *reply, size_t most)
{
    char layout[24], program[40], numbers[NUMBERS_TEXT];
    snprintf(layout, sizeof layout, "%" PRIx64, (uint64_t) DRAIN_LAYOUT);
    snprintf(program, sizeof program, "program=%" PRIu64, recording->process_id);
    recording_print_numbers(recording, numbers);
    char *const arguments[] = {(char *) place,          layout,  program, recording->options.file,
                               recording->options.text, numbers, NULL};
    int code = recording_ask(arguments, reply, most);
    if (code != 0)
        log_message("%s: %s", place, strerror(code));
    return code == 0;
}

/* Starts the process that writes the trace, not as a child of this one, and maps the file shared
 * with it.  A failure is reported on stderr. */
static bool drain_start(struct recording *recording)
{
    char reply[OPTION_TEXT + sizeof STEP_LIVE_SUFFIX + 1];
    const char *place = find_program();
    if (place == NULL) {
        log_message(PROGRAM " is not where libmalloctracer.so is (" PLACE_VARIABLE
                            " names its place): nothing is recorded");
        return false;
    }
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!shared_map_reserve(recording, attempt)) {
            log_message("%s: no address space is left for the live file", recording->options.file);
            return false;
        }
        if (!is_started(recording, place, reply, sizeof reply))
            return false;
        if (strcmp(reply, DRAIN_ADDRESS_TAKEN) != 0)
            break;
        shared_map_close(recording);
    }
    if (reply[0] == '\0')
        return false;
    if (recording->base != NULL && shared_map_open(recording, reply))
        return true;
    log_message("%s: cannot be mapped", reply);
    return false;
}

#define OPTIONS_VARIABLE "STEPTRACE_MALLOC"
#define OWNER_VARIABLE "STEPTRACE_MALLOC_PROCESS"
#define DEFAULT_OPTIONS "file=steptrace-%p.step"
#define QUIET_NS 50000L
#define CLOSED_NS INT64_C(1000000000)
#define QUIET_MOST_NS INT64_C(5000000000)

/* ---- start ---- */

/* A name without the process id is for one process only: the one that `steptrace record-malloc`
 * started.  Processes that it starts are then not recorded. */
static bool may_use_name(bool names_processes)
{
    const char *owner = secure_getenv(OWNER_VARIABLE);
    if (names_processes)
        return true;
    return !recorder.is_fork && (owner == NULL || strtol(owner, NULL, 10) == (long) getpid());
}

/* Needed because the drain has another working directory. */
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

/* Returns false, after reporting why, if the program's allocations would not be seen. */
static bool is_seen(void)
{
    const char *sanitizer = recorder.sanitizer;
    const char *front = sanitizer == NULL ? allocator_in_front() : NULL;
    if (sanitizer != NULL)
        log_message(
            "%s is in this program, and the recorder cannot work with it: nothing is recorded",
            sanitizer);
    if (front != NULL)
        log_message("%s has malloc() and is loaded before the recorder: nothing is recorded (a "
                    "library comes behind libmalloctracer.so in LD_PRELOAD)",
                    front);
    return sanitizer == NULL && front == NULL;
}

static bool recording_begin(struct recording *recording, const char *text)
{
    if (!options_parse_shared(&recording->options, text) || !is_seen())
        return false;
    if (recording->options.help) {
        options_print_help(true);
        return false;
    }
    if (!make_absolute(recording->options.file)) {
        log_message("%s: cannot be found from every directory", recording->options.file);
        return false;
    }
    /* streams 0 and 1 are reserved in Java traces */
    return drain_start(recording) &&
           (recording->global = live_stream_create(&recording->map, true)) != NULL &&
           live_stream_create(&recording->map, true) != NULL;
}

static struct recording *recording_create(void)
{
    if (getauxval(AT_SECURE) != 0)
        return NULL; /* preloaded for the whole system: never record programs with special
                        privileges */
    const char *text = secure_getenv(OPTIONS_VARIABLE);
    if (text == NULL || text[0] == '\0')
        text = DEFAULT_OPTIONS;
    if (!may_use_name(strstr(text, "%p") != NULL))
        return NULL;
    struct recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return NULL;
    recording->number = atomic_fetch_add(&recorder.recording_count, 1) + 1;
    recording->process_id = (uint64_t) getpid();
    if (!recording_begin(recording, text)) {
        if (recording->options.required && !recorder.is_fork)
            _exit(EXIT_FAILURE);
        shared_map_close(recording);
        free(recording);
        return NULL;
    }
    return recording;
}

/* ---- programs whose own allocator nobody sees ---- */

/* Reads the private memory of this process, in bytes: what is mapped, and what of it is used.  Data
 * segments are mapped from the start, stacks of threads are mapped and hardly used. */
static struct private_memory private_memory_now(void)
{
    char text[256];
    uint64_t pages[6] = {0}; /* size, resident, shared, text, library, data */
    uint64_t page_bytes = (uint64_t) sysconf(_SC_PAGESIZE);
    size_t length = provenance_read("/proc/self/statm", text, sizeof text);
    char *at = text;
    for (size_t i = 0; length > 0 && i < sizeof pages / sizeof pages[0]; i++)
        pages[i] = strtoull(at, &at, 10);
    return (struct private_memory){pages[5] * page_bytes, (pages[1] - pages[2]) * page_bytes};
}

static uint64_t growth(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

static uint64_t private_growth(const struct recording *recording)
{
    struct private_memory now = private_memory_now();
    uint64_t mapped = growth(recording->memory_at_start.mapped, now.mapped);
    uint64_t used = growth(recording->memory_at_start.used, now.used);
    return mapped < used ? mapped : used;
}

static void recording_start(void)
{
    struct recording *recording = recording_create();
    if (recording != NULL) {
        interpose_heaps();
        record_early(recording);
        recording->memory_at_start = private_memory_now();
    }
    recorder.last = recording;
    atomic_store(&recorder_hot.recording, recording);
    atomic_store(&recorder_hot.state, recording != NULL ? STATE_ON : STATE_OFF);
}

void recorder_report_sanitizer(void)
{
    struct own_mode own;
    if (recorder.sanitizer == NULL)
        return;
    own_mode_enter(&own);
    log_only_to_this_stderr();
    recording_create(); /* no recording, see is_seen() */
    own_mode_leave(&own);
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
    recording_start();
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
    real.malloc = (void *(*) (size_t)) dlsym(RTLD_NEXT, "malloc"); /* last, see is_own() */
}

/* The page is replaced by anonymous memory, because pages of files cannot be cleared in forks. */
static void clear_page_in_forks(void)
{
    void *page = &recorder_hot;
    if (mmap(page, sizeof recorder_hot, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
        recorder.is_wiped_in_forks = madvise(page, sizeof recorder_hot, MADV_WIPEONFORK) == 0;
}

/* Beside a sanitizer, only functions that it does not intercept may be called until it has
 * started, which the constructor waits for. */
static void recording_resolve(void)
{
    recorder_local.mode = MODE_OWN;
    recorder.sanitizer = sanitizer_find();
    if (recorder.sanitizer != NULL) {
        find_real();
        recorder.is_resolved = true;
        atomic_store(&recorder_hot.state, STATE_OFF);
        recorder_local.mode = MODE_PROGRAM;
        return;
    }
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

/* Adopts a child of _Fork() or the bare system call: fork()'s handlers have not run, and locks of
 * the parent's other threads stay locked. */
static void adopt_fork(void)
{
    struct own_mode own;
    own_mode_enter(&own);
    own_heap_reset();
    if (recorder_local.fork_stamp == 0 || !program_heaps_adopt()) {
        recorder_local.fork_stamp = 0;
        program_heaps_reset();
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
            recording_resolve();
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
    log_message(
        "%s bypasses the recorder (was it opened with RTLD_DEEPBIND?): its allocations are missing",
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

static bool is_silent(struct recording *recording)
{
    return !shared_map_is_drained(&recording->map);
}

/* Waits until no thread is in a probe; the drain takes their records meanwhile.  A thread that left
 * the allocator by longjmp() is never counted as outside again. */
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
            log_message("%s: its drain does not respond: run `steptrace recover` on the trace",
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
    control->grown_bytes = private_growth(recording);
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
        return; /* a signal handler ends the program inside malloc: the live file has all records */
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
