/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other way in which plain records wait for their block: column by column, as runs bring them
 * (run.h).  Values that are all the same are held once.
 */
#ifndef FORMAT_STEP_COLUMNS_PENDING_COLUMNS_H
#define FORMAT_STEP_COLUMNS_PENDING_COLUMNS_H

#include "format/step/plan/plan.h"

struct step_row_column {
    uint64_t *values;
    size_t count;
    size_t capacity;
    uint64_t same; /* the value of all of them, */
    bool varies;   /* unless this */
    bool jumps;    /* some may be less than the one before */
};

/* Zero-initialised is empty. */
struct step_pending_columns {
    struct step_row_column *columns; /* by number in the plan */
    size_t column_count;
    size_t capacity; /* of all columns */
};

void step_pending_columns_reset(struct step_pending_columns *columns); /* frees the storage */
void step_pending_columns_clear(struct step_pending_columns *columns); /* keeps it */
bool step_pending_columns_create(struct step_pending_columns *columns, size_t column_count);

/* Room for `count` more values that differ, at the place that is returned; NULL: out of memory. */
uint64_t *step_pending_columns_reserve(struct step_pending_columns *columns, uint32_t column,
                                       size_t count);
/* Appends a value so many times; false: out of memory. */
bool step_pending_columns_repeat(struct step_pending_columns *columns, uint32_t column,
                                 uint64_t value, size_t count);

/* Appends a record's values, a column each; false: nothing was done, as some column needs more
 * room.
 */
bool step_pending_columns_append(struct step_pending_columns *columns, const uint32_t *numbers,
                                 const uint64_t *values, size_t count);
/* Takes `count` values that were put at the place that was reserved, of which none is less than the
 * one before if they `ascend`. */
void step_pending_columns_take(struct step_pending_columns *columns, uint32_t column, size_t count,
                               bool ascend);

static inline uint64_t step_pending_columns_value(const struct step_row_column *column, size_t i)
{
    return column->varies ? column->values[i] : column->same;
}

#endif
