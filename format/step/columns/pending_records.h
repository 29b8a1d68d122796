/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records on the writer's side that wait for their block: copied row by row as they come, which
 * costs little for each and keeps a stream with few records small; or, where they come in runs,
 * column by column.
 */
#ifndef FORMAT_STEP_COLUMNS_PENDING_RECORDS_H
#define FORMAT_STEP_COLUMNS_PENDING_RECORDS_H

#include "format/core/bytes.h"
#include "format/step/columns/pending_columns.h"
#include "steptrace/value.h"

/* Zero-initialised is empty.  A record's words are its slots, but that a string or an array is its
 * length, followed by the array's elements, and a tree the list of its values (plan.h); the
 * strings' bytes stand in `bytes`. */
struct step_pending {
    uint16_t *types; /* record types */
    size_t record_count;
    size_t record_capacity;
    uint64_t *words;
    size_t word_count;
    size_t word_capacity;
    struct step_buffer bytes;
    const struct step_variant **tree; /* values of the tree at hand */
    size_t tree_count;
    size_t tree_capacity;
    bool nested;           /* some record is not flat */
    uint64_t nested_bytes; /* that a reader needs for such, beyond 8 a word and the bytes */
    bool by_columns;       /* the values are not in `words`, but here: */
    struct step_pending_columns columns;
};

void step_pending_reset(struct step_pending *rows); /* frees the storage */
void step_pending_clear(struct step_pending *rows); /* keeps it */

/* NO_MEMORY, or LIMIT for a record that no reader would accept; nothing is appended then. */
enum step_status step_pending_append(struct step_pending *rows, const struct step_plan *plan,
                                     uint32_t record, const uint64_t *slots);

/* The same for a flat record that needs no check, where there is room for it and the rows then have
 * less than `limit` records; false: nothing was done. */
static inline bool step_pending_append_flat(struct step_pending *rows,
                                            const struct step_plan_record *planned, uint32_t record,
                                            const uint64_t *slots, size_t limit)
{
    size_t count = planned->slot_count;
    if (rows->record_count + 1 >= limit || rows->record_count >= rows->record_capacity)
        return false;
    if (rows->by_columns) {
        if (!step_pending_columns_append(&rows->columns, planned->slot_columns, slots, count))
            return false;
        rows->types[rows->record_count++] = (uint16_t) record;
        return true;
    }
    if (rows->words == NULL || count > rows->word_capacity - rows->word_count)
        return false;
    uint64_t *words = rows->words + rows->word_count;
    for (size_t i = 0; i < count; i++)
        words[i] = slots[i];
    rows->word_count += count;
    rows->types[rows->record_count++] = (uint16_t) record;
    return true;
}

/* Makes room for so many more records' types. */
bool step_pending_reserve_types(struct step_pending *rows, size_t records);

/* Goes over to columns.  INVALID where that cannot be: some records are not flat. */
enum step_status step_pending_to_columns(struct step_pending *rows, const struct step_plan *plan);

/* Takes back what was appended since the mark; not by columns. */
struct step_pending_mark {
    size_t record_count, word_count, byte_count;
    uint64_t nested_bytes;
};
struct step_pending_mark step_pending_mark(const struct step_pending *rows);
void step_pending_rewind(struct step_pending *rows, const struct step_pending_mark *mark);

/* No more than this a reader needs for the records in memory, when it decodes their block. */
uint64_t step_pending_decoded_bytes(const struct step_pending *rows);

/* Bytes of storage held. */
size_t step_pending_memory(const struct step_pending *rows);

#endif
