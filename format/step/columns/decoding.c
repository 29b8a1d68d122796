/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of decoding a block: storage, messages, decompression.
 *
 * Messages have an offset in the file, so that the damaged place can be found.  The offset is
 * that of the payload plus a position in it, which must be one in the stored bytes: decompressed
 * bytes have no place in the file.
 */
#include "format/step/columns/decoding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum step_status step_decoding_fail(const struct step_decoding *decoding, enum step_status status,
                                    const uint8_t *at, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct step_payload *payload = decoding->payload;
    uint64_t offset = payload->offset;
    if (at != NULL)
        offset += (uint64_t) (at - payload->bytes);
    return step_error_set(decoding->error, status, payload->file, offset, "%s", text);
}

enum step_status step_decoding_unknown(const struct step_decoding *decoding, const char *what,
                                       const struct step_coding *coding, const uint8_t *at)
{
    char unknown[80];
    step_coding_print_unknown(coding, unknown, sizeof unknown);
    return step_decoding_fail(decoding, STEP_STATUS_UNSUPPORTED, at,
                              "%s: %s is not known to this library", what, unknown);
}

enum step_status step_decoding_no_memory(const struct step_decoding *decoding)
{
    return step_decoding_fail(decoding, STEP_STATUS_NO_MEMORY, NULL, "out of memory");
}

static enum step_status too_large(struct step_decoding *decoding, const struct step_arena *arena)
{
    return step_decoding_fail(decoding, STEP_STATUS_LIMIT, NULL,
                              "the block needs more memory than the limit of %" PRIu64 " bytes",
                              arena->limit);
}

/* The arena says why it gave nothing.  A limit is a property of the file, and the block is skipped
 * with that reason.  Lack of memory is not, and ends the reading. */
static void *take_from(struct step_decoding *decoding, struct step_arena *arena, uint64_t count,
                       size_t size, enum step_status *status)
{
    void *result = step_arena_take(arena, count, size);
    if (result == NULL)
        *status = arena->limited ? too_large(decoding, arena) : step_decoding_no_memory(decoding);
    return result;
}

/* Returns storage that lives as long as the decoded block. */
void *step_decoding_take(struct step_decoding *decoding, uint64_t count, size_t size,
                         enum step_status *status)
{
    return take_from(decoding, &decoding->block->arena, count, size, status);
}

/* Returns storage that lives until the block is decoded. */
void *step_decoding_borrow(struct step_decoding *decoding, uint64_t count, size_t size,
                           enum step_status *status)
{
    return take_from(decoding, &decoding->reader->temporary, count, size, status);
}

/* Bytes before compression are in a buffer of the reader, not in the arena, so they are compared
 * with what the arena has left.  They are not taken from it: the buffer serves one column after the
 * other, and counting each would refuse honest blocks of many columns.  What the buffer keeps
 * reduces the room of the next block (reader_room.c). */
bool step_decoding_has_room(struct step_decoding *decoding, const struct step_coding *coding,
                            enum step_status *status)
{
    const struct step_arena *arena = &decoding->block->arena;
    if (coding->method == STEP_COMPRESSION_NONE ||
        coding->raw_length <= arena->limit - arena->taken)
        return true;
    *status = too_large(decoding, arena);
    return false;
}

/* Writes the field's name for messages ("java.ObjectAlloc.size"). */
void step_decoding_name(const struct step_decoding *decoding, uint32_t index, char *out,
                        size_t room)
{
    const struct step_plan_column *column = &decoding->plan->columns[index];
    const struct step_record *record = &decoding->plan->definition->records[column->record];
    snprintf(out, room, "%.60s.%.60s", record->name, record->fields[column->field].name);
}

/* The compressed length bounds the length before compression: no method of ours does better than 1
 * to 65,536, so a larger claim is refused before memory is asked for.  `most` alone would not do: a
 * file of a few hundred bytes could have each of its blocks claim a gigabyte. */
enum step_status step_block_expand(struct step_block_reader *reader,
                                   const struct step_payload *payload, uint64_t most,
                                   struct step_buffer *out, struct step_error *error)
{
    const struct step_block_header *header = payload->header;
    struct step_cursor cursor = step_cursor_of(payload->bytes, (size_t) header->payload_bytes);
    cursor.at += header->summary_bytes;
    uint64_t length;
    uint64_t method;
    uint64_t raw_length;
    if (!step_cursor_varint(&cursor, &method) || !step_cursor_varint(&cursor, &raw_length))
        return step_error_set(error, STEP_STATUS_CORRUPT, payload->file, payload->offset,
                              "the block is damaged");
    length = step_cursor_left(&cursor);
    if (raw_length > most || raw_length / 65536 > length)
        return step_error_set(error, STEP_STATUS_LIMIT, payload->file, payload->offset,
                              "the block would be %" PRIu64 " bytes", raw_length);
    if (!step_buffer_reserve(out, (size_t) raw_length + 1))
        return step_error_set(error, STEP_STATUS_NO_MEMORY, payload->file, payload->offset,
                              "out of memory");
    enum step_status status =
        step_decompress(reader->decompressor, method, cursor.at, (size_t) length,
                        out->data + out->length, (size_t) raw_length);
    if (status != STEP_STATUS_OK)
        return step_error_set(error, status, payload->file, payload->offset,
                              "the block's contents are damaged");
    out->length += (size_t) raw_length;
    return status;
}
