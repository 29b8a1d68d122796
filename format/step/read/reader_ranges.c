/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the block of field ranges, and attaches the ranges to the data blocks that it describes.
 *
 * Ranges only save work: a reader that looks for some values passes over blocks that cannot have
 * them.  So a range of a block that is not there is skipped, and a file without ranges is read as
 * well.
 */
#include "format/step/read/reader_internal.h"

/* Returns the data block at that offset of the source, or NULL.  Blocks of one source are
 * registered in the order of their offsets, whether an index or a walk has found them.  If others
 * are among them the search may miss one, and that block merely has no ranges. */
static struct step_block_entry *entry_at(struct step_reader *reader,
                                         const struct step_byte_source *source, uint64_t offset)
{
    size_t from = 0;
    size_t to = reader->entry_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (reader->entries[middle].offset < offset)
            from = middle + 1;
        else
            to = middle;
    }
    struct step_block_entry *entry = from < reader->entry_count ? &reader->entries[from] : NULL;
    return entry != NULL && entry->offset == offset && entry->source == source ? entry : NULL;
}

static bool read_range(const struct step_definition *definition, struct step_cursor *cursor,
                       struct step_field_range *range)
{
    uint64_t record, field, width;
    if (!step_cursor_varint(cursor, &record) || !step_cursor_varint(cursor, &field) ||
        !step_cursor_varint(cursor, &range->least) || !step_cursor_varint(cursor, &width) ||
        record >= definition->record_count || field >= definition->records[record].field_count ||
        __builtin_add_overflow(range->least, width, &range->most))
        return false;
    range->record = (uint32_t) record;
    range->field = (uint32_t) field;
    return true;
}

/* Reads the ranges of one block.  UNSUPPORTED: they are damaged.  A range takes at least four
 * bytes, one for each varint, so a count that the rest of the bytes cannot have is refused before
 * memory is taken.  A block's second list is read and dropped: memory for it could be asked for
 * again and again.  Ranges are attached when the whole list is good. */
static enum step_status read_block(struct step_reader *reader, struct step_block_entry *entry,
                                   struct step_cursor *cursor)
{
    uint64_t count;
    struct step_field_range range;
    struct step_field_range *ranges = NULL;
    if (!step_cursor_varint(cursor, &count) || count > step_cursor_left(cursor) / 4)
        return STEP_STATUS_UNSUPPORTED;
    if (entry != NULL && entry->info.ranges == NULL) {
        ranges = step_arena_take(&reader->counts, count, sizeof *ranges);
        if (ranges == NULL)
            return STEP_STATUS_NO_MEMORY;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!read_range(reader->definition, cursor, &range))
            return STEP_STATUS_UNSUPPORTED;
        if (ranges != NULL)
            ranges[i] = range;
    }
    if (ranges != NULL) {
        entry->info.ranges = ranges;
        entry->info.range_count = (size_t) count;
    }
    return STEP_STATUS_OK;
}

enum step_status step_reader_ranges(struct step_reader *reader,
                                    const struct step_byte_source *source,
                                    const struct step_payload *payload, struct step_error *error)
{
    uint64_t offset = 0;
    uint64_t step;
    reader->bytes.length = 0;
    enum step_status status = step_block_decode_bytes(&reader->blocks, payload,
                                                      STEP_MAX_BLOCK_MEMORY, &reader->bytes, error);
    struct step_cursor cursor = step_cursor_of(reader->bytes.data, reader->bytes.length);
    while (status == STEP_STATUS_OK && step_cursor_left(&cursor) > 0) {
        status = STEP_STATUS_UNSUPPORTED;
        if (step_cursor_varint(&cursor, &step) && !__builtin_add_overflow(offset, step, &offset))
            status = read_block(reader, entry_at(reader, source, offset), &cursor);
        if (status == STEP_STATUS_UNSUPPORTED)
            return step_error_set(error, STEP_STATUS_CORRUPT, payload->file, payload->offset,
                                  "the ranges of fields are damaged");
        if (status == STEP_STATUS_NO_MEMORY)
            return step_reader_no_memory(reader, error);
    }
    return status;
}
