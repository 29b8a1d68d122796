/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes raw records of frees: one sorted batch for each collection. */
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

static bool is_free(uint64_t word)
{
    return (word & ((1u << STEP_LIVE_KIND_BITS) - 1)) == STEP_LIVE_FREE_OBJECT;
}

enum step_status live_hold_frees(struct free_batch *frees, const uint64_t *words, size_t count,
                                 size_t *taken)
{
    size_t i = 0;
    *taken = 0;
    if (count == 0 || !is_free(words[0]))
        return STEP_STATUS_OK;
    if (!STEP_MAKE_ROOM(frees->ids, frees->capacity, frees->count + count))
        return STEP_STATUS_NO_MEMORY;
    for (uint64_t *ids = frees->ids + frees->count; i < count && is_free(words[i]); i++)
        ids[i] = words[i] >> STEP_LIVE_KIND_BITS;
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
        status = step_writer_put(decoder->writer, STEP_LIVE_STREAM_FREES, record, slots);
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

/* Objects of earlier files are the last. */
static enum step_status put_sorted(struct live_decoder *decoder, const uint64_t *ids, size_t count,
                                   uint64_t ticks)
{
    size_t own = count;
    while (own > 0 && (ids[own - 1] & STEP_LIVE_IS_EARLIER) != 0)
        own--;
    enum step_status status = put_runs(decoder, ids, own, ticks);
    return status == STEP_STATUS_OK
               ? put_each(decoder, STEP_JAVA_OBJECT_FREE_EARLIER, ids + own, count - own, ticks)
               : status;
}

/* Sorts the batch and writes it; the part that the trace file already has is skipped. */
enum step_status live_put_frees(struct live_decoder *decoder, struct stream_state *state,
                                uint64_t ticks)
{
    struct free_batch *frees = &decoder->frees;
    if (frees->scratch_capacity < frees->count) {
        free(frees->scratch);
        frees->scratch = malloc(frees->capacity * sizeof *frees->scratch);
        frees->scratch_capacity = frees->scratch != NULL ? frees->capacity : 0;
        if (frees->scratch == NULL)
            return STEP_STATUS_NO_MEMORY;
    }
    if (frees->count == 0) /* an end without a batch */
        return note_batch_end(&decoder->batch_ends, state->next_record);
    id_sort(frees->ids, frees->scratch, frees->count);
    uint64_t first = state->next_record - frees->count;
    size_t passed = state->resumed > first ? (size_t) (state->resumed - first) : 0;
    passed = passed < frees->count ? passed : frees->count;
    enum step_status status =
        put_sorted(decoder, frees->ids + passed, frees->count - passed, ticks);
    frees->count = 0;
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
            : step_java_object_given_up_put(raw->decoder->writer, raw->stream, &event);
    return status == STEP_STATUS_OK
               ? note_batch_end(&raw->decoder->batch_ends, raw->state->next_record)
               : status;
}

enum step_status live_take_free_end(const struct raw *raw)
{
    return live_put_frees(raw->decoder, raw->state, raw->ticks);
}
