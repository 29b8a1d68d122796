/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending plain records stored column by column, as runs deliver them (run.h).  Columns of equal
 * values store one value.
 */
#ifndef FORMAT_STEP_COLUMNS_PENDING_COLUMNS_H
#define FORMAT_STEP_COLUMNS_PENDING_COLUMNS_H

#include "format/step/plan/plan.h"

struct step_row_column {
    uint64_t *values;
    size_t count;
    size_t capacity;
    uint64_t same; /* the common value, */
    bool varies;   /* unless they differ */
    bool jumps;    /* may not be ascending */
};

/* Zero-initialise for an empty set. */
struct step_pending_columns {
    struct step_row_column *columns; /* by number in the plan */
    size_t column_count;
    size_t capacity; /* of all columns */
};

void step_pending_columns_reset(struct step_pending_columns *columns); /* frees the storage */
void step_pending_columns_clear(struct step_pending_columns *columns); /* keeps the storage */
bool step_pending_columns_create(struct step_pending_columns *columns, size_t column_count);

/* Returns room for `count` more, differing values; NULL: out of memory. */
uint64_t *step_pending_columns_reserve(struct step_pending_columns *columns, uint32_t column,
                                       size_t count);
/* Appends a value that many times.  Returns false if out of memory. */
bool step_pending_columns_repeat(struct step_pending_columns *columns, uint32_t column,
                                 uint64_t value, size_t count);

/* Appends a record's values, one for each column.  Returns false without changes if some column
 * needs more room. */
bool step_pending_columns_append(struct step_pending_columns *columns, const uint32_t *numbers,
                                 const uint64_t *values, size_t count);
/* Takes `count` values that were written to the reserved room.  `ascend`: none is less than the one
 * before. */
void step_pending_columns_take(struct step_pending_columns *columns, uint32_t column, size_t count,
                               bool ascend);

static inline uint64_t step_pending_columns_value(const struct step_row_column *column, size_t i)
{
    return column->varies ? column->values[i] : column->same;
}

#endif
