/* SPDX-License-Identifier: Apache-2.0 */
/* Steps from object to object through pieces of eden, in two lanes. */
#include "agent/events/eden_lanes.h"

#include "agent/events/eden_rows.h"
#include "agent/hotspot/headers.h"

#define AHEAD_BYTES 1024u /* how far ahead of a step memory is fetched */

/* Objects that follow each other without a gap. */
struct lane {
    uintptr_t at, to;
    uintptr_t last;       /* the object before `at`; 0: none yet */
    uintptr_t region_end; /* of a region whose rest is no object; else 0 */
};

/* What is still to be walked: pieces, without the rests of buffers in them. */
struct lanes_left {
    const struct eden_piece *piece, *end;
    uintptr_t at; /* within the piece; 0: it has not begun */
    size_t rest;  /* the next one in it */
    bool is_bad;  /* it is not as it should be */
    const struct eden_threads *threads;
    struct last_arrays *last_arrays; /* these two are set: see eden_lanes.h */
    bool *has_older;
};

/* Walks to the next object. Returns false if there is none, or if it ends beyond the lane. */
static inline bool lane_step(struct lane *lane)
{
    uintptr_t at = lane->at;
    __builtin_prefetch((const void *) (at + AHEAD_BYTES));
    uint64_t size;
    struct eden_row *row = eden_row_at(at, lane->to, &size);
    if (row == NULL)
        return false;
    row->objects++;
    row->bytes += size;
    lane->last = at;
    lane->at = at + size;
    return true;
}

/* The end of a region may be a filler without a class of its own. */
static void lane_end(struct lanes_left *left, const struct lane *lane)
{
    if (lane->last == 0 || lane->region_end - lane->at >= 2 * sizeof(uint64_t))
        return;
    const struct eden_row *row = eden_row_of(header_class_word(lane->last));
    if (row != NULL && row->fills == ROW_PERHAPS_FILLER)
        last_arrays_add(left->last_arrays, lane->at - lane->last);
}

/* Returns the first rest that ends behind `at`. */
static size_t first_rest(const struct eden_threads *threads, uintptr_t at)
{
    size_t low = 0, high = threads->rest_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (threads->rests[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Begins the lane with what is at the piece's begin, if that is one object. */
static void lane_of_one(struct lanes_left *left, struct lane *lane)
{
    const struct eden_piece *piece = left->piece++;
    uintptr_t from = piece->span.from;
    const struct eden_row *row = eden_row_of(header_class_word(from));
    uint64_t size = row != NULL ? eden_object_bytes(row, from, EDEN_HEADER_MOST) : 0;
    left->is_bad = size == 0;
    if (piece->kind == EDEN_IF_ONE && size != piece->span.to - from)
        *left->has_older = true;
    else
        *lane = (struct lane){.at = from, .to = from + size};
}

/* Begins the lane with what is before the piece's next rest, or with its end. */
static void lane_of_piece(struct lanes_left *left, struct lane *lane)
{
    const struct eden_threads *threads = left->threads;
    const struct eden_piece *piece = left->piece;
    if (left->at == 0) {
        left->at = piece->span.from;
        left->rest = first_rest(threads, left->at);
    }
    uintptr_t at = left->at;
    const struct eden_span *rest = &threads->rests[left->rest];
    if (left->rest < threads->rest_count && rest->from < piece->span.to) {
        *lane = (struct lane){.at = at, .to = rest->from};
        left->at = rest->to;
        left->rest++;
        left->is_bad = rest->from < at;
    } else {
        *lane = (struct lane){.at = at, .to = piece->span.to, .region_end = piece->region_end};
        left->piece++;
        left->at = 0;
        left->is_bad = at > piece->span.to;
    }
}

/* Returns true if the lane has an object, which may be the first of another piece. */
static bool lane_has_more(struct lanes_left *left, struct lane *lane)
{
    while (lane->at >= lane->to) {
        lane_end(left, lane);
        *lane = (struct lane){0};
        if (left->is_bad || left->piece == left->end)
            return false;
        if (left->piece->kind == EDEN_IF_ONE || left->piece->kind == EDEN_ONE)
            lane_of_one(left, lane);
        else
            lane_of_piece(left, lane);
    }
    return !left->is_bad;
}

/* A step waits for the step before it, which found where its object begins, but for none of another
 * lane: so two are walked at a time. */
static bool walk_pieces(struct lanes_left *left)
{
    struct lane one = {0}, other = {0};
    while (lane_has_more(left, &one)) {
        bool both = lane_has_more(left, &other);
        do {
            if (!lane_step(&one) || (both && !lane_step(&other)))
                return false;
        } while (one.at < one.to && (!both || other.at < other.to));
    }
    while (lane_has_more(left, &other))
        if (!lane_step(&other))
            return false;
    return !left->is_bad;
}

bool eden_lanes_walk(const struct eden_threads *threads, const struct eden_piece *pieces,
                     size_t count, struct last_arrays *last, bool *has_older)
{
    struct lanes_left left = {.piece = pieces,
                              .end = pieces + count,
                              .threads = threads,
                              .last_arrays = last,
                              .has_older = has_older};
    return walk_pieces(&left);
}
