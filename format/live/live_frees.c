/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes raw records of frees: one sorted batch for each collection.
 *
 * A collection's frees come in the order in which the agent finds them.  In the trace they are in
 * order of objects, as ascending numbers have small differences.  Nothing is lost by sorting, as
 * all of them have the same time, that of the collection's end, which is known only when the batch
 * ends.
 *
 * The order is a function of the batch alone.  So when recovery sorts the batch again, it can skip
 * as many as the trace file has, and continues with the right one.
 */
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/live/id_sort.h"
#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

static enum step_status note_batch_end(struct batch_ends *ends, uint64_t record)
{
    if (!STEP_MAKE_ROOM(ends->records, ends->capacity, ends->count + 1))
        return STEP_STATUS_NO_MEMORY;
    ends->records[ends->count++] = record;
    return STEP_STATUS_OK;
}

static bool live_frees_is_free(uint64_t word)
{
    return live_kind(word) == STEP_LIVE_FREE_OBJECT;
}

/* Takes all frees in a row.  A word may stand for many objects with consecutive numbers; `objects`
 * counts each of them, as record numbers do. */
enum step_status live_hold_frees(struct free_batch *frees, const uint64_t *words, size_t count,
                                 size_t *taken)
{
    size_t i = 0;
    *taken = 0;
    if (count == 0 || !live_frees_is_free(words[0]))
        return STEP_STATUS_OK;
    if (!STEP_MAKE_ROOM(frees->runs, frees->capacity, frees->count + count))
        return STEP_STATUS_NO_MEMORY;
    uint64_t *runs = frees->runs + frees->count;
    for (; i < count && live_frees_is_free(words[i]); i++) {
        runs[i] = words[i] >> STEP_LIVE_KIND_BITS;
        frees->objects += step_live_freed_count(runs[i]);
    }
    frees->count += i;
    *taken = i;
    return STEP_STATUS_OK;
}

/* Writes the frees one by one. */
static enum step_status put_each(struct live_decoder *decoder, uint32_t record, const uint64_t *ids,
                                 size_t count, uint64_t ticks)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        const uint64_t slots[] = {ticks, 0, ids[i] & ~STEP_LIVE_IS_EARLIER};
        status = step_writer_put(decoder->streams.writer, STEP_LIVE_STREAM_FREES, record, slots);
    }
    return status;
}

static enum step_status put_runs(struct live_decoder *decoder, const uint64_t *ids, size_t count,
                                 uint64_t ticks)
{
    enum step_status status = STEP_STATUS_OK;
    while (count != 0 && status == STEP_STATUS_OK) {
        size_t taken;
        status = live_put_free_run(decoder, ids, count, ticks, &taken);
        if (status == STEP_STATUS_OK && taken == 0) {
            taken = count;
            status = put_each(decoder, STEP_JAVA_OBJECT_FREE, ids, count, ticks);
        }
        ids += taken;
        count -= taken;
    }
    return status;
}

/* Sorts by object; those of earlier files are the last, since their mark is a higher bit.  Ids
 * without runs are sorted as they are, which is faster; with runs, the counts go below the ids, so
 * that the first object decides. */
static enum step_status sort_runs(struct free_batch *frees)
{
    bool has_runs = frees->objects != frees->count;
    const uint64_t first = (UINT64_C(1) << STEP_LIVE_FREED_BITS) - 1;
    if (frees->scratch_capacity < frees->count) {
        free(frees->scratch);
        frees->scratch = malloc(frees->capacity * sizeof *frees->scratch);
        frees->scratch_capacity = frees->scratch != NULL ? frees->capacity : 0;
        if (frees->scratch == NULL)
            return STEP_STATUS_NO_MEMORY;
    }
    for (size_t i = 0; has_runs && i < frees->count; i++)
        frees->runs[i] = (frees->runs[i] & first) * STEP_LIVE_FREED_MOST |
                         frees->runs[i] >> STEP_LIVE_FREED_BITS;
    id_sort(frees->runs, frees->scratch, frees->count);
    for (size_t i = 0; has_runs && i < frees->count; i++)
        frees->runs[i] = frees->runs[i] / STEP_LIVE_FREED_MOST |
                         frees->runs[i] % STEP_LIVE_FREED_MOST << STEP_LIVE_FREED_BITS;
    return STEP_STATUS_OK;
}

