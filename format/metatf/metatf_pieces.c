/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a Meta-TF file's header, the pieces of its sections, the embedded DTD, and the index. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/step_no_memory.h"
#include "format/metatf/metatf_writing.h"

#define COMMENT_BYTES 255u

enum step_status metatf_writer_status(const struct metatf_writer *writer, struct step_error *error)
{
    if (writer->rest->status != STEP_STATUS_OK && error != NULL)
        *error = writer->rest->error;
    return writer->rest->status;
}

static void metatf_pieces_fail(struct metatf_writer *writer, enum step_status status,
                               const char *message)
{
    if (writer->rest->status == STEP_STATUS_OK)
        writer->rest->status =
            step_error_set(&writer->rest->error, status, NULL, STEP_NO_OFFSET, "%s", message);
}

void metatf_writer_no_memory(struct metatf_writer *writer)
{
    metatf_pieces_fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
}

bool metatf_grow_section(struct metatf_writing *writing, size_t extra)
{
    if (extra <= writing->capacity - writing->length)
        return true;
    if (extra > SIZE_MAX / 4 - writing->capacity)
        return false;
    return STEP_MAKE_ROOM(writing->data, writing->capacity, writing->length + extra);
}

void metatf_write_out(struct metatf_writer *writer, const void *data, size_t length)
{
    struct metatf_writer_rest *rest = writer->rest;
    rest->offset += length;
    if (rest->status != STEP_STATUS_OK || length == 0)
        return;
    if (rest->options.layout != METATF_INDEX || rest->is_closed) {
        rest->status =
            rest->options.output.write(rest->options.output.user, data, length, &rest->error);
    } else if (!step_buffer_append(&rest->body, data, length)) {
        metatf_writer_no_memory(writer);
    }
}

unsigned metatf_writer_int_bytes(const struct metatf_writer *writer)
{
    return metatf_int_bytes(writer->rest->options.wide, writer->rest->options.short_ints);
}

static uint8_t *store_int(struct metatf_writer *writer, uint8_t *out, uint64_t number)
{
    if (metatf_writer_int_bytes(writer) == 4 && number > INT32_MAX)
        metatf_pieces_fail(writer, STEP_STATUS_LIMIT, "a file with ints of 4 bytes ends at 2 GiB");
    return step_number_store(out, number, metatf_writer_int_bytes(writer), writer->big_endian);
}

static uint8_t *store_entry(struct metatf_writer *writer, uint8_t *out,
                            const struct metatf_entry *entry)
{
    out = store_int(writer, out, entry->number | (uint64_t) entry->method << METATF_METHOD_SHIFT);
    out = store_int(writer, out, entry->start);
    return store_int(writer, out, entry->size);
}

size_t metatf_entry_bytes(const struct metatf_writer *writer)
{
    return 3 * metatf_writer_int_bytes(writer);
}

void metatf_write_header(struct metatf_writer *writer, uint64_t sections, uint64_t start,
                         uint64_t records)
{
    struct metatf_writer_rest *rest = writer->rest;
    uint8_t bytes[METATF_FIXED_BYTES + 24 + 8] = METATF_MAGIC;
    bytes[4] = rest->options.wide ? 2 : 1;
    bytes[5] = writer->big_endian ? 2 : 1;
    bytes[6] = (uint8_t) strlen(rest->dtd_name);
    bytes[7] = rest->options.layout == METATF_SEGMENTS ? METATF_FLAG_SEGMENTS : 0;
    uint8_t *at = store_int(writer, bytes + METATF_FIXED_BYTES, sections);
    at = store_int(writer, at, start);
    at = store_int(writer, at, records);
    metatf_write_out(writer, bytes, (size_t) (at - bytes));
    metatf_write_out(writer, rest->dtd_name, strlen(rest->dtd_name));
}

static bool metatf_pieces_add_entry(struct metatf_writer *writer, const struct metatf_entry *entry)
{
    struct metatf_writer_rest *rest = writer->rest;
    if (!STEP_MAKE_ROOM(rest->entries, rest->entry_capacity, rest->entry_count + 1))
        return false;
    rest->entries[rest->entry_count++] = *entry;
    return true;
}

