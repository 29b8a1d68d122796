/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes raw records of Java programs to STEP records, by a table with one row for each raw kind.
 *
 * A record goes through the same steps in each case: its length, its time, its number in the
 * stream, then the function of its row.  Only two kinds leave this path, as they are nearly all of
 * the records: runs of method events and allocations (live_runs.c), and frees (live_frees.c).
 */
#include "format/live/live_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "format/live/live_between.h"
#include "format/live/live_records.h"
#include "format/live/ticker.h"

#define TEXT_LIMIT (UINT64_C(1) << 20)

struct live_decoder *live_decoder_create(const struct step_live_header *clock,
                                         struct step_writer *writer)
{
    struct live_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    live_streams_init(&decoder->streams, clock, writer);
    decoder->has_runs = live_runs_init(decoder->run_layouts, &decoder->free_layout, writer);
    decoder->tick_rate = ticker_rate(&decoder->streams.clock);
    return decoder;
}

void live_decoder_destroy(struct live_decoder *decoder)
{
    if (decoder == NULL)
        return;
    live_streams_reset(&decoder->streams);
    free(decoder->frees.runs);
    free(decoder->frees.scratch);
    free(decoder->batch_ends.records);
    free(decoder->bytes);
    free(decoder);
}

/* The drain gives a chunk back to the ring when its records are final in the trace file; until then
 * a crash leaves them in the live file.  For most streams that is the number of records written.  A
 * batch of frees is sorted before it is written, so the part of it that is in the file says nothing
 * about which raw records these were: the batch counts when all of it is there.  The same holds for
 * records that a constructor's window has put in another order. */
uint64_t live_decoder_settled(void *user, uint64_t stream, uint64_t written)
{
    struct live_decoder *decoder = user;
    struct batch_ends *ends = &decoder->batch_ends;
    const struct stream_state *state = live_streams_find(&decoder->streams, stream);
    if (stream != STEP_LIVE_STREAM_FREES)
        return state != NULL && state->window != NULL ? window_settled(state->window, written)
                                                      : written;
    size_t passed = 0;
    while (passed < ends->count && ends->records[passed] <= written)
        ends->settled = ends->records[passed++];
    ends->count -= passed;
    if (passed != 0)
        memmove(ends->records, ends->records + passed, ends->count * sizeof *ends->records);
    return ends->settled;
}

enum stamp_form { NO_STAMP, STAMP, PAST };

/* Number of words before the text, and the word with its length (two 32-bit lengths for a
 * method). */
