/* SPDX-License-Identifier: Apache-2.0 */
/* A memory file that grows piece by piece. */
#include "converter/replay/replay_pieces.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "converter/base/memory_limit.h"

#define WAIT_TICK_NS 50000000L
#define BYTES_UNKNOWN (UINT64_C(1) << 32) /* of a machine that does not tell */

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

void replay_pieces_restart(struct replay_pieces *pieces)
{
    pieces->count = 0;
    pieces->is_full = false;
}

/* False: the driver has ended already. */
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

/* False: there is none. */
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

struct replay_piece *replay_pieces_begin(void *user)
{
    struct replay_pieces *pieces = user;
    uint64_t place = pieces->is_streamed ? pieces->count % REPLAY_RING : pieces->count;
    if (!find_room(pieces, place))
        return NULL;
    pieces->piece = map_piece(pieces, place + 1);
    return pieces->piece;
}

void replay_pieces_end(void *user)
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
