/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that wait in the writer for their block: copied row by row on arrival, which is cheap and
 * keeps streams with few records small; or, if they arrive in runs, column by column.
 *
 * Rows are one array of words for all record types, so a stream of three records takes little,
 * whatever the definition has.  Columns skip the step from rows to columns when the block is made,
 * and a column whose values are all equal stores one.  The agent's drain, whose records come by the
 * hundred million, uses them (run.h). Records that are not flat (strings, arrays, variants) are
 * always rows.
 */
#ifndef FORMAT_STEP_COLUMNS_PENDING_RECORDS_H
#define FORMAT_STEP_COLUMNS_PENDING_RECORDS_H

#include "format/core/bytes.h"
#include "format/step/columns/value_pages.h"
#include "format/step/plan/plan.h"
#include "steptrace/value.h"

struct step_row_column {
    struct step_pages pages; /* the values, if they vary */
    size_t count;
    uint64_t last; /* the last value; the common one, */
    bool varies;   /* unless they differ */
    bool jumps;    /* may not be ascending */
};

/* Zero-initialise for an empty set. */
struct step_pending_columns {
    struct step_row_column *columns; /* by number in the plan */
    size_t column_count;
    struct step_page_share share; /* of the pages */
};

/* Returns a place for 1 to `wanted` more, differing values, `*room` of them; NULL: out of memory.
 */
uint64_t *step_pending_columns_room(struct step_pending_columns *columns, uint32_t column,
                                    size_t wanted, size_t *room);
/* Takes `count` values that were written to that place.  `ascend`: none is less than the one
 * before. */
void step_pending_columns_take(struct step_pending_columns *columns, uint32_t column, size_t count,
                               bool ascend);
/* Appends a value that many times.  Returns false if out of memory. */
bool step_pending_columns_repeat(struct step_pending_columns *columns, uint32_t column,
                                 uint64_t value, size_t count);

/* Appends a record's values, one for each column.  Returns false without changes if some column
 * needs more room. */
bool step_pending_columns_append(struct step_pending_columns *columns, const uint32_t *numbers,
                                 const uint64_t *values, size_t count);

/* Pending records.  Zero-initialise.  A record's words are its slots, except that a string or an
 * array is its length, followed by the array's elements, and a tree is the list of its values
 * (plan.h).  The strings' bytes are in `bytes`. */
struct step_pending {
    uint16_t *types; /* record types */
    size_t record_count;
    size_t record_capacity;
    uint64_t *words;
    size_t word_count;
    size_t word_capacity;
    struct step_buffer bytes;
    const struct step_variant **tree; /* values of the current tree */
    size_t tree_count;
    size_t tree_capacity;
    bool nested;           /* some record is not flat */
    uint64_t nested_bytes; /* memory that a reader needs for these, beyond 8 bytes per word and the
                              strings */
    bool by_columns;       /* the values are not in `words` but here: */
    struct step_pending_columns columns;
};

void step_pending_reset(struct step_pending *rows); /* frees the storage */
void step_pending_clear(struct step_pending *rows); /* keeps the storage */

/* Appends a record.  NO_MEMORY, or LIMIT for a record that no reader would accept; nothing is
 * appended then. */
enum step_status step_pending_append(struct step_pending *rows, const struct step_plan *plan,
                                     uint32_t record, const uint64_t *slots);

/* Appends the words and bytes of one value, which is in a tree whose VARIANT is `element`, or in
 * none (NULL).  The same faults as step_pending_append(). */
enum step_status step_pending_append_value(struct step_pending *rows, const struct step_plan *plan,
                                           const struct step_plan_node *node,
                                           const struct step_plan_node *element,
                                           const uint64_t *slots);

/* Position from which the next words and bytes are read. */
struct step_word_source {
    const uint64_t *words;
    const uint8_t *bytes;
};

/* Appends the words and bytes of the next value of the node, with numbers as the file will have
 * them.  They are prefix-free, so different values differ.  Returns false if memory runs out. */
bool step_words_append(const struct step_plan *plan, const struct step_plan_node *node,
                       struct step_word_source *source, struct step_buffer *out);

/* Appends a flat record that needs no check.  Returns false without changes if there is no room for
 * it, or the rows would have `limit` records.
 *
 * Both cases are left to the slow path, which writes a full block and counts memory.  Since no
 * storage grows here, the memory of the stream stays as it was counted, and the many records that
 * come this way need no look at any limit but this one. */
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

/* Makes room for the types of that many more records. */
bool step_pending_reserve_types(struct step_pending *rows, size_t records);

/* Converts to columns, in pages of a pool that outlives the rows.  INVALID: some records are not
 * flat. */
enum step_status step_pending_to_columns(struct step_pending *rows, const struct step_plan *plan,
                                         struct step_page_pool *pool);

/* A position to return to, which removes later records; not for columns. */
struct step_pending_mark {
    size_t record_count, word_count, byte_count;
    uint64_t nested_bytes;
};
struct step_pending_mark step_pending_mark(const struct step_pending *rows);
void step_pending_rewind(struct step_pending *rows, const struct step_pending_mark *mark);

/* Returns an upper limit for the memory that a reader needs to decode these records as a block. */
uint64_t step_pending_decoded_bytes(const struct step_pending *rows);

/* Returns the bytes of storage in use. */
size_t step_pending_memory(const struct step_pending *rows);

#endif