/* Writes a piece, with its header if the layout has one. */
static void write_piece(struct metatf_writer *writer, uint32_t number, uint32_t method,
                        const void *data, size_t length)
{
    struct metatf_writer_rest *rest = writer->rest;
    uint8_t bytes[24 + 8];
    bool has_header = rest->options.layout == METATF_SEGMENTS;
    struct metatf_entry entry = {.number = number,
                                 .method = method,
                                 .start =
                                     rest->offset + (has_header ? metatf_entry_bytes(writer) : 0),
                                 .size = length};
    if (has_header)
        metatf_write_out(writer, bytes, (size_t) (store_entry(writer, bytes, &entry) - bytes));
    metatf_write_out(writer, data, length);
    if (number != METATF_INDEX_SECTION && !metatf_pieces_add_entry(writer, &entry))
        metatf_writer_no_memory(writer);
}

static void flush_section(struct metatf_writer *writer, struct metatf_writing *writing)
{
    struct metatf_writer_rest *rest = writer->rest;
    size_t length = writing->length;
    writing->length = 0;
    if (length == 0)
        return;
    if (writing->compression == STEP_COMPRESSION_NONE || length > METATF_SEGMENT_BYTES_MAX) {
        write_piece(writer, writing->section->number, STEP_COMPRESSION_NONE, writing->data, length);
        return;
    }
    enum step_compression method;
    rest->packed.length = 0;
    if (rest->compressor == NULL &&
        step_compressor_create(rest->options.compression, rest->options.level, &rest->compressor) !=
            STEP_STATUS_OK)
        metatf_writer_no_memory(writer);
    if (rest->status == STEP_STATUS_OK && step_buffer_reserve(&rest->packed, 16)) {
        rest->packed.length =
            (size_t) (store_int(writer, rest->packed.data, length) - rest->packed.data);
        rest->status =
            step_compress(rest->compressor, false, writing->data, length, &rest->packed, &method);
    }
    if (rest->status != STEP_STATUS_OK)
        return;
    if (method == STEP_COMPRESSION_NONE)
        write_piece(writer, writing->section->number, STEP_COMPRESSION_NONE, writing->data, length);
    else
        write_piece(writer, writing->section->number, method, rest->packed.data,
                    rest->packed.length);
}

void metatf_flush_pieces(struct metatf_writer *writer)
{
    struct metatf_writer_rest *rest = writer->rest;
    if (rest->options.layout == METATF_RECORDS) {
        metatf_write_out(writer, rest->run.data, rest->run.length);
        rest->run.length = 0;
        return;
    }
    /* by number, because the DTD may list them in any order */
    for (uint32_t number = 0; number < 256; number++) {
        uint32_t index = metatf_dtd_section(rest->options.dtd, number);
        if (index != UINT32_MAX)
            flush_section(writer, &rest->sections[index]);
    }
}

void metatf_write_dtd(struct metatf_writer *writer)
{
    const struct metatf_dtd *dtd = writer->rest->options.dtd;
    struct step_buffer text = {0};
    for (size_t at = 0; at < dtd->text_length;) {
        size_t length = dtd->text_length - at;
        if (length > COMMENT_BYTES)
            length = COMMENT_BYTES;
        const uint8_t head[2] = {1, (uint8_t) length};
        if (!step_buffer_append(&text, head, sizeof head) ||
            !step_buffer_append(&text, dtd->text + at, length)) {
            metatf_writer_no_memory(writer);
            break;
        }
        at += length;
    }
    write_piece(writer, METATF_DTD_SECTION, STEP_COMPRESSION_NONE, text.data, text.length);
    step_buffer_reset(&text);
}

void metatf_write_index(struct metatf_writer *writer)
{
    struct metatf_writer_rest *rest = writer->rest;
    uint8_t bytes[24 + 8];
    struct step_buffer index = {0};
    if (rest->options.layout == METATF_SEGMENTS && step_buffer_reserve(&index, 16))
        index.length = (size_t) (store_int(writer, index.data, rest->records) - index.data);
    for (uint64_t i = 0; i < rest->entry_count; i++) {
        if (!step_buffer_reserve(&index, metatf_entry_bytes(writer) + 32)) {
            metatf_writer_no_memory(writer);
            break;
        }
        struct metatf_entry entry = rest->entries[i];
        entry.start += rest->header_bytes; /* 0, except for METATF_INDEX */
        index.length =
            (size_t) (store_entry(writer, index.data + index.length, &entry) - index.data);
    }
    if (rest->options.layout == METATF_INDEX) {
        metatf_write_out(writer, index.data, index.length);
    } else {
        struct metatf_entry entry = {.number = METATF_INDEX_SECTION,
                                     .start = rest->offset + metatf_entry_bytes(writer),
                                     .size = index.length};
        write_piece(writer, METATF_INDEX_SECTION, 0, index.data, index.length);
        metatf_write_out(writer, bytes, (size_t) (store_entry(writer, bytes, &entry) - bytes));
    }
    step_buffer_reset(&index);
}
