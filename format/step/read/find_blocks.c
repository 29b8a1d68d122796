/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the blocks of a file: by its index, or by walking from header to header.
 *
 * The order of trust is: footer, index, headers, search.  A footer that agrees with the length of
 * the file proves that the writer came to the end; the index must then fill the file without a gap.
 * If either does not hold, nothing of it is used, and the walk looks at each header in its place.
 * Where there is none, the walk searches for the next one.  So a file of which any part is gone is
 * still read from the rest, in the order of the file, dictionaries before the data that needs them.
 */
#include <inttypes.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/step/read/reader_internal.h"

enum { SEARCH_BYTES = 1 << 16 };

/* Returns true if there is a valid block header at `offset`. */
static bool header_at(struct step_reader *reader, const struct step_byte_source *source,
                      uint64_t offset, struct step_block_header *header)
{
    const uint8_t *bytes;
    return step_byte_source_read(source, offset, STEP_BLOCK_HEADER_BYTES, &reader->head, &bytes,
                                 NULL) == STEP_STATUS_OK &&
           step_block_header_unpack(bytes, header);
}

static bool footer_at(struct step_reader *reader, const struct step_byte_source *source,
                      uint64_t offset, uint64_t *index_offset, uint64_t *file_bytes)
{
    const uint8_t *bytes;
    return step_byte_source_read(source, offset, STEP_FOOTER_BYTES, &reader->head, &bytes, NULL) ==
               STEP_STATUS_OK &&
           step_footer_unpack(bytes, index_offset, file_bytes);
}

/* Returns the next position from `offset` on with a valid block header, or the source's size.  The
 * magic only nominates a place: its 4 bytes occur by chance, or in a string of the trace.  The
 * checksum of the header decides.  A magic that crosses the end of a piece is looked at in the same
 * way, since the header is read by itself, into another buffer than the piece. */
static uint64_t find_blocks_search(struct step_reader *reader,
                                   const struct step_byte_source *source, uint64_t offset)
{
    struct step_block_header header;
    while (source->size - offset >= STEP_BLOCK_HEADER_BYTES) {
        uint64_t length = source->size - offset;
        length = length < SEARCH_BYTES ? length : SEARCH_BYTES;
        const uint8_t *bytes;
        if (step_byte_source_read(source, offset, length, &reader->payload, &bytes, NULL) !=
            STEP_STATUS_OK)
            break;
        const uint8_t *end = bytes + length;
        for (const uint8_t *at = bytes; at < end; at++) {
            at = memchr(at, step_block_magic[0], (size_t) (end - at));
            if (at == NULL)
                break;
            uint64_t place = offset + (uint64_t) (at - bytes);
            if (source->size - place >= STEP_BLOCK_HEADER_BYTES &&
                (end - at < STEP_BLOCK_MAGIC_BYTES ||
                 memcmp(at, step_block_magic, STEP_BLOCK_MAGIC_BYTES) == 0) &&
                header_at(reader, source, place, &header))
                return place;
        }
        offset += length;
    }
    return source->size;
}

/* Reads the summary of a block and registers it.  The summary of a data block is checked by its own
 * checksum, so that the payload need not be read now: opening a large trace without an index reads
 * its headers and summaries only. */
