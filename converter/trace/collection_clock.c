/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps pending collections in a min-heap by time. */
#include "converter/trace/collection_clock.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

void collection_clock_reset(struct collection_clock *clock)
{
    free(clock->coming);
    free(clock->heap);
    *clock = (struct collection_clock){0};
}

/* ---- the heap ---- */

static uint64_t time_at(const struct collection_clock *clock, size_t i)
{
    return clock->coming[clock->heap[i]].time;
}

static void sift_up(struct collection_clock *clock, size_t at)
{
    uint64_t moved = clock->heap[at];
    while (at > 0 && time_at(clock, (at - 1) / 2) > clock->coming[moved].time) {
        clock->heap[at] = clock->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    clock->heap[at] = moved;
}

static void gc_clock_sift_down(struct collection_clock *clock)
{
    uint64_t moved = clock->heap[0];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < clock->count) {
        if (child + 1 < clock->count && time_at(clock, child + 1) < time_at(clock, child))
            child++;
        if (time_at(clock, child) >= clock->coming[moved].time)
            break;
        clock->heap[at] = clock->heap[child];
        at = child;
    }
    clock->heap[at] = moved;
}

static bool gc_clock_grow(struct collection_clock *clock)
{
    size_t coming = clock->capacity, heap = clock->capacity, need = clock->place_count + 1;
    if (!STEP_MAKE_ROOM(clock->coming, coming, need) || !STEP_MAKE_ROOM(clock->heap, heap, need))
        return false;
    clock->capacity = heap;
    return true;
}

/* Unused entries are linked through `number`. */
static bool add_coming(struct collection_clock *clock, uint64_t time, size_t *place)
{
    if (clock->free_place != 0) {
        *place = clock->free_place - 1;
        clock->free_place = (size_t) clock->coming[*place].number;
    } else {
        if (clock->place_count == clock->capacity && !gc_clock_grow(clock))
            return false;
        *place = clock->place_count++;
    }
    clock->coming[*place] = (struct collection){.time = time};
    clock->heap[clock->count++] = *place;
    sift_up(clock, clock->count - 1);
    return true;
}

static size_t *recent_of(struct collection_clock *clock, uint64_t time)
{
    return &clock->recent[step_hash(time) >> (64 - COLLECTION_CLOCK_RECENT_BITS)];
}

/* Removes and returns the earliest pending collection.  There must be one. */
static struct collection take_first(struct collection_clock *clock)
{
    size_t place = (size_t) clock->heap[0];
    struct collection first = clock->coming[place];
    size_t *recent = recent_of(clock, first.time);
    if (*recent == place + 1)
        *recent = 0;
    clock->coming[place].number = clock->free_place;
    clock->free_place = place + 1;
    clock->heap[0] = clock->heap[--clock->count];
    if (clock->count > 0)
        gc_clock_sift_down(clock);
    return first;
}

/* ---- finished collections ---- */

static void gc_clock_end(struct collection_clock *clock, struct collection *over)
{
    clock->last.number = ++clock->ended;
    clock->is_under_way = false;
    *over = clock->last;
}

/* Finishes the earliest pending collection, merging entries with the same time. */
static void end_first(struct collection_clock *clock, struct collection *over)
{
    clock->last = take_first(clock);
    while (clock->count > 0 && time_at(clock, 0) == clock->last.time) {
        struct collection same = take_first(clock);
        clock->last.objects += same.objects;
        clock->last.bytes += same.bytes;
    }
    gc_clock_end(clock, over);
}

bool collection_clock_next(struct collection_clock *clock, uint64_t time, struct collection *over)
{
    if (clock->is_under_way) {
        if (time == clock->last.time)
            return false;
        gc_clock_end(clock, over);
        return true;
    }
    if (clock->count == 0 || time_at(clock, 0) >= time)
        return false;
    end_first(clock, over);
    return true;
}

bool collection_clock_finish(struct collection_clock *clock, struct collection *over)
{
    if (clock->is_under_way)
        gc_clock_end(clock, over);
    else if (clock->count > 0)
        end_first(clock, over);
    else
        return false;
    return true;
}

/* ---- frees ---- */

static void count_in(struct collection *collection, uint64_t bytes)
{
    collection->objects++;
    collection->bytes += bytes;
}

bool collection_clock_put(struct collection_clock *clock, uint64_t time, bool is_dated,
                          uint64_t bytes)
{
    if (!is_dated && clock->count == 0 && !clock->is_under_way)
        clock->last = (struct collection){.time = time};
    if (!is_dated && clock->count == 0)
        clock->is_under_way = true;
    if (clock->is_under_way && clock->last.time == time) {
        count_in(&clock->last, bytes);
        return true;
    }
    if (clock->ended > 0 && time <= clock->last.time) /* the collection is over already */
        return true;
    size_t *recent = recent_of(clock, time), place;
    if (*recent != 0 && clock->coming[*recent - 1].time == time) {
        place = *recent - 1;
    } else {
        if (!add_coming(clock, time, &place))
            return false;
        *recent = place + 1;
    }
    count_in(&clock->coming[place], bytes);
    return true;
}
