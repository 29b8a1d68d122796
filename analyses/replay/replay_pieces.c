/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of operations, in a memory file that grows or is a ring, and the trace that fills
 * them. */
#include "analyses/replay/replay_run.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/memory_limit.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"

#define WAIT_TICK_NS 50000000L
#define BYTES_UNKNOWN (UINT64_C(1) << 32) /* if the machine's memory size is unknown */

static uint64_t physical_bytes(void)
{
    uint64_t bytes = memory_physical_bytes();
    return bytes != 0 ? bytes : BYTES_UNKNOWN;
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
        return replay_system_error(error, "memory for operations");
    pieces->control = map_piece(pieces, 0);
    return pieces->control != NULL ? STEP_STATUS_OK
                                   : replay_system_error(error, "memory for operations");
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

/* This and replay_pieces_end() are called alternately, as struct replay_plan_options has them.
 * Returns NULL if there is no room (is_full), or if the driver of a streamed replay has ended. */
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

static enum step_status replay_pieces_put_records(struct alloc_source *source,
                                                  struct replay_plan *plan,
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
                error->offset = source->offset;
            return status;
        }
    }
}

/* Returns what a STEP trace lacks without a damaged place; NULL: nothing that is known. */
static const char *gap_of(const struct trace_about *about, char *text)
{
    while (about->inner != NULL)
        about = about->inner;
    return about->reader != NULL ? trace_gap(about->reader, text) : NULL;
}

static void note_damage(struct replay_trace *trace, const char *name,
                        const struct alloc_source *source)
{
    char text[TRACE_GAP_ROOM];
    size_t count = trace_damage_count(&source->about);
    for (size_t i = 0; i < count && i < REPORT_DAMAGE_MOST && !trace->is_damaged; i++)
        report_damage(name, trace_damage(&source->about, i));
    if (!trace->is_damaged)
        report_damage_left(name, count);
    const char *gap = gap_of(&source->about, text);
    if (count == 0 && gap != NULL && !trace->is_damaged)
        report_line("%s: %s", name, gap);
    trace->is_damaged = trace->is_damaged || count > 0 || gap != NULL;
}

/* Converts all records of the source to pieces. */
static enum step_status make_pieces(struct alloc_source *source,
                                    const struct replay_plan_options *options,
                                    struct replay_counts *counts, struct step_error *error)
{
    struct replay_plan *plan = replay_plan_create(options);
    if (plan == NULL)
        return no_memory(error);
    enum step_status status = replay_pieces_put_records(source, plan, error);
    if (status == STEP_STATUS_OK)
        status = replay_plan_finish(plan, error);
    if (status == STEP_STATUS_OK)
        *counts = plan->counts;
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
    pieces->count = 0;
    pieces->is_full = false;
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