static const struct {
    uint32_t fixed_words;
    uint32_t length_word; /* 0: no text */
    bool is_event;
    enum stamp_form stamp;
    enum step_status (*take)(const struct raw *raw);
} rows[STEP_LIVE_KIND_COUNT] = {
    [STEP_LIVE_THREAD_SWITCH] = {1, 0, false, NO_STAMP, live_take_thread_switch},
    [STEP_LIVE_DEFINE_CLASS] = {3, 2, false, NO_STAMP, live_take_define_named},
    [STEP_LIVE_DEFINE_METHOD] = {4, 3, false, NO_STAMP, live_take_define_method},
    [STEP_LIVE_DEFINE_THREAD] = {3, 2, false, NO_STAMP, live_take_define_named},
    [STEP_LIVE_FREE_END] = {1, 0, false, STAMP, live_take_free_end},
    [STEP_LIVE_DEFINE_FRAME] = {3, 0, false, NO_STAMP, live_take_define_frame},
    [STEP_LIVE_STACK] = {1, 0, false, NO_STAMP, live_take_stack},
    [STEP_LIVE_VM_START] = {1, 0, true, STAMP, live_take_plain},
    [STEP_LIVE_VM_INIT] = {1, 0, true, STAMP, live_take_plain},
    [STEP_LIVE_VM_DEATH] = {1, 0, true, STAMP, live_take_plain},
    [STEP_LIVE_CLASS_LOAD] = {2, 0, true, STAMP, live_take_plain},
    [STEP_LIVE_CLASS_EXISTING] = {2, 0, true, STAMP, live_take_plain},
    [STEP_LIVE_THREAD_START] = {2, 0, true, STAMP, live_take_plain},
    [STEP_LIVE_THREAD_EXISTING] = {2, 0, true, STAMP, live_take_plain},
    [STEP_LIVE_THREAD_END] = {2, 0, true, STAMP, live_take_event},
    [STEP_LIVE_ALLOC] = {3, 0, true, STAMP, live_take_event},
    [STEP_LIVE_ALLOC_NEXT] = {2, 0, true, STAMP, live_take_event},
    [STEP_LIVE_EXISTING] = {3, 0, true, STAMP, live_take_event},
    [STEP_LIVE_FREE_OBJECT] = {1, 0, true, NO_STAMP, NULL},
    [STEP_LIVE_ENTRY] = {3, 0, true, STAMP, live_take_event},
    [STEP_LIVE_EXIT] = {2, 0, true, STAMP, live_take_event},
    [STEP_LIVE_FRAME_POP] = {2, 0, true, STAMP, live_take_event},
    [STEP_LIVE_ENTRY_SHORT] = {1, 0, true, PAST, live_take_event},
    [STEP_LIVE_EXIT_SHORT] = {1, 0, true, PAST, live_take_event},
    [STEP_LIVE_FRAME_POP_SHORT] = {1, 0, true, PAST, live_take_event},
    [STEP_LIVE_ENTRY_NEW] = {2, 0, true, STAMP, live_take_event},
    [STEP_LIVE_ENTRY_NEW_SHORT] = {1, 0, true, PAST, live_take_event},
    [STEP_LIVE_CONSTRUCTED] = {2, 0, false, NO_STAMP, live_take_constructed},
    [STEP_LIVE_UNWAITED] = {1, 0, false, NO_STAMP, live_close_window},
    [STEP_LIVE_REFERENCE] = {3, 0, true, STAMP, live_take_reference},
    [STEP_LIVE_FACT] = {3, 2, true, STAMP, live_take_fact},
};

bool live_record_is_event(uint64_t word)
{
    uint32_t kind = live_kind(word);
    return kind < STEP_LIVE_KIND_COUNT && rows[kind].is_event;
}

/* Lengths come from the file, which may be damaged or from an attacker: one beyond any text of the
 * agent's is no record.  A record that is cut by the end of the input is waited for (0). */
size_t live_record_words(const uint64_t *words, size_t count)
{
    uint32_t kind = live_kind(words[0]);
    if (kind >= STEP_LIVE_KIND_COUNT || rows[kind].fixed_words == 0)
        return SIZE_MAX;
    if (rows[kind].fixed_words > count)
        return 0;
    if (kind == STEP_LIVE_REFERENCE)
        return live_reference_words(words, count);
    if (rows[kind].length_word == 0)
        return rows[kind].fixed_words;
    uint64_t length = words[rows[kind].length_word];
    if (kind == STEP_LIVE_DEFINE_METHOD)
        length = (length & UINT32_MAX) + (length >> 32);
    if (length > TEXT_LIMIT)
        return SIZE_MAX;
    size_t total = rows[kind].fixed_words + (size_t) ((length + WORD_BYTES - 1) / WORD_BYTES);
    return total <= count ? total : 0;
}

/* A short record has the ticks since the stamp before it in the chunk, or no stamp; the first of a
 * chunk is never short. */
static uint64_t stamp_of(const struct raw *raw)
{
    struct stream_state *state = raw->state;
    uint64_t payload = raw->words[0] >> STEP_LIVE_KIND_BITS;
    if (rows[live_kind(raw->words[0])].stamp == STAMP)
        return state->last_stamp = payload;
    if (payload >> STEP_LIVE_METHOD_BITS == STEP_LIVE_PAST_SPARED)
        return live_between_next(&state->between, &raw->decoder->streams.clock, state->last_stamp,
                                 raw->words, raw->count);
    return state->last_stamp += payload >> STEP_LIVE_METHOD_BITS;
}

void live_decoder_end_at_death(struct live_decoder *decoder)
{
    decoder->ends_at_death = true;
}

/* Also notes the death itself.  When the JVM ends, the agent stops waiting for the other threads.
 * What they wrote after that is there from some and not from others, so all of it is left out. */
