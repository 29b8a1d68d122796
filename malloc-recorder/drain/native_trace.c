/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a native trace: names, creation and growth; the properties of its program. */
#include "malloc-recorder/drain/drain_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/log.h"
#include "capture/provenance.h"
#include "format/live/live_allocs.h"
#include "steptrace/hatf_trace.h"

void native_trace_describe(struct native_trace *trace)
{
    struct step_writer *writer = trace->writer;
    char text[4096];
    clock_uses_counter = trace->numbers.uses_counter != 0;
    step_writer_property(writer, "producer", "StepTrace libmalloctracer.so " STEPTRACE_VERSION);
    step_writer_property(writer, "events", "alloc+free+realloc+thread");
    step_writer_property(writer, "options", trace->options);
    provenance_number(writer, "resolution-ns", 1);
    step_writer_property(writer, "clock", clock_name());
    provenance_number(writer, "start-time-ns", trace->numbers.start_wall_ns);
    provenance_host(writer);
    provenance_number(writer, "process-id", trace->process);
    if (trace->numbers.parent_process != 0)
        provenance_number(writer, "parent-process", trace->numbers.parent_process);
    if (trace->numbers.parent != 0)
        provenance_number(writer, "forked-from", trace->numbers.parent);
    if (trace->numbers.fork_stamp != 0)
        provenance_number(writer, "forked-at-stamp", trace->numbers.fork_stamp);
    provenance_command_line(writer, trace->process, text, sizeof text);
}

/* With the clock, stamps of forks can be converted to times of this trace. */
void native_trace_describe_clock(struct native_trace *trace)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 ">>%" PRIu32, trace->header->clock_multiplier,
             trace->header->clock_shift);
    step_writer_property(trace->writer, "clock-scale", text);
}

#define PAGE UINT64_C(4096)
#define AHEAD_BYTES (UINT64_C(4) << 20)
#define NEEDED_BYTES (UINT64_C(1) << 20) /* used by the program immediately */
#define DISK_SHARE 4u
#define BUFFER_LEAST (UINT64_C(256) << 10)
#define IMAGES_MOST 10000u

static bool log_errno(const char *path)
{
    log_message("%s: %s", path, strerror(errno));
    return false;
}

/* ---- names ---- */

/* Sets the name: BASE.step, BASE-2.step, ... for the successive programs of one process. */
static bool set_name(struct native_trace *trace, const char *base, unsigned image)
{
    bool fits = trace_file_name(base, '-', image, trace->path, sizeof trace->path);
    snprintf(trace->live_path, sizeof trace->live_path, "%s%s", trace->path, STEP_LIVE_SUFFIX);
    return fits;
}

/* Returns the drain that holds the file, if it served the same process while it ran another
 * program; else 0. */
static pid_t former_drain(const struct native_trace *trace)
{
    char name[64], arguments[4096], mark[40];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = trace_file_find(trace->path, O_RDWR);
    if (file < 0)
        return 0;
    bool held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(file);
    snprintf(name, sizeof name, "/proc/%ld/cmdline", (long) lock.l_pid);
    size_t length = held ? provenance_read(name, arguments, sizeof arguments) : 0;
    snprintf(mark, sizeof mark, "program=%llu", (unsigned long long) trace->process);
    const char *at = arguments;
    for (int i = 0; i < DRAIN_ARGUMENT_PROGRAM && at < arguments + length; i++)
        at += strlen(at) + 1;
    return length > 0 && at < arguments + length && strcmp(at, mark) == 0 ? lock.l_pid : 0;
}

/* Opens the trace of the next program of a process whose earlier drain has `base`, or of the first.
 * BUSY: the name is in use. */
static enum step_status open_image(struct native_trace *trace, const char *base,
                                   struct step_error *error)
{
    const struct trace_file_rules rules = {trace->numbers.overwrite != 0,
                                           (mode_t) trace->numbers.mode};
    enum step_status status = STEP_STATUS_BUSY;
    for (unsigned image = 1; image < IMAGES_MOST && status == STEP_STATUS_BUSY; image++) {
        if (!set_name(trace, base, image))
            return step_error_set(error, STEP_STATUS_IO, base, STEP_NO_OFFSET, "%s",
                                  strerror(ENAMETOOLONG));
        pid_t former = former_drain(trace);
        if (former != 0) {
            kill(former, SIGUSR1);
            continue;
        }
        status = trace_file_open(trace->path, &rules, &trace->file, error);
        if (image == 1 && status == STEP_STATUS_BUSY)
            return status;
    }
    return status;
}

static bool open_trace(struct native_trace *trace)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    enum step_status status = STEP_STATUS_BUSY;
    char base[sizeof trace->path];
    unsigned number = 0;
    while (status == STEP_STATUS_BUSY && number++ < TRACE_FILE_NAMES_MOST &&
           (number == 1 || trace->numbers.overwrite == 0)) {
        if (!trace_file_name(trace->wanted_file, '.', number, base, sizeof base))
            break;
        status = open_image(trace, base, &error);
    }
    if (status != STEP_STATUS_OK)
        return log_error(&error);
    if (number > 1)
        log_message("%s exists: the trace is %s", trace->wanted_file, trace->path);
    return true;
}

/* ---- the live file ---- */

static bool set_aside(struct native_trace *trace, uint64_t end)
{
    errno = trace_file_extend(trace->live_file, 0, end);
    return errno == 0;
}

static bool make_live_file(struct native_trace *trace)
{
    trace->live_file = trace_file_make(trace->live_path, (mode_t) trace->numbers.mode);
    if (trace->live_file < 0)
        return log_errno(trace->live_path);
    trace->is_live_made = true;
    return (trace_file_lock(trace->live_file, 1) &&
            set_aside(trace, DRAIN_FIRST_BYTES + AHEAD_BYTES)) ||
           log_errno(trace->live_path);
}

