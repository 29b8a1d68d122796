/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meta-records in rows: records whose values are interrupted by changes of policy (STEP paper,
 * section 3.2).
 *
 *     0, number of changes, { values before it, the change }..., the other values
 *
 * A change cannot stand before the record, or its first values would be read under the new policy.
 * The paper partitions the record into segments for the same reason.
 * A change is itself a record, a meta-event, with the fields `encoder` (encoded `default`) and, for
 * some, `bytes`. It may in turn be a meta-record, with changes of the encoder of its own field.
 */
#ifndef FORMAT_STEP_ROWS_META_H
#define FORMAT_STEP_ROWS_META_H

#include "format/codec/row/encoder.h"
#include "format/codec/strategies/packed_strings.h"

enum {
    STEP_META_TAG = 0,    /* in place of a record's or an event's type */
    STEP_META_ENCODER = 1 /* number of the field `encoder` in changes of meta-events */
};

/* The policies of the record types of a block, and of the field `encoder`. */
static inline struct step_policy step_meta_type_policy(void)
{
    return (struct step_policy){.general = STEP_IDENTIFIER, .is_unsigned = true};
}

static inline struct step_policy step_meta_event_policy(void)
{
    return (struct step_policy){.general = STEP_DEFAULT, .is_unsigned = true};
}

/* State of the strings of a column that are stored by number, or without a common prefix, for
 * readers and writers. */
struct step_row_strings {
    struct step_string_numbers numbers;
    size_t last_start; /* of the last stored string */
    size_t last_length;
};

#endif
