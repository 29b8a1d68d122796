/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks of a stream are needed, and the events in them. */
#include "step_stream.h"

#include <stdlib.h>
#include <string.h>

#include "steptrace/live.h"

#define LIVE_KINDS (TRACE_KIND_BIT(STEP_TEXT_OA) | TRACE_KIND_BIT(STEP_TEXT_OF))

enum block_use { BLOCK_SKIP, BLOCK_LIVE, BLOCK_WHOLE };

/* The identifier of the thread that text shows as `number`; 0 if there is none. */
static uint64_t thread_id_of(const struct step_streams *streams, uint64_t number)
{
    if (!streams->decoder.numbers_in_names)
        return number;
    const struct step_definition *definition = step_reader_borrow_definition(streams->reader);
    for (uint32_t i = 0; i < definition->record_count; i++) {
        if (streams->decoder.records[i] != JAVA_THREAD)
            continue;
        uint64_t count = step_reader_dictionary_count(streams->reader, i);
        for (uint64_t id = 1; id <= count && id < UINT32_MAX; id++)
            if (step_decoder_thread_number(&streams->decoder, id) == number)
                return id;
    }
    return 0;
}

static void choose_records(struct step_streams *streams, uint32_t kinds)
{
    uint32_t decoded = kinds | (streams->keep_live ? LIVE_KINDS : 0);
    for (uint32_t i = 0; i < streams->decoder.record_count; i++) {
        enum step_text_kind kind = step_decoder_kind(&streams->decoder, i);
        uint32_t bit = kind < STEP_TEXT_KIND_COUNT ? TRACE_KIND_BIT(kind) : 0;
        streams->wanted[i] = (decoded & bit) != 0;
        streams->wanted_live[i] = (LIVE_KINDS & bit) != 0;
    }
}

enum step_status step_streams_init(struct step_streams *streams, struct step_reader *reader,
                                   struct trace_names *names, const struct trace_wish *wish,
                                   bool keep_live, struct step_error *error)
{
    *streams = (struct step_streams){.reader = reader, .wish = wish, .keep_live = keep_live};
    enum step_status status = step_decoder_init(&streams->decoder, reader, names, error);
    if (status != STEP_STATUS_OK)
        return status;
    streams->wanted = calloc(streams->decoder.record_count + 1, 1);
    streams->wanted_live = calloc(streams->decoder.record_count + 1, 1);
    if (streams->wanted == NULL || streams->wanted_live == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    choose_records(streams, wish->kinds);
    streams->from_ticks = wish->from_ns / streams->decoder.resolution_ns;
    streams->to_ticks = wish->to_ns / streams->decoder.resolution_ns;
    if (wish->has_thread && wish->thread != 0) {
        streams->thread_id = thread_id_of(streams, wish->thread);
        /* Frees belong to no thread, so nobody needs to know of what. */
        streams->keep_live = false;
    }
    return STEP_STATUS_OK;
}

void step_streams_reset(struct step_streams *streams)
{
    step_decoder_reset(&streams->decoder);
    step_block_destroy(streams->spare);
    free(streams->wanted);
    free(streams->wanted_live);
}

static bool holds(const struct step_streams *streams, const struct step_block_info *info,
                  const uint8_t *wanted)
{
    (void) streams;
    for (size_t i = 0; i < info->type_count; i++)
        if (wanted[info->counts[i].record] != 0)
            return true;
    return false;
}

static enum block_use use_of(const struct step_streams *streams, const struct step_block_info *info)
{
    if (info->time_min > streams->to_ticks)
        return BLOCK_SKIP;
    bool outside = info->time_max < streams->from_ticks;
    if (streams->wish->has_thread &&
        (streams->thread_id < info->thread_min || streams->thread_id > info->thread_max))
        outside = true;
    if (outside)
        return streams->keep_live && holds(streams, info, streams->wanted_live) ? BLOCK_LIVE
                                                                                : BLOCK_SKIP;
    return holds(streams, info, streams->wanted) ? BLOCK_WHOLE : BLOCK_SKIP;
}

static uint8_t rank_of(const struct step_stream_queue *queue)
{
    if (queue->stream == STEP_LIVE_STREAM_GLOBAL)
        return queue->has_event && queue->event.kind == STEP_TEXT_VD ? RANK_LAST : RANK_GLOBAL;
    return queue->stream == STEP_LIVE_STREAM_FREES ? RANK_FREES : RANK_BUFFER;
}

/* Passes over blocks that nobody needs, and sets when the next one starts. */
static void find_block(struct step_streams *streams, struct step_stream_queue *queue)
{
    for (; queue->next_block < queue->block_count; queue->next_block++) {
        const struct step_block_info *info =
            step_reader_block_info(streams->reader, queue->blocks[queue->next_block]);
        if (use_of(streams, info) != BLOCK_SKIP) {
            queue->ticks = info->time_min;
            break;
        }
        streams->bytes_done += info->stored_bytes;
    }
    queue->rank = rank_of(queue);
}

void step_stream_start(struct step_streams *streams, struct step_stream_queue *queue)
{
    queue->has_event = false;
    find_block(streams, queue);
}

bool step_stream_is_open(const struct step_stream_queue *queue)
{
    return queue->has_event || queue->next_block < queue->block_count;
}

void step_stream_close(struct step_streams *streams, struct step_stream_queue *queue)
{
    if (streams->spare == NULL)
        streams->spare = queue->block;
    else
        step_block_destroy(queue->block);
    queue->block = NULL;
}

void step_stream_advance(struct step_streams *streams, struct step_stream_queue *queue)
{
    struct step_record_view view;
    while (step_block_next(queue->block, &view) == STEP_STATUS_OK) {
        if (!step_decoder_event(&streams->decoder, &view, &queue->event, &queue->ticks))
            continue;
        queue->has_event = true;
        queue->rank = rank_of(queue);
        return;
    }
    queue->has_event = false;
    step_stream_close(streams, queue);
    find_block(streams, queue);
}

enum step_status step_stream_load(struct step_streams *streams, struct step_stream_queue *queue,
                                  struct step_error *error)
{
    while (!queue->has_event && queue->next_block < queue->block_count) {
        size_t number = queue->blocks[queue->next_block++];
        const struct step_block_info *info = step_reader_block_info(streams->reader, number);
        enum block_use use = use_of(streams, info);
        streams->bytes_done += info->stored_bytes;
        if (use == BLOCK_SKIP)
            continue;
        struct step_error local = {.offset = STEP_NO_OFFSET};
        if (queue->block == NULL) {
            queue->block = streams->spare;
            streams->spare = NULL;
        }
        enum step_status status = step_reader_load(
            streams->reader, number, use == BLOCK_WHOLE ? streams->wanted : streams->wanted_live,
            &queue->block, &local);
        if (status == STEP_STATUS_OK) {
            step_stream_advance(streams, queue);
        } else if (status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO) {
            if (error != NULL)
                *error = local;
            return status;
        } else {
            find_block(streams, queue);
        }
    }
    return STEP_STATUS_OK;
}