/* Where a sorted batch is written: the next object of a run. */
struct run_place {
    const struct free_batch *frees;
    size_t run;
    uint64_t object; /* within it */
};

/* Takes the next objects, which are all of this file or all of earlier ones. Returns their
 * number. */
static size_t take_objects(struct run_place *place, uint64_t *ids, size_t most)
{
    const struct free_batch *frees = place->frees;
    uint64_t earlier = frees->runs[place->run] & STEP_LIVE_IS_EARLIER;
    size_t taken = 0;
    while (place->run < frees->count && taken < most &&
           (frees->runs[place->run] & STEP_LIVE_IS_EARLIER) == earlier) {
        uint64_t run = frees->runs[place->run], left = step_live_freed_count(run) - place->object;
        uint64_t next = step_live_freed_object(run) + place->object;
        size_t count = left < most - taken ? (size_t) left : most - taken;
        for (size_t i = 0; i < count; i++)
            ids[taken + i] = (next + i) | earlier;
        taken += count;
        place->object = count < left ? place->object + count : 0;
        place->run += count == left;
    }
    return taken;
}

static void pass_objects(struct run_place *place, uint64_t passed)
{
    const struct free_batch *frees = place->frees;
    while (place->run < frees->count && passed >= step_live_freed_count(frees->runs[place->run]))
        passed -= step_live_freed_count(frees->runs[place->run++]);
    place->object = passed;
}

/* Sorts the batch and writes it; the part that the trace file already has is skipped.
 * `next_record` counts the whole batch by now, so its first number is that less its objects. */
enum step_status live_put_frees(struct live_decoder *decoder, struct stream_state *state,
                                uint64_t ticks)
{
    enum { IDS = 1024 };
    uint64_t ids[IDS];
    struct free_batch *frees = &decoder->frees;
    struct run_place place = {frees, 0, 0};
    enum step_status status = frees->count != 0 ? sort_runs(frees) : STEP_STATUS_OK;
    if (status != STEP_STATUS_OK)
        return status;
    uint64_t first = state->next_record - frees->objects;
    pass_objects(&place, state->resumed > first ? state->resumed - first : 0);
    while (place.run < frees->count && status == STEP_STATUS_OK) {
        size_t count = take_objects(&place, ids, IDS);
        status = (ids[0] & STEP_LIVE_IS_EARLIER) != 0
                     ? put_each(decoder, STEP_JAVA_OBJECT_FREE_EARLIER, ids, count, ticks)
                     : put_runs(decoder, ids, count, ticks);
    }
    frees->count = 0;
    frees->objects = 0;
    return status == STEP_STATUS_OK ? note_batch_end(&decoder->batch_ends, state->next_record)
                                    : status;
}

/* The agent has ended the batch before. */
enum step_status live_take_given_up(const struct raw *raw)
{
    struct step_java_object_given_up event = {
        .time = raw->ticks, .object = raw->words[3], .threshold = raw->words[4]};
    if (raw->stream != STEP_LIVE_STREAM_FREES || raw->decoder->frees.count != 0)
        return STEP_STATUS_CORRUPT;
    enum step_status status =
        raw->number < raw->state->resumed
            ? STEP_STATUS_OK
            : step_java_object_given_up_put(raw->decoder->streams.writer, raw->stream, &event);
    return status == STEP_STATUS_OK
               ? note_batch_end(&raw->decoder->batch_ends, raw->state->next_record)
               : status;
}

enum step_status live_take_free_end(const struct raw *raw)
{
    return live_put_frees(raw->decoder, raw->state, raw->ticks);
}
