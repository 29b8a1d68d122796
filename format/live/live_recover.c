/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovers the records that a dead process left in its live file into a writer.  The file is read,
 * not mapped, and none of it is trusted.
 *
 * The process may have been killed between any two of its stores.  The file is valid nevertheless,
 * because a probe publishes a record by moving the chunk's end (`used`) after its words.  So what
 * is below the end is whole.  What recovery adds is bookkeeping: which chunks belong to which
 * stream in which order, and which of their records the trace file has already.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/live/live_allocs.h"
#include "format/live/live_decoder.h"
#include "format/live/live_file.h"
#include "format/live/live_streams.h"
#include "steptrace/definition.h"
#include "steptrace/hatf_trace.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"

/* The encoding does not matter. */
static bool is_alike(const struct step_field *theirs, const struct step_field *ours)
{
    return strcmp(theirs->name, ours->name) == 0 && theirs->kind == ours->kind &&
           theirs->array_depth == ours->array_depth &&
           step_field_is_identifier(theirs) == step_field_is_identifier(ours) &&
           step_field_is_variant(theirs) == step_field_is_variant(ours);
}

/* Returns true if all record types of the trace's definition that this library knows are as the
 * library knows them.  The decoders write records by these numbers and slots, so only then may a
 * live file be decoded into a writer with that definition.  (The last types may be missing: the
 * writer refuses those records.) A live file beside a trace of another definition would otherwise
 * become records that nobody wrote. */
static bool schema_fits(const struct step_definition *theirs, const struct step_definition *ours)
{
    for (size_t i = 0; i < ours->record_count && i < theirs->record_count; i++) {
        const struct step_record *one = &theirs->records[i], *other = &ours->records[i];
        if (strcmp(one->name, other->name) != 0 || one->field_count != other->field_count)
            return false;
        for (size_t k = 0; k < one->field_count; k++)
            if (!is_alike(&one->fields[k], &other->fields[k]))
                return false;
    }
    return true;
}

/* The global stream comes first, because others use its definitions; the frees last, because a
 * batch that was cut gets the latest time of all.  The other streams may come in any order, as each
 * is in order by itself. */
static int stream_rank(uint64_t stream)
{
    return stream == STEP_LIVE_STREAM_GLOBAL ? 0 : stream == STEP_LIVE_STREAM_FREES ? 2 : 1;
}

static int compare_chunks(const void *left, const void *right)
{
    const struct found_chunk *a = left, *b = right;
    if (stream_rank(a->head.stream) != stream_rank(b->head.stream))
        return stream_rank(a->head.stream) - stream_rank(b->head.stream);
    if (a->head.stream != b->head.stream)
        return a->head.stream < b->head.stream ? -1 : 1;
    return a->head.order < b->head.order ? -1 : a->head.order > b->head.order;
}

/* The decoder for the file's definition, and its functions. */
struct decoding {
    void *decoder;
    bool is_heap;
    enum step_status (*words)(void *decoder, uint64_t stream, const uint64_t *words, size_t count,
                              size_t *consumed, struct step_error *error);
};

static enum step_status check_definition(struct live_file *file, const struct step_writer *writer)
{
    const struct step_definition *theirs = step_writer_borrow_definition(writer);
    bool is_heap = file->header.definition == STEP_LIVE_DEFINITION_HEAP;
    bool is_known = is_heap || file->header.definition == STEP_LIVE_DEFINITION_JAVA;
    if (is_known &&
        schema_fits(theirs, is_heap ? &step_hatf_trace_definition : &step_java_trace_definition))
        return STEP_STATUS_OK;
    return step_error_set(file->error, STEP_STATUS_UNSUPPORTED, file->path,
                          offsetof(struct step_live_header, definition),
                          "the trace beside it does not have the records of a %s program",
                          is_heap ? "native" : "Java");
}

