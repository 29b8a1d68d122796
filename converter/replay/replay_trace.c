/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes a trace with an allocation source and a plan, and reports its damage. */
#include "converter/replay/replay_trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converter/base/error_report.h"
#include "converter/base/memory_limit.h"
#include "converter/base/no_memory.h"
#include "converter/formats/open_trace.h"

/* ---- the driver's process ---- */

static void become_driver(const char *program, const char *library, int file)
{
    char number[16];
    snprintf(number, sizeof number, "%d", dup(file)); /* a descriptor without close-on-exec */
    if (library[0] != '\0')
        setenv("LD_PRELOAD", library, 1);
    else
        unsetenv("LD_PRELOAD");
    memory_limit_lift();
    execl(program, program, number, (char *) NULL);
    _exit(127);
}

static enum step_status process_system_error(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "the driver: %s",
                          strerror(errno));
}

enum step_status replay_process_start(struct replay_process *process, const char *program,
                                      const char *library, int file, struct step_error *error)
{
    process->has_ended = false;
    fflush(NULL);
    process->id = fork();
    if (process->id < 0)
        return process_system_error(error);
    if (process->id == 0)
        become_driver(program, library, file);
    return STEP_STATUS_OK;
}

static bool replay_process_has_ended(struct replay_process *process)
{
    if (!process->has_ended)
        process->has_ended = waitpid(process->id, &process->wait_status, WNOHANG) == process->id;
    return process->has_ended;
}

void replay_process_kill(const struct replay_process *process)
{
    kill(process->id, SIGKILL);
}

enum step_status replay_process_failed(const struct replay_process *process, const char *program,
                                       const char *allocator, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, program, STEP_NO_OFFSET,
                          "%s: the driver failed (exit code %d)", allocator,
                          WEXITSTATUS(process->wait_status));
}

enum step_status replay_process_wait(struct replay_process *process, const char *program,
                                     const char *allocator, struct step_error *error)
{
    while (!process->has_ended && waitpid(process->id, &process->wait_status, 0) != process->id)
        if (errno != EINTR)
            return process_system_error(error);
    process->has_ended = true;
    if (WIFSIGNALED(process->wait_status))
        return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                              "%s: the driver was ended by signal %d (%s)", allocator,
                              WTERMSIG(process->wait_status),
                              strsignal(WTERMSIG(process->wait_status)));
    return WEXITSTATUS(process->wait_status) == 0
               ? STEP_STATUS_OK
               : replay_process_failed(process, program, allocator, error);
}

/* ---- pieces: a memory file that grows ---- */

#define WAIT_TICK_NS 50000000L
#define BYTES_UNKNOWN (UINT64_C(1) << 32) /* if the machine's memory size is unknown */

static uint64_t physical_bytes(void)
{
    uint64_t bytes = memory_physical_bytes();
    return bytes != 0 ? bytes : BYTES_UNKNOWN;
}

static enum step_status system_error(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "memory for operations: %s",
                          strerror(errno));
}

static void *map_piece(const struct replay_pieces *pieces, uint64_t place)
{
    void *memory = mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, pieces->file,
                        (off_t) (place * REPLAY_PIECE_BYTES));
    return memory != MAP_FAILED ? memory : NULL;
}

enum step_status replay_pieces_open(struct replay_pieces *pieces, uint64_t memory_bytes,
                                    struct replay_process *driver, struct step_error *error)
{
    pieces->driver = driver;
    pieces->memory_bytes = memory_bytes != 0 ? memory_bytes : physical_bytes() / 4;
    pieces->file = memfd_create("steptrace replay", MFD_CLOEXEC);
    if (pieces->file < 0 || ftruncate(pieces->file, (off_t) REPLAY_PIECE_BYTES) != 0)
        return system_error(error);
    pieces->control = map_piece(pieces, 0);
    return pieces->control != NULL ? STEP_STATUS_OK : system_error(error);
}

void replay_pieces_prepare(struct replay_pieces *pieces, const struct replay_settings *settings,
                           bool is_empty)
{
    struct replay_control *control = pieces->control;
    memset(control, 0, sizeof *control);
    control->touch = settings->touch;
    control->is_threaded = settings->is_threaded;
    control->is_empty = is_empty;
    control->is_streamed = pieces->is_streamed;
    control->memory_bytes = physical_bytes() / 4 * 3;
    sem_init(&control->filled, 1, 0);
    sem_init(&control->emptied, 1, REPLAY_RING);
    if (!pieces->is_streamed)
        control->produced = pieces->count;
}

void replay_pieces_close(struct replay_pieces *pieces)
{
    if (pieces->control != NULL)
        munmap(pieces->control, REPLAY_PIECE_BYTES);
    if (pieces->file >= 0)
        close(pieces->file);
}

