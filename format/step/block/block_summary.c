/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a block: its record types and how many records each has.
 *
 * Types must ascend, so none can be there twice; counts must add up to the header's number.  It is
 * checked once, when the block is registered or decoded.  step_summary_counts() then relies on
 * that.
 *
 * The number of values of each column follows from these counts, and from it how much memory a
 * reader takes.  So each count has the limit of a block.  With at most 65,535 types of at most
 * 16 Mi records the sum cannot overflow before it is compared.
 */
#include "format/step/block/block_read.h"

bool step_summary_parse(const uint8_t *bytes, const struct step_block_header *header,
                        size_t record_types, struct step_summary *summary, const char **fault)
{
    struct step_cursor cursor = step_cursor_of(bytes, header->summary_bytes);
    uint64_t next = 0;
    uint64_t total = 0;
    *fault = "its list of record types is damaged";
    if (!step_cursor_varint(&cursor, &summary->count) || summary->count > record_types)
        return false;
    summary->bytes = cursor.at;
    summary->length = step_cursor_left(&cursor);
    for (uint64_t i = 0; i < summary->count; i++) {
        uint64_t record;
        uint64_t count;
        if (!step_cursor_varint(&cursor, &record) || !step_cursor_varint(&cursor, &count))
            return false;
        if (record < next || record >= record_types || count == 0 || count > STEP_MAX_BLOCK_RECORDS)
            return false;
        next = record + 1;
        total += count;
    }
    if (step_cursor_left(&cursor) > 0)
        return false;
    *fault = "its record counts disagree";
    return total == header->record_count && total <= STEP_MAX_BLOCK_RECORDS;
}

void step_summary_counts(const struct step_summary *summary, struct step_record_count *counts)
{
    struct step_cursor cursor = step_cursor_of(summary->bytes, summary->length);
    for (uint64_t i = 0; i < summary->count; i++) {
        uint64_t record = 0;
        uint64_t count = 0;
        step_cursor_varint(&cursor, &record);
        step_cursor_varint(&cursor, &count);
        counts[i] = (struct step_record_count){(uint32_t) record, count};
    }
}
