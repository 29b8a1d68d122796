/* SPDX-License-Identifier: Apache-2.0 */
/* A recording's start and end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/log.h"
#include "capture/provenance.h"
#include "format/live/live_allocs.h"
#include "malloc-recorder/interpose.h"
#include "malloc-recorder/malloc_probes.h"
#include "steptrace/hatf_trace.h"

#define OPTIONS_VARIABLE "STEPTRACE_MALLOC"
#define OWNER_VARIABLE "STEPTRACE_MALLOC_PROCESS"
#define DEFAULT_OPTIONS "file=steptrace-%p.step"
#define IMAGES_MOST 10000u
#define HIGH_DESCRIPTOR 960

struct recorder recorder = {.control_lock = PTHREAD_MUTEX_INITIALIZER};

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

/* ---- files ---- */

static bool log_error(const struct step_error *error)
{
    char text[900];
    step_error_print(error, text, sizeof text);
    log_message("%s", text);
    return false;
}

static bool lock_start(int descriptor, off_t length)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = length};
    return fcntl(descriptor, F_SETLK, &lock) == 0;
}

/* The program counts on the numbers of the files that it opens: ours go out of the way.  Closing
 * the old number gives the lock up. */
static void move_high(int *descriptor, off_t lock_length)
{
    struct rlimit limit;
    int base = HIGH_DESCRIPTOR;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < HIGH_DESCRIPTOR + 32)
        base = limit.rlim_cur > 64 ? (int) limit.rlim_cur - 32 : 32;
    int high = fcntl(*descriptor, F_DUPFD_CLOEXEC, base);
    if (high < 0)
        return;
    close(*descriptor);
    *descriptor = high;
    lock_start(high, lock_length);
}

/* The text before the file's ending. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *ending = strrchr(slash != NULL ? slash : path, '.');
    return ending != NULL ? (size_t) (ending - path) : strlen(path);
}

/* A process that has called exec() left its trace to be recovered: the one that follows gets a
 * number. */
static void choose_name(char *name)
{
    char base[OPTION_TEXT], live[OPTION_TEXT + sizeof STEP_LIVE_SUFFIX];
    snprintf(base, sizeof base, "%s", name);
    size_t stem = stem_length(base);
    for (unsigned image = 2; image < IMAGES_MOST; image++) {
        snprintf(live, sizeof live, "%s%s", name, STEP_LIVE_SUFFIX);
        if (access(live, F_OK) != 0)
            return;
        snprintf(name, OPTION_TEXT, "%.*s-%u%.64s", (int) stem, base, image, base + stem);
    }
}

static bool open_files(struct recording *recording)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    char live_path[OPTION_TEXT + sizeof STEP_LIVE_SUFFIX];
    struct stat status;
    if (trace_file_open(recording->options.file, &recording->file, &error) != STEP_STATUS_OK)
        return log_error(&error);
    move_high(&recording->file->descriptor, 0);
    if (fstat(recording->file->descriptor, &status) == 0) {
        recording->file_device = (uint64_t) status.st_dev;
        recording->file_inode = (uint64_t) status.st_ino;
    }
    snprintf(live_path, sizeof live_path, "%s%s", recording->options.file, STEP_LIVE_SUFFIX);
    recording->map = live_map_create(live_path, recording->options.buffer_bytes,
                                     recording->options.overflow == OVERFLOW_DROP, &error);
    if (recording->map == NULL)
        return log_error(&error);
    move_high(&recording->map->descriptor, 1);
    return true;
}

/* Before each write: is the file still the one behind that number, or has the program closed all
 * files that it does not know of? */
static enum step_status write_checked(void *user, const void *data, size_t length,
                                      struct step_error *error)
{
    struct recording *recording = user;
    struct stat status;
    if (fstat(recording->file->descriptor, &status) != 0 ||
        (uint64_t) status.st_dev != recording->file_device ||
        (uint64_t) status.st_ino != recording->file_inode)
        return step_error_set(error, STEP_STATUS_IO, recording->options.file, STEP_NO_OFFSET,
                              "the program has closed the trace's file");
    struct step_output output = trace_file_output(recording->file);
    return output.write(output.user, data, length, error);
}

static bool open_writer(struct recording *recording)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = &step_hatf_trace_definition;
    options.output = (struct step_output){recording, write_checked};
    options.level = (int) recording->options.level;
    if (step_writer_create(&options, &recording->writer, &error) != STEP_STATUS_OK)
        return log_error(&error);
    return true;
}

/* ---- provenance ---- */

static void put_property(struct recording *recording, const char *key, const char *value)
{
    step_writer_property(recording->writer, key, value);
}

static void put_provenance(struct recording *recording)
{
    char command_line[4096];
    put_property(recording, "producer", "StepTrace libmalloctracer.so");
    put_property(recording, "events", "alloc+free+realloc+thread");
    put_property(recording, "options", recording->options.text);
    provenance_number(recording->writer, "resolution-ns", 1);
    put_property(recording, "clock", clock_name());
    provenance_number(recording->writer, "start-time-ns", recorder.start.wall_ns);
    provenance_host(recording->writer);
    provenance_number(recording->writer, "process-id", recording->process_id);
    if (recorder.is_fork)
        provenance_number(recording->writer, "forked-from", recorder.parent_id);
    provenance_command_line(recording->writer, command_line, sizeof command_line);
}