/* Restarts at the first piece.  The begin and end functions, called alternately, implement those of
 * struct replay_plan_options.  Begin returns NULL if there is no room (is_full), or if the driver
 * of a streamed replay has ended. */
static void replay_pieces_restart(struct replay_pieces *pieces)
{
    pieces->count = 0;
    pieces->is_full = false;
}

/* Returns false if the driver has ended. */
static bool wait_for_room(struct replay_pieces *pieces)
{
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (sem_timedwait(&pieces->control->emptied, &until) == 0)
            return true;
        if (replay_process_has_ended(pieces->driver))
            return false;
    }
}

/* Returns false if there is none. */
static bool find_room(struct replay_pieces *pieces, uint64_t place)
{
    uint64_t end = (place + 2) * REPLAY_PIECE_BYTES;
    if (pieces->is_streamed && !wait_for_room(pieces))
        return false;
    if (!pieces->is_streamed && end > pieces->memory_bytes) {
        pieces->is_full = true;
        return false;
    }
    bool is_there = pieces->is_streamed && pieces->count >= REPLAY_RING;
    return is_there || ftruncate(pieces->file, (off_t) end) == 0;
}

static struct replay_piece *replay_pieces_begin(void *user)
{
    struct replay_pieces *pieces = user;
    uint64_t place = pieces->is_streamed ? pieces->count % REPLAY_RING : pieces->count;
    if (!find_room(pieces, place))
        return NULL;
    pieces->piece = map_piece(pieces, place + 1);
    return pieces->piece;
}

static void replay_pieces_end(void *user)
{
    struct replay_pieces *pieces = user;
    munmap(pieces->piece, REPLAY_PIECE_BYTES);
    pieces->piece = NULL;
    pieces->count++;
    atomic_store(&pieces->control->produced, pieces->count);
    if (pieces->is_streamed)
        sem_post(&pieces->control->filled);
}

void replay_pieces_complete(struct replay_pieces *pieces)
{
    atomic_store(&pieces->control->is_complete, true);
    sem_post(&pieces->control->filled);
}

static enum step_status put_records(struct alloc_source *source, struct replay_plan *plan,
                                    struct step_error *error)
{
    struct hatf_record record;
    for (;;) {
        enum step_status status = alloc_source_next(source, &record, error);
        if (status == STEP_STATUS_END)
            return STEP_STATUS_OK;
        if (status == STEP_STATUS_OK)
            status = replay_plan_put(plan, &record, error);
        if (status != STEP_STATUS_OK) {
            if (error->offset == STEP_NO_OFFSET)
                error->offset = alloc_source_offset(source);
            return status;
        }
    }
}

static void note_damage(struct replay_trace *trace, const char *name,
                        const struct alloc_source *source)
{
    size_t count = alloc_source_damage_count(source);
    for (size_t i = 0; i < count && i < REPORT_DAMAGE_MOST && !trace->is_damaged; i++)
        report_damage(name, alloc_source_damage(source, i));
    if (!trace->is_damaged)
        report_damage_left(name, count);
    trace->is_damaged = trace->is_damaged || count > 0;
}

/* Converts all records of the source to pieces. */
static enum step_status make_pieces(struct alloc_source *source,
                                    const struct replay_plan_options *options,
                                    struct replay_counts *counts, struct step_error *error)
{
    struct replay_plan *plan = replay_plan_create(options);
    if (plan == NULL)
        return no_memory(error);
    enum step_status status = put_records(source, plan, error);
    if (status == STEP_STATUS_OK)
        status = replay_plan_finish(plan, error);
    if (status == STEP_STATUS_OK)
        *counts = *replay_plan_counts(plan);
    replay_plan_destroy(plan);
    return status;
}

enum step_status replay_trace_decode(struct replay_trace *trace,
                                     const struct replay_settings *settings,
                                     struct replay_pieces *pieces, struct step_error *error)
{
    const struct alloc_options options = {.addresses = ADDRESSES_BUMP};
    const struct replay_plan_options plan = {.is_threaded = settings->is_threaded,
                                             .is_paced = settings->is_paced,
                                             .refuses = settings->refuses,
                                             .begin_piece = replay_pieces_begin,
                                             .end_piece = replay_pieces_end,
                                             .user = pieces};
    struct alloc_source *source = NULL;
    replay_pieces_restart(pieces);
    enum step_status status =
        trace_open_allocs(settings->path, settings->format, &options, &source, error);
    if (status == STEP_STATUS_OK)
        status = make_pieces(source, &plan, &trace->counts, error);
    if (status == STEP_STATUS_OK)
        note_damage(trace, settings->name, source);
    else if (error->file[0] == '\0')
        snprintf(error->file, sizeof error->file, "%.255s", settings->name);
    if (source != NULL)
        alloc_source_destroy(source);
    return status;
}