/* Maps the file at the program's addresses, or fails. */
static bool map_live_file(struct native_trace *trace)
{
    const struct drain_numbers *numbers = &trace->numbers;
    void *wanted = (void *) numbers->address;
    void *base = mmap(wanted, numbers->range_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, trace->live_file, 0);
    if (base == MAP_FAILED)
        return false;
    if (base != wanted) {
        munmap(base, numbers->range_bytes);
        return false;
    }
    trace->is_mapped = true;
    trace->header = base;
    trace->control = (struct drain_control *) (void *) ((char *) base + PAGE);
    return true;
}

/* Waiting chunks may use only a part of the disk: a program faster than its drain would otherwise
 * leave no space for the trace. */
static uint64_t buffer_bytes(const struct native_trace *trace)
{
    struct statvfs disk;
    uint64_t wanted = trace->numbers.buffer_bytes;
    if (fstatvfs(trace->live_file, &disk) != 0)
        return wanted;
    uint64_t most = (uint64_t) disk.f_bavail * disk.f_frsize / DISK_SHARE;
    if (most < BUFFER_LEAST)
        most = BUFFER_LEAST;
    return wanted < most ? wanted : most;
}

static void fill_live_file(struct native_trace *trace)
{
    struct step_live_header *header = trace->header;
    live_map_init(&trace->map, &trace->control->shared, buffer_bytes(trace), false);
    trace->map.header = header;
    live_map_describe(&trace->map);
    header->process_id = trace->process;
    header->file_bytes = DRAIN_FIRST_BYTES;
    header->clock_zero = trace->numbers.start_raw;
    header->clock_multiplier = 1;
    header->resolution_ns = 1;
    header->definition = STEP_LIVE_DEFINITION_HEAP;
    trace->control->layout = DRAIN_LAYOUT;
    trace->control->range_bytes = trace->numbers.range_bytes;
    atomic_store(&trace->control->ready_bytes, DRAIN_FIRST_BYTES + AHEAD_BYTES);
}

/* Extends the file as far ahead as the disk allows.  Returns its new end, or 0 if not even the next
 * part fits. */
static uint64_t set_aside_ahead(struct native_trace *trace, uint64_t ready)
{
    const struct drain_control *control = trace->control;
    uint64_t now = atomic_load(&trace->header->file_bytes);
    const uint64_t ends[] = {now + 2 * AHEAD_BYTES, now + AHEAD_BYTES, now + NEEDED_BYTES};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        uint64_t end = ends[i] < control->range_bytes ? ends[i] : control->range_bytes;
        if (end <= ready)
            return ready;
        if (set_aside(trace, end))
            return end;
    }
    return 0;
}

bool native_trace_grow(struct native_trace *trace)
{
    struct drain_control *control = trace->control;
    uint64_t ready = atomic_load(&control->ready_bytes);
    uint64_t wanted = atomic_load(&trace->header->file_bytes) + AHEAD_BYTES;
    if (wanted > control->range_bytes)
        wanted = control->range_bytes;
    if (ready >= wanted || atomic_load(&control->shared.failed))
        return !atomic_load(&control->shared.failed);
    uint64_t end = set_aside_ahead(trace, ready);
    if (end != 0) {
        atomic_store(&control->ready_bytes, end);
    } else {
        control->shared.code = errno;
        atomic_store(&control->shared.failed, true);
    }
    futex_gate_open(&control->shared.room);
    return end != 0;
}

/* ---- start and end ---- */

static bool open_writer(struct native_trace *trace)
{
    struct step_error error = {.status = STEP_STATUS_OK};
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = &step_hatf_trace_definition;
    options.output = trace_file_output(trace->file);
    options.level = (int) trace->numbers.level;
    if (!trace_file_reserve(trace->file, 0)) {
        errno = trace->file->code;
        return log_errno(trace->path);
    }
    return step_writer_create(&options, &trace->writer, &error) == STEP_STATUS_OK ||
           log_error(&error);
}

static void remove_live_file(struct native_trace *trace)
{
    if (trace->is_live_made)
        trace_file_remove(trace->live_path, file_identity_of(trace->live_file));
    trace->is_live_made = false;
}

/* Removes the files of a trace that could not begin. */
static void native_trace_release(struct native_trace *trace)
{
    remove_live_file(trace);
    if (trace->file != NULL)
        trace_file_discard(trace->file);
    if (trace->is_mapped)
        munmap(trace->header, trace->numbers.range_bytes);
    if (trace->live_file >= 0)
        close(trace->live_file);
    step_writer_destroy(trace->writer);
    live_allocs_decoder_destroy(trace->decoder);
    trace_file_close(trace->file);
}

enum native_trace_start native_trace_start(struct native_trace *trace)
{
    trace->live_file = -1;
    enum native_trace_start result = NATIVE_TRACE_FAILED;
    if (open_trace(trace) && make_live_file(trace)) {
        result = map_live_file(trace) ? NATIVE_TRACE_READY : NATIVE_TRACE_ADDRESS_TAKEN;
        if (result == NATIVE_TRACE_READY && !open_writer(trace))
            result = NATIVE_TRACE_FAILED;
    }
    if (result == NATIVE_TRACE_READY)
        fill_live_file(trace);
    else
        native_trace_release(trace);
    return result;
}

void native_trace_close(struct native_trace *trace)
{
    remove_live_file(trace);
    step_writer_destroy(trace->writer);
    live_allocs_decoder_destroy(trace->decoder);
    trace->writer = NULL;
    trace->decoder = NULL;
}