static enum step_status visit_found(struct step_reader *reader,
                                    const struct step_byte_source *source, uint64_t offset,
                                    const struct step_block_header *header,
                                    struct step_error *error)
{
    const uint8_t *summary;
    uint64_t place = source->base + offset;
    enum step_status status =
        step_byte_source_read(source, offset + STEP_BLOCK_HEADER_BYTES, header->summary_bytes,
                              &reader->head, &summary, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (header->kind == STEP_BLOCK_DATA &&
        (uint32_t) step_checksum(summary, header->summary_bytes) != header->summary_checksum)
        return step_reader_note(reader, place, STEP_BLOCK_HEADER_BYTES + header->payload_bytes,
                                "the block's list of record types is damaged");
    return step_reader_visit(reader, source, offset, header, summary, error);
}

/* Notes the bytes between blocks as damage, unless they are a valid footer at the end. */
static enum step_status note_rest(struct step_reader *reader, const struct step_byte_source *source,
                                  uint64_t offset, uint64_t next, bool after_index)
{
    uint64_t length = next - offset;
    if (next == source->size && after_index && length == STEP_FOOTER_BYTES) {
        uint64_t index_offset, file_bytes;
        if (footer_at(reader, source, offset, &index_offset, &file_bytes))
            return STEP_STATUS_OK;
        return step_reader_note(reader, source->base + offset, length, "the footer is damaged");
    }
    const char *what = next < source->size ? "no block header here"
                       : after_index       ? "the footer is damaged or cut"
                                           : "no block header here, nor up to the end";
    return step_reader_note(reader, source->base + offset, length, "%s", what);
}

/* A header whose block would pass the end of the file is either that of the last, cut block, or
 * bytes are missing in the middle.  A search decides: if another header follows, its blocks are
 * read.
 *
 * Each round moves `offset` on by at least a byte, and no byte is searched twice.  So the walk
 * ends, and its time is linear in the file.  What a good header says is payload is not looked at: a
 * string of the trace cannot pass for a block. */
enum step_status step_reader_walk(struct step_reader *reader, const struct step_byte_source *source,
                                  uint64_t offset, struct step_error *error)
{
    bool after_index = false;
    enum step_status status = STEP_STATUS_OK;
    while (offset < source->size && status == STEP_STATUS_OK) {
        struct step_block_header header;
        if (!header_at(reader, source, offset, &header)) {
            uint64_t next = find_blocks_search(reader, source, offset);
            status = note_rest(reader, source, offset, next, after_index);
            offset = next;
            continue;
        }
        uint64_t left = source->size - offset - STEP_BLOCK_HEADER_BYTES;
        if (header.payload_bytes > left) {
            /* blocks may follow after bytes lost in the middle */
            uint64_t next = find_blocks_search(reader, source, offset + STEP_BLOCK_HEADER_BYTES);
            status = step_reader_note(
                reader, source->base + offset, next - offset,
                "a block is cut: %" PRIu64 " of its %" PRIu64 " bytes are there",
                left + STEP_BLOCK_HEADER_BYTES, header.payload_bytes + STEP_BLOCK_HEADER_BYTES);
            offset = next;
            continue;
        }
        status = visit_found(reader, source, offset, &header, error);
        after_index = header.kind == STEP_BLOCK_INDEX;
        offset += STEP_BLOCK_HEADER_BYTES + header.payload_bytes;
        if (source == &reader->file)
            reader->walked_bytes = offset;
    }
    return status;
}

/* The file grows while it is read, so an incomplete block at its end is no damage: the walk waits
 * there and goes on when more has come. */
enum step_status step_reader_walk_on(struct step_reader *reader, struct step_error *error)
{
    const struct step_byte_source *file = &reader->file;
    struct step_block_header header;
    bool after_index = false;
    enum step_status status = STEP_STATUS_OK;
    while (status == STEP_STATUS_OK && reader->walked_bytes < file->size &&
           file->size - reader->walked_bytes >= STEP_BLOCK_HEADER_BYTES &&
           header_at(reader, file, reader->walked_bytes, &header) &&
           header.payload_bytes <= file->size - reader->walked_bytes - STEP_BLOCK_HEADER_BYTES) {
        status = visit_found(reader, file, reader->walked_bytes, &header, error);
        after_index = header.kind == STEP_BLOCK_INDEX;
        reader->walked_bytes += STEP_BLOCK_HEADER_BYTES + header.payload_bytes;
    }
    if (after_index && file->size - reader->walked_bytes == STEP_FOOTER_BYTES) {
        uint64_t index_offset, file_bytes;
        reader->whole = footer_at(reader, file, reader->walked_bytes, &index_offset, &file_bytes) &&
                        file_bytes == file->size;
    }
    return status;
}

bool step_reader_find_definition(struct step_reader *reader, uint64_t *offset,
                                 struct step_block_header *header)
{
    const struct step_byte_source *file = &reader->file;
    while (*offset < file->size) {
        if (!header_at(reader, file, *offset, header))
            *offset = find_blocks_search(reader, file, *offset + 1);
        else if (header->kind == STEP_BLOCK_DEFINITION)
            return true;
        else
            *offset += STEP_BLOCK_HEADER_BYTES + header->payload_bytes;
    }
    return false;
}

/* Reads an entry of the index: offset, block header, summary. */
static bool next_entry(struct step_cursor *index, uint64_t expected_offset,
                       struct step_block_header *header, const uint8_t **summary)
{
    const uint8_t *bytes;
    if (!step_cursor_bytes(index, 8, &bytes) || step_load_u64(bytes) != expected_offset)
        return false;
    return step_cursor_bytes(index, STEP_BLOCK_HEADER_BYTES, &bytes) &&
           step_block_header_unpack(bytes, header) &&
           step_cursor_bytes(index, header->summary_bytes, summary);
}

/* Returns true if the blocks in the index fill the file from the file header to the index.  So an
 * index can neither leave a block out nor name one twice, and it needs no trust beyond its
 * checksum. */
static bool index_is_good(const uint8_t *bytes, size_t length, uint64_t count,
                          uint64_t index_offset)
{
    struct step_cursor index = step_cursor_of(bytes, length);
    uint64_t offset = STEP_FILE_HEADER_BYTES;
    for (uint64_t i = 0; i < count; i++) {
        struct step_block_header header;
        const uint8_t *summary;
        if (!next_entry(&index, offset, &header, &summary) || offset > index_offset ||
            header.payload_bytes > index_offset - offset)
            return false;
        offset += STEP_BLOCK_HEADER_BYTES + header.payload_bytes;
    }
    return offset == index_offset && step_cursor_left(&index) == 0;
}

/* Reads footer and index block; the index is then in reader->bytes.  The block must end where the
 * footer begins, so its length follows from the size of the file, and no claim of the footer or of
 * the header is used without that check.  An error is not reported: the walk takes over, and notes
 * what is damaged. */
static bool load_index(struct step_reader *reader, uint64_t *count, uint64_t *index_offset)
{
    const struct step_byte_source *file = &reader->file;
    uint64_t file_bytes;
    struct step_block_header header;
    struct step_payload payload;
    if (file->size < STEP_FILE_HEADER_BYTES + STEP_FOOTER_BYTES ||
        !footer_at(reader, file, file->size - STEP_FOOTER_BYTES, index_offset, &file_bytes) ||
        file_bytes != file->size || *index_offset > file->size - STEP_FOOTER_BYTES ||
        !header_at(reader, file, *index_offset, &header) || header.kind != STEP_BLOCK_INDEX ||
        header.payload_bytes !=
            file->size - STEP_FOOTER_BYTES - *index_offset - STEP_BLOCK_HEADER_BYTES)
        return false;
    *count = header.record_count;
    reader->bytes.length = 0;
    return step_reader_payload(reader, file, *index_offset, &header, &payload, NULL) ==
               STEP_STATUS_OK &&
           step_block_decode_bytes(&reader->blocks, &payload, STEP_MAX_BLOCK_MEMORY, &reader->bytes,
                                   NULL) == STEP_STATUS_OK;
}

/* Checks all of the index before the first block is visited: a visit cannot be undone, and the walk
 * would register the blocks a second time. */
bool step_reader_use_index(struct step_reader *reader, enum step_status *status,
                           struct step_error *error)
{
    uint64_t count;
    uint64_t index_offset;
    *status = STEP_STATUS_OK;
    if (!load_index(reader, &count, &index_offset) ||
        !index_is_good(reader->bytes.data, reader->bytes.length, count, index_offset))
        return false;
    struct step_buffer taken = reader->bytes; /* visiting other blocks reuses the buffer */
    reader->bytes = (struct step_buffer){0};
    struct step_cursor index = step_cursor_of(taken.data, taken.length);
    uint64_t offset = STEP_FILE_HEADER_BYTES;
    for (uint64_t i = 0; i < count && *status == STEP_STATUS_OK; i++) {
        struct step_block_header header;
        const uint8_t *summary;
        if (!next_entry(&index, offset, &header, &summary))
            break;
        *status = step_reader_visit(reader, &reader->file, offset, &header, summary, error);
        offset += STEP_BLOCK_HEADER_BYTES + header.payload_bytes;
    }
    step_buffer_reset(&taken);
    return true;
}