static struct decoding start_decoding(const struct live_file *file, struct step_writer *writer)
{
    if (file->header.definition == STEP_LIVE_DEFINITION_HEAP) {
        struct live_allocs_decoder *heap = live_allocs_decoder_create(&file->header, writer);
        if (heap != NULL && file->header.lost_stamp != 0)
            live_allocs_decoder_end_before(heap, file->header.lost_stamp);
        return (struct decoding){heap, true, live_allocs_decoder_words};
    }
    struct live_decoder *java = live_decoder_create(&file->header, writer);
    if (java != NULL)
        live_decoder_end_at_death(java);
    return (struct decoding){java, false, live_decoder_words};
}

/* Decodes pending frees after all records of the stream. */
static enum step_status decode_owed(struct live_file *file, const struct decoding *decoding,
                                    const struct found_chunk *chunk)
{
    uint64_t words[STEP_LIVE_OWED_WORDS];
    uint64_t at = sizeof(struct step_live_chunk) + chunk->head.owed_at * sizeof words[0];
    if (chunk->head.owed_at == 0 || !decoding->is_heap ||
        !live_file_read(file, chunk->offset + at, words, sizeof words))
        return STEP_STATUS_OK;
    return live_allocs_decoder_owed(decoding->decoder, chunk->head.stream, chunk->head.owed_record,
                                    words, file->error);
}

static enum step_status decode_chunk(struct live_file *file, const struct decoding *decoding,
                                     const struct found_chunk *chunk)
{
    uint64_t *words = malloc((size_t) chunk->head.used + 1);
    if (words == NULL)
        return step_error_set(file->error, STEP_STATUS_NO_MEMORY, file->path, chunk->offset,
                              "out of memory");
    enum step_status status = live_streams_begin(decoding->decoder, chunk->head.stream,
                                                 chunk->head.first_record, chunk->head.thread);
    size_t consumed = 0;
    if (status == STEP_STATUS_OK &&
        live_file_read(file, chunk->offset + sizeof(struct step_live_chunk), words,
                       (size_t) chunk->head.used))
        status = decoding->words(decoding->decoder, chunk->head.stream, words,
                                 (size_t) chunk->head.used / sizeof *words, &consumed, file->error);
    if (status == STEP_STATUS_OK)
        status = decode_owed(file, decoding, chunk);
    free(words);
    if (status != STEP_STATUS_OK && file->error != NULL) {
        file->error->offset =
            chunk->offset + sizeof(struct step_live_chunk) + consumed * sizeof(uint64_t);
        snprintf(file->error->file, sizeof file->error->file, "%s", file->path);
    }
    return status;
}

/* Decodes every readable chunk.  The caller gets the first damage.  A damaged chunk costs its own
 * records: the next one states the number of its first record, so the stream goes on with a gap.
 * Other failures, such as of memory, end the work. */
static enum step_status decode_chunks(struct live_file *file, struct step_writer *writer)
{
    struct decoding decoding = start_decoding(file, writer);
    if (decoding.decoder == NULL)
        return step_no_memory(file->error, file->path);
    enum step_status first = STEP_STATUS_OK;
    for (size_t i = 0; i < file->count; i++) {
        enum step_status status = decode_chunk(file, &decoding, &file->chunks[i]);
        if (first == STEP_STATUS_OK)
            first = status;
        if (status != STEP_STATUS_OK && status != STEP_STATUS_CORRUPT)
            break;
        file->error = first == STEP_STATUS_OK ? file->error : NULL;
    }
    enum step_status status = STEP_STATUS_OK;
    if (decoding.is_heap) {
        live_allocs_decoder_destroy(decoding.decoder);
    } else {
        status = live_decoder_finish(decoding.decoder, file->header.free_stamp);
        live_decoder_destroy(decoding.decoder);
    }
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
        *report = (struct step_live_report){.dropped = file.header.dropped,
                                            .is_lost = file.header.lost_stamp != 0};
        if (report->is_lost && file.header.resolution_ns != 0) {
            const struct step_live_header clock = live_clock(&file.header);
            report->lost_ns = live_stamp_ns(&clock, file.header.lost_stamp);
        }
        memcpy(report->internals, file.header.internals, sizeof report->internals - 1);
    }
    live_file_close(&file);
    return status;
}