/* ---- start ---- */

static void destroy(struct recording *recording)
{
    step_writer_destroy(recording->writer);
    live_allocs_decoder_destroy(recording->decoder);
    live_map_destroy(recording->map, false);
    trace_file_close(recording->file);
    free(recording);
}

static void fill_header(struct step_live_header *header)
{
    header->clock_zero = recorder.start.raw;
    header->clock_multiplier = recorder.scale.multiplier;
    header->clock_shift = recorder.scale.shift;
    header->resolution_ns = 1;
    header->definition = STEP_LIVE_DEFINITION_HEAP;
}

/* A name without the process id is that of one process: the one that `steptrace record-malloc`
 * started.  Others that it starts are not recorded. */
static bool may_use_name(const char *text)
{
    const char *owner = getenv(OWNER_VARIABLE);
    if (strstr(text, "%p") != NULL)
        return true;
    return !recorder.is_fork && (owner == NULL || strtol(owner, NULL, 10) == (long) getpid());
}

static bool begin(struct recording *recording, const char *text)
{
    if (!options_parse_shared(&recording->options, text))
        return false;
    recording->options.resolution_ns = 1; /* a coarser one would lose the order across threads */
    if (strstr(text, "%p") != NULL)
        choose_name(recording->options.file);
    if (!open_files(recording) || !open_writer(recording))
        return false;
    if (!recorder.is_calibrated)
        clock_calibrate(&recorder.start, &recorder.scale);
    recorder.is_calibrated = true;
    fill_header(recording->map->header);
    put_provenance(recording);
    recording->decoder = live_allocs_decoder_create(recording->map->header, recording->writer);
    /* streams 0 and 1 have a meaning of their own in Java traces */
    return recording->decoder != NULL && live_stream_create(recording->map, true) != NULL &&
           live_stream_create(recording->map, true) != NULL &&
           step_writer_flush(recording->writer) == STEP_STATUS_OK;
}

static struct recording *create(void)
{
    const char *text = getenv(OPTIONS_VARIABLE);
    if (text == NULL || text[0] == '\0')
        text = DEFAULT_OPTIONS;
    if (!may_use_name(text))
        return NULL;
    struct recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return NULL;
    recording->number = atomic_fetch_add(&recorder.recording_count, 1) + 1;
    recording->process_id = (uint64_t) getpid();
    if (!begin(recording, text)) {
        destroy(recording);
        return NULL;
    }
    return recording;
}

static void start(void)
{
    struct recording *recording = create();
    if (recording != NULL)
        record_early(recording);
    if (recording != NULL &&
        pthread_create(&recording->drain, NULL, record_drain_run, recording) != 0) {
        log_message("the drain thread could not be started");
        destroy(recording);
        recording = NULL;
    }
    atomic_store(&recorder.recording, recording);
    atomic_store(&recorder.state, recording != NULL ? STATE_ON : STATE_OFF);
}

void recorder_start(void)
{
    int pending = STATE_PENDING;
    if (environ == NULL ||
        !atomic_compare_exchange_strong(&recorder.state, &pending, STATE_STARTING))
        return;
    struct own_mode own;
    own_mode_enter(&own);
    process_follow();
    start();
    own_mode_leave(&own);
}

static void find_real(void)
{
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

void recorder_prepare(void)
{
    int state = atomic_load(&recorder.state);
    if (state == STATE_UNRESOLVED && recorder_local.mode == MODE_PROGRAM) {
        recorder_local.mode = MODE_OWN;
        find_real();
        record_initialize();
        clock_select(CLOCK_AUTO);
        recorder.start = clock_moment_now();
        atomic_store(&recorder.state, STATE_PENDING);
        recorder_local.mode = MODE_PROGRAM;
        state = STATE_PENDING;
    }
    if (state == STATE_PENDING)
        recorder_start();
}

/* ---- end ---- */

void recorder_stop(const char *end)
{
    struct recorder_thread *thread = recorder_local.thread;
    if (recorder_local.mode != MODE_PROGRAM ||
        (thread != NULL && atomic_load(&thread->in_probe) != 0))
        return; /* a signal handler ends the program inside malloc: the live file has it all */
    struct own_mode own;
    own_mode_enter(&own);
    pthread_mutex_lock(&recorder.control_lock);
    struct recording *recording = atomic_load(&recorder.recording);
    if (recording != NULL && recording->process_id == (uint64_t) getpid()) {
        atomic_store(&recorder.state, STATE_OFF);
        atomic_store(&recorder.recording, NULL);
        record_order_probes();
        recording->end = end;
        atomic_store(&recording->end_wanted, true);
        sem_post(&recording->map->work);
        pthread_join(recording->drain, NULL);
        free(recording);
    }
    pthread_mutex_unlock(&recorder.control_lock);
    own_mode_leave(&own);
}
