/* SPDX-License-Identifier: Apache-2.0 */
/* What a dead process left in its live file, put into a writer.  The file is read, not mapped, and
 * nothing in it is trusted. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/no_memory.h"
#include "format/live/live_allocs.h"
#include "format/live/live_decoder.h"
#include "format/live/live_file.h"
#include "format/live/live_schema.h"

/* The global stream first (its definitions are used by the others), the frees last (a batch that
 * was cut takes the latest time of all). */
static int stream_rank(uint64_t stream)
{
    return stream == STEP_LIVE_STREAM_GLOBAL ? 0 : stream == STEP_LIVE_STREAM_FREES ? 2 : 1;
}

static int compare_chunks(const void *left, const void *right)
{
    const struct found_chunk *a = left, *b = right;
    if (stream_rank(a->stream) != stream_rank(b->stream))
        return stream_rank(a->stream) - stream_rank(b->stream);
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The decoder of the file's definition; the other is NULL. */
struct decoders {
    struct live_decoder *java;
    struct live_allocs_decoder *heap;
};

static enum step_status check_definition(struct live_file *file, const struct step_writer *writer)
{
    if (live_schema_fits(file->header.definition, step_writer_borrow_definition(writer)))
        return STEP_STATUS_OK;
    return step_error_set(file->error, STEP_STATUS_UNSUPPORTED, file->path,
                          offsetof(struct step_live_header, definition),
                          "the trace beside it does not have the records of a %s program",
                          file->header.definition == STEP_LIVE_DEFINITION_HEAP ? "native" : "Java");
}

static bool create_decoders(const struct live_file *file, struct step_writer *writer,
                            struct decoders *decoders)
{
    *decoders = (struct decoders){NULL, NULL};
    if (file->header.definition == STEP_LIVE_DEFINITION_HEAP)
        decoders->heap = live_allocs_decoder_create(&file->header, writer);
    else
        decoders->java = live_decoder_create(&file->header, writer);
    return decoders->heap != NULL || decoders->java != NULL;
}

static enum step_status decode_words(const struct decoders *decoders,
                                     const struct found_chunk *chunk, const uint64_t *words,
                                     size_t *consumed, struct step_error *error)
{
    size_t count = (size_t) chunk->used / sizeof *words;
    return decoders->heap != NULL
               ? live_allocs_decoder_words(decoders->heap, chunk->stream, words, count, consumed,
                                           error)
               : live_decoder_words(decoders->java, chunk->stream, words, count, consumed, error);
}

/* Behind all records of the stream. */
static enum step_status decode_owed(struct live_file *file, const struct decoders *decoders,
                                    const struct found_chunk *chunk)
{
    uint64_t words[STEP_LIVE_OWED_WORDS];
    uint64_t at = sizeof(struct step_live_chunk) + chunk->owed_at * sizeof words[0];
    if (chunk->owed_at == 0 || decoders->heap == NULL ||
        !live_file_read(file, chunk->offset + at, words, sizeof words))
        return STEP_STATUS_OK;
    return live_allocs_decoder_owed(decoders->heap, chunk->stream, chunk->owed_record, words,
                                    file->error);
}

static enum step_status decode_chunk(struct live_file *file, const struct decoders *decoders,
                                     const struct found_chunk *chunk)
{
    uint64_t *words = malloc((size_t) chunk->used + 1);
    if (words == NULL)
        return step_error_set(file->error, STEP_STATUS_NO_MEMORY, file->path, chunk->offset,
                              "out of memory");
    enum step_status status =
        decoders->heap != NULL
            ? live_allocs_decoder_begin(decoders->heap, chunk->stream, chunk->first_record,
                                        chunk->thread)
            : live_decoder_begin(decoders->java, chunk->stream, chunk->first_record, chunk->thread);
    size_t consumed = 0;
    if (status == STEP_STATUS_OK &&
        live_file_read(file, chunk->offset + sizeof(struct step_live_chunk), words,
                       (size_t) chunk->used))
        status = decode_words(decoders, chunk, words, &consumed, file->error);
    if (status == STEP_STATUS_OK)
        status = decode_owed(file, decoders, chunk);
    free(words);
    if (status != STEP_STATUS_OK && file->error != NULL) {
        file->error->offset =
            chunk->offset + sizeof(struct step_live_chunk) + consumed * sizeof(uint64_t);
        snprintf(file->error->file, sizeof file->error->file, "%s", file->path);
    }
    return status;
}

/* Decodes every chunk that can be; the first damage is what the caller hears of. */
static enum step_status decode_chunks(struct live_file *file, struct step_writer *writer)
{
    struct decoders decoders;
    if (!create_decoders(file, writer, &decoders))
        return step_no_memory(file->error, file->path);
    enum step_status first = STEP_STATUS_OK;
    for (size_t i = 0; i < file->count; i++) {
        enum step_status status = decode_chunk(file, &decoders, &file->chunks[i]);
        if (first == STEP_STATUS_OK)
            first = status;
        if (status != STEP_STATUS_OK && status != STEP_STATUS_CORRUPT)
            break;
        file->error = first == STEP_STATUS_OK ? file->error : NULL;
    }
    enum step_status status = STEP_STATUS_OK;
    if (decoders.java != NULL)
        status = live_decoder_finish(decoders.java, file->header.free_stamp);
    live_decoder_destroy(decoders.java);
    live_allocs_decoder_destroy(decoders.heap);
    return first != STEP_STATUS_OK ? first : status;
}

enum step_status step_live_recover(const char *path, struct step_writer *writer,
                                   struct step_live_report *report, struct step_error *error)
{
    struct live_file file = {.path = path, .descriptor = -1, .error = error};
    enum step_status status = live_file_open(&file);
    if (status == STEP_STATUS_OK)
        status = live_file_check_owner(&file);
    if (status == STEP_STATUS_OK)
        status = check_definition(&file, writer);
    if (status == STEP_STATUS_OK)
        status = live_file_find_chunks(&file);
    if (status == STEP_STATUS_OK) {
        if (file.count > 1)
            qsort(file.chunks, file.count, sizeof *file.chunks, compare_chunks);
        status = decode_chunks(&file, writer);
    }
    if (report != NULL) {
        *report = (struct step_live_report){.dropped = file.header.dropped};
        memcpy(report->internals, file.header.internals, sizeof report->internals - 1);
    }
    live_file_close(&file);
    return status;
}
