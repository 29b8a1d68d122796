/* SPDX-License-Identifier: Apache-2.0 */
/* Raw records of frees: a batch for each collection, sorted. */
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/live/id_sort.h"
#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

static enum step_status note_batch_end(struct batch_ends *ends, uint64_t record)
{
    if (ends->count == ends->capacity) {
        uint64_t *grown =
            step_grown(ends->records, &ends->capacity, ends->capacity + 1, sizeof *grown);
        if (grown == NULL)
            return STEP_STATUS_NO_MEMORY;
        ends->records = grown;
    }
    ends->records[ends->count++] = record;
    return STEP_STATUS_OK;
}

enum step_status live_hold_free(struct free_batch *frees, uint64_t id)
{
    if (frees->count == frees->capacity) {
        uint64_t *grown =
            step_grown(frees->ids, &frees->capacity, frees->capacity + 1, sizeof *grown);
        if (grown == NULL)
            return STEP_STATUS_NO_MEMORY;
        frees->ids = grown;
    }
    frees->ids[frees->count++] = id;
    return STEP_STATUS_OK;
}

/* Sorts the batch and puts it; a part that the trace file has already is passed over. */
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
    id_sort(frees->ids, frees->scratch, frees->count);
    uint64_t first = state->next_record - frees->count;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < frees->count && status == STEP_STATUS_OK; i++) {
        if (first + i < state->resumed)
            continue;
        struct step_java_object_free event = {.time = ticks, .thread = 0, .object = frees->ids[i]};
        status = step_java_object_free_put(decoder->writer, STEP_LIVE_STREAM_FREES, &event);
    }
    frees->count = 0;
    return status == STEP_STATUS_OK ? note_batch_end(&decoder->batch_ends, state->next_record)
                                    : status;
}

enum step_status live_take_free_end(const struct raw *raw)
{
    return live_put_frees(raw->decoder, raw->state, raw->ticks);
}
