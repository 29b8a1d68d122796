/* SPDX-License-Identifier: Apache-2.0 */
/* Address range, mapping and growth of the live file in the traced program. */
#include "malloc-recorder/shared_map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/trace_file.h"
#include "malloc-recorder/own_heap.h"

/* An area that few programs use, and a new process never does. */
#define FIRST_ADDRESS UINT64_C(0x290000000000)
#define ADDRESS_STEP UINT64_C(0x001000000000)
#define RANGE_MOST (UINT64_C(8) << 30)
#define RANGE_LEAST (UINT64_C(8) << 20)
#define LIMITED_SHARE 8u
#define PIECE_BYTES UINT64_C(65536)
#define PAGE UINT64_C(4096)
#define LINE UINT64_C(64)
#define WAIT_NS INT64_C(1000000000)

static struct recording *recording_of(struct live_map *map)
{
    return (struct recording *) (void *) ((char *) map - offsetof(struct recording, map));
}

bool shared_map_reserve(struct recording *recording, unsigned attempt)
{
    recording->base =
        address_range_reserve((void *) (FIRST_ADDRESS + attempt * ADDRESS_STEP), RANGE_MOST,
                              RANGE_LEAST, LIMITED_SHARE, &recording->range_bytes);
    return recording->base != NULL;
}

/* Waits until the drain has extended the file.  Called with the map's lock held. */
static bool wait_for_file(struct recording *recording, uint64_t end)
{
    struct drain_control *control = recording->control;
    struct live_shared *shared = &control->shared;
    while (atomic_load(&control->ready_bytes) < end) {
        uint32_t seen = atomic_load(&shared->room.count);
        futex_gate_open(&shared->work);
        if (atomic_load(&control->ready_bytes) >= end)
            break;
        if (atomic_load(&shared->failed) || atomic_load(&shared->stopping))
            return false;
        if (!futex_gate_wait(&shared->room, seen, WAIT_NS) &&
            !shared_map_is_drained(&recording->map))
            return false;
    }
    return true;
}

static void *shared_map_grow(struct live_map *map, uint64_t bytes)
{
    struct recording *recording = recording_of(map);
    uint64_t start = map->header->file_bytes;
    errno = ENOMEM;
    if (bytes > recording->range_bytes - start || !wait_for_file(recording, start + bytes))
        return NULL;
    return recording->base + start;
}

/* The start of a page stays zero, so that it is not mistaken for a chunk. */
static void *shared_map_allocate(struct live_map *map, size_t bytes)
{
    struct recording *recording = recording_of(map);
    bytes = (bytes + LINE - 1) / LINE * LINE;
    uint64_t at = recording->piece_at;
    if (at % PAGE == 0 || at / PAGE != (at + bytes - 1) / PAGE)
        at = (at + PAGE - 1) / PAGE * PAGE + LINE;
    if (at + bytes > recording->piece_end) {
        if (shared_map_grow(map, PIECE_BYTES) == NULL)
            return NULL;
        at = map->header->file_bytes + LINE;
        map->header->file_bytes += PIECE_BYTES;
        recording->piece_end = map->header->file_bytes;
    }
    recording->piece_at = at + bytes;
    return recording->base + at;
}

bool shared_map_is_drained(struct live_map *map)
{
    struct recording *recording = recording_of(map);
    uint32_t beat = atomic_load(&recording->control->beat);
    if (atomic_exchange(&recording->beat, beat) != beat)
        atomic_store(&recording->silences, 0);
    return atomic_fetch_add(&recording->silences, 1) < DRAIN_SILENCES;
}

static bool map_file(struct recording *recording, const char *live_path)
{
    int file = trace_file_find(live_path, O_RDWR);
    if (file < 0)
        return false;
    void *base = mmap(recording->base, recording->range_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0);
    close(file);
    return base != MAP_FAILED;
}

bool shared_map_open(struct recording *recording, const char *live_path)
{
    if (!map_file(recording, live_path))
        return false;
    recording->control = (struct drain_control *) (void *) (recording->base + PAGE);
    if (recording->control->layout != DRAIN_LAYOUT)
        return false;
    if (recorder.is_wiped_in_forks)
        madvise(recording->base, recording->range_bytes, MADV_DONTFORK);
    struct live_map *map = &recording->map;
    struct live_shared *shared = &recording->control->shared;
    live_map_init(map, shared, shared->limit_bytes, recording->options.overflow == OVERFLOW_DROP);
    map->header = (struct step_live_header *) (void *) recording->base;
    map->allocate = shared_map_allocate;
    map->grow = shared_map_grow;
    map->is_drained = shared_map_is_drained;
    return true;
}

void shared_map_close(struct recording *recording)
{
    if (recording->base != NULL)
        munmap(recording->base, recording->range_bytes);
    recording->base = NULL;
}
