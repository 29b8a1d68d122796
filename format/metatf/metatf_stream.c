/* SPDX-License-Identifier: Apache-2.0 */
/* Input stream of a section: its pieces in sequence, decompressed, with zeros after them. */
#include <stdlib.h>

#include "format/metatf/metatf_state.h"

#define WINDOW_BYTES ((size_t) 1 << 18)
#define RECORD_BYTES_MAX ((uint64_t) 64 << 20) /* of one record */

struct retired {
    struct retired *next;
    uint8_t *buffer;
};

static enum step_status metatf_stream_fail(const struct metatf_stream *stream,
                                           const struct metatf_file *file, enum step_status status,
                                           const char *message, struct step_error *error)
{
    return step_error_set(error, status, file->name, stream->piece_start, "%s", message);
}

void metatf_stream_retire(struct metatf_stream *stream)
{
    while (stream->retired != NULL) {
        struct retired *first = stream->retired;
        stream->retired = first->next;
        free(first->buffer);
        free(first);
    }
}

void metatf_stream_reset(struct metatf_stream *stream)
{
    metatf_stream_retire(stream);
    free(stream->buffer);
    *stream = (struct metatf_stream){.tag_width = stream->tag_width};
}

uint64_t metatf_stream_offset(const struct metatf_stream *stream, const uint8_t *at)
{
    if (stream->is_packed || stream->buffer == NULL)
        return stream->piece_start;
    return stream->piece_start + stream->base + (uint64_t) (at - stream->buffer);
}

/* Provides a buffer of at least `size` bytes; its old content is lost. */
static bool need_buffer(struct metatf_stream *stream, size_t size)
{
    if (stream->capacity >= size)
        return true;
    free(stream->buffer);
    stream->buffer = malloc(size);
    stream->capacity = stream->buffer != NULL ? size : 0;
    return stream->buffer != NULL;
}

static enum step_status metatf_stream_unpack(struct metatf_stream *stream,
                                             const struct metatf_file *file,
                                             const struct metatf_entry *entry,
                                             struct metatf_unpacker *unpacker, uint32_t padding,
                                             struct step_error *error)
{
    unsigned ints = metatf_file_ints(file);
    uint8_t bytes[8 + 8];
    if (entry->is_cut || entry->size < ints)
        return metatf_stream_fail(stream, file, STEP_STATUS_CUT, "a compressed piece was cut",
                                  error);
    enum step_status status = metatf_file_read(file, entry->start, bytes, ints, error);
    if (status != STEP_STATUS_OK)
        return status;
    uint64_t raw = step_number_load(bytes, ints, file->about.big_endian);
    size_t packed = (size_t) (entry->size - ints);
    if (raw > METATF_SEGMENT_BYTES_MAX || entry->size > 2 * (uint64_t) METATF_SEGMENT_BYTES_MAX)
        return metatf_stream_fail(stream, file, STEP_STATUS_LIMIT,
                                  "a compressed piece is too large", error);
    unpacker->packed.length = 0;
    if (!step_buffer_reserve(&unpacker->packed, packed + 8) ||
        !need_buffer(stream, (size_t) raw + padding) ||
        (unpacker->decompressor == NULL &&
         step_decompressor_create(&unpacker->decompressor) != STEP_STATUS_OK))
        return metatf_stream_fail(stream, file, STEP_STATUS_NO_MEMORY, "out of memory", error);
    status = metatf_file_read(file, entry->start + ints, unpacker->packed.data, packed, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = step_decompress(unpacker->decompressor, entry->method, unpacker->packed.data, packed,
                             stream->buffer, (size_t) raw);
    if (status != STEP_STATUS_OK)
        return metatf_stream_fail(stream, file, status,
                                  status == STEP_STATUS_UNSUPPORTED
                                      ? "unknown compression"
                                      : "a compressed piece is damaged",
                                  error);
    stream->end = stream->buffer + raw;
    memset(stream->buffer + raw, 0, padding);
    return STEP_STATUS_OK;
}

enum step_status metatf_stream_open(struct metatf_stream *stream, const struct metatf_file *file,
                                    const struct metatf_entry *entry,
                                    struct metatf_unpacker *unpacker, uint32_t padding,
                                    struct step_error *error)
{
    stream->at = stream->end = stream->buffer;
    stream->base = 0;
    stream->piece_start = entry->start;
    stream->is_packed = entry->method != STEP_COMPRESSION_NONE;
    stream->is_cut = entry->is_cut;
    stream->left = stream->is_packed ? 0 : entry->size;
    if (!stream->is_packed)
        return STEP_STATUS_OK;
    enum step_status status = metatf_stream_unpack(stream, file, entry, unpacker, padding, error);
    stream->at = stream->buffer;
    if (status != STEP_STATUS_OK)
        stream->end = stream->buffer;
    return status;
}

/* Switches to another buffer that starts with the bytes from `keep` on. */
static bool move_to_new(struct metatf_stream *stream, const uint8_t *keep, size_t kept, size_t size,
                        bool in_record)
{
    struct retired *retired = in_record ? malloc(sizeof *retired) : NULL;
    uint8_t *buffer = !in_record || retired != NULL ? malloc(size) : NULL;
    if (buffer == NULL) {
        free(retired);
        return false;
    }
    if (kept > 0)
        memcpy(buffer, keep, kept);
    if (in_record) {
        *retired = (struct retired){stream->retired, stream->buffer};
        stream->retired = retired;
    } else {
        free(stream->buffer);
    }
    stream->buffer = buffer;
    stream->capacity = size;
    return true;
}

enum step_status metatf_stream_load(struct metatf_stream *stream, const struct metatf_file *file,
                                    const uint8_t **at, uint64_t need, uint32_t padding,
                                    bool in_record, struct step_error *error)
{
    const uint8_t *keep = in_record ? stream->at : *at;
    size_t before = (size_t) (*at - keep);
    size_t kept = (size_t) (stream->end - keep);
    if (stream->left == 0 || need <= kept - before)
        return STEP_STATUS_OK;
    if (need + before > RECORD_BYTES_MAX)
        return step_error_set(error, STEP_STATUS_LIMIT, file->name,
                              metatf_stream_offset(stream, keep), "a record is too long");
    size_t load = (size_t) need + before - kept;
    if (load < WINDOW_BYTES)
        load = WINDOW_BYTES;
    if (in_record && load < kept)
        load = kept;
    if (load > stream->left)
        load = (size_t) stream->left;
    size_t size = kept + load + padding;
    uint64_t base =
        stream->base + (stream->buffer != NULL ? (uint64_t) (keep - stream->buffer) : 0);
    if (in_record || size > stream->capacity) {
        if (!move_to_new(stream, keep, kept, size, in_record))
            return metatf_stream_fail(stream, file, STEP_STATUS_NO_MEMORY, "out of memory", error);
    } else if (kept > 0) {
        memmove(stream->buffer, keep, kept);
    }
    stream->base = base;
    stream->at = stream->buffer;
    *at = stream->buffer + before;
    stream->end = stream->buffer + kept;
    memset(stream->buffer + kept, 0, padding);
    enum step_status status = file->input.read(file->input.user, stream->piece_start + base + kept,
                                               stream->buffer + kept, load, error);
    if (status != STEP_STATUS_OK)
        return status;
    stream->left -= load;
    stream->end += load;
    memset(stream->buffer + kept + load, 0, padding);
    return STEP_STATUS_OK;
}
