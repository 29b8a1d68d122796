/* SPDX-License-Identifier: Apache-2.0 */
/* A live map whose ring is mapped memory, which is populated piece by piece. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/live_map.h"
#include "format/core/step_no_memory.h"

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

/* Populates pages before they are stored to: with limited memory, a fault would kill the
 * process. */
static bool take_pages(void *base, uint64_t bytes)
{
    int code;
    do
        code = madvise(base, bytes, MADV_POPULATE_WRITE) != 0 ? errno : 0;
    while (code == EINTR || code == EAGAIN);
    errno = code == EFAULT ? ENOMEM : code;
    return code == 0 || code == EINVAL; /* an older system populates them one by one */
}

static void *ring_memory_grow(struct live_map *map, uint64_t bytes)
{
    uint64_t start = map->header->file_bytes;
    uint8_t *base = (uint8_t *) map->header + start;
    errno = ENOMEM;
    if (bytes > map->memory_bytes - start || !take_pages(base, bytes))
        return NULL;
    return base;
}

struct live_map *live_map_create_in(void *memory, uint64_t memory_bytes, uint64_t limit_bytes,
                                    bool drop, struct step_error *error)
{
    struct live_map *map = calloc(1, sizeof *map);
    if (map == NULL || memory_bytes < STEP_LIVE_PAGE || !take_pages(memory, STEP_LIVE_PAGE)) {
        free(map);
        step_no_memory(error, NULL);
        return NULL;
    }
    live_map_init(map, &map->own, limit_bytes, drop);
    map->header = memory;
    map->memory_bytes = memory_bytes;
    map->grow = ring_memory_grow;
    live_map_describe(map);
    return map;
}