static bool is_after_death(struct live_decoder *decoder, uint32_t kind, uint64_t ticks)
{
    if (kind == STEP_LIVE_VM_DEATH && decoder->ends_at_death)
        decoder->death_ticks = ticks;
    return decoder->death_ticks != 0 && ticks > decoder->death_ticks;
}

/* A record that is not written must still change the state as if it were: the number of the last
 * object, the number of the next record.  Of the global stream, records that the trace file has are
 * passed over here; others count theirs in put_event(), as a window may hold them. */
static enum step_status live_decoder_take_record(struct live_decoder *decoder, uint64_t stream,
                                                 struct stream_state *state, const uint64_t *words,
                                                 size_t count)
{
    uint32_t kind = live_kind(words[0]);
    struct raw raw = {decoder, state, stream, words, count, 0, 0};
    if (rows[kind].stamp != NO_STAMP)
        raw.ticks = live_later_ticks(&decoder->streams.clock, state, stamp_of(&raw));
    bool omitted = is_after_death(decoder, kind, raw.ticks);
    if (kind == STEP_LIVE_ALLOC)
        state->last_object = words[2];
    else if (kind == STEP_LIVE_ALLOC_NEXT)
        state->last_object++;
    if (rows[kind].is_event) {
        raw.number = state->next_record++;
        if (raw.number < state->resumed && stream == STEP_LIVE_STREAM_GLOBAL)
            return STEP_STATUS_OK;
    }
    return omitted ? STEP_STATUS_OK : rows[kind].take(&raw);
}

enum step_status live_decoder_words(void *user, uint64_t stream, const uint64_t *words,
                                    size_t count, size_t *consumed, struct step_error *error)
{
    struct live_decoder *decoder = user;
    struct stream_state *state = live_streams_open(&decoder->streams, stream, error);
    *consumed = 0;
    if (state == NULL)
        return STEP_STATUS_CORRUPT;
    while (*consumed < count) {
        const uint64_t *at = words + *consumed;
        size_t left = count - *consumed, taken = 0;
        enum step_status status = STEP_STATUS_OK;
        if (decoder->death_ticks == 0 && live_starts_run(at[0])) {
            status = live_take_run(decoder, stream, state, at, left, &taken);
        } else {
            uint64_t before = decoder->frees.objects;
            status = live_hold_frees(&decoder->frees, at, left, &taken);
            state->next_record += decoder->frees.objects - before;
        }
        if (status == STEP_STATUS_OK && taken == 0) {
            taken = live_record_words(at, left);
            if (taken == 0)
                break;
            if (taken == SIZE_MAX)
                return live_streams_no_record(at[0], error);
            status = live_decoder_take_record(decoder, stream, state, at, left);
        }
        if (status != STEP_STATUS_OK)
            return live_streams_not_taken(status, error);
        *consumed += taken;
    }
    return STEP_STATUS_OK;
}

static enum step_status close_all_windows(struct live_decoder *decoder)
{
    enum step_status status = STEP_STATUS_OK;
    uint64_t end = live_streams_end(&decoder->streams);
    for (uint64_t i = 0; i < end && status == STEP_STATUS_OK; i++) {
        struct raw raw = {
            .decoder = decoder, .state = live_streams_find(&decoder->streams, i), .stream = i};
        if (raw.state != NULL)
            status = live_close_window(&raw);
    }
    return status;
}

/* A batch whose end is missing gets the time of the last free (`stamp`), or that of the latest
 * record if that is later: no object may die before it was used. */
enum step_status live_decoder_finish(struct live_decoder *decoder, uint64_t stamp)
{
    enum step_status status = close_all_windows(decoder);
    if (status != STEP_STATUS_OK)
        return status;
    if (decoder->frees.count == 0)
        return STEP_STATUS_OK;
    struct stream_state *state = live_streams_at(&decoder->streams, STEP_LIVE_STREAM_FREES);
    if (state == NULL)
        return STEP_STATUS_NO_MEMORY;
    live_later_ticks(&decoder->streams.clock, state, stamp);
    return live_put_frees(decoder, state, live_streams_latest(&decoder->streams));
}
