/* SPDX-License-Identifier: Apache-2.0 */
/* Collects a heap of one space. */
#include "converter/simulate/one_space.h"

void one_space_init(struct one_space *space, uint64_t heap, uint64_t capacity)
{
    *space = (struct one_space){.heap = heap, .capacity = capacity, .full_at = capacity};
}

static void note_occupied(struct one_space *space, uint64_t position)
{
    uint64_t occupied = space->capacity - (space->full_at - position);
    if (occupied > space->peak)
        space->peak = occupied;
}

void one_space_collect(struct one_space *space, uint64_t position, uint64_t size, uint64_t living)
{
    note_occupied(space, position);
    space->collections++;
    space->kept += living;
    if (living > space->capacity || size > space->capacity - living) {
        space->is_too_small = true;
        space->failed_at = position;
        space->full_at = UINT64_MAX;
        return;
    }
    space->full_at = position + (space->capacity - living);
}

void one_space_finish(struct one_space *space, uint64_t position)
{
    if (!space->is_too_small)
        note_occupied(space, position);
}
