/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads meta-events: the changes of policy in a meta-record, which must agree with the policies in
 * the block's directory.
 *
 * step_row_settle() calls this before each value.  `until` counts the values that pass before the
 * next change; several changes may stand before one value.  A change is applied to an encoder as
 * soon as it is read, so the value after it is decoded in the state that the writer had.
 *
 * The paper lets meta-records contain meta-records without end (section 3.2).  Here a change may be
 * a meta-record, but a change inside that one may not: it can only be of the encoder of the field
 * `encoder`, which is named by a constant.  So this file needs no recursion, and no limit of depth.
 */
#include "format/step/rows/row_read.h"

static const char cut[] = "the bytes end too early";

/* Reads the changes inside an event: only the encoder of its own field can change, after its
 * tag.  The first has its number of values read by the caller already (1, the tag), and the others
 * must say 0, as they stand in the same place. */
static const char *read_inner_changes(struct step_row_reading *reading, uint64_t count)
{
    uint64_t numbers[3]; /* values before it, kind, encoder */
    for (uint64_t i = 0; i < count; i++) {
        for (size_t k = i == 0; k < 3; k++)
            if (!step_cursor_varint(&reading->cursor, &numbers[k]))
                return cut;
        if ((i > 0 && numbers[0] != 0) || numbers[2] != STEP_META_ENCODER ||
            numbers[1] >= STEP_CHANGE_END)
            return "a change of an invalid meta-event";
        struct step_change change = {(enum step_change_kind) numbers[1], 0};
        const char *fault = step_encoder_change(&reading->reader->events, change);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

/* Reads the tag of a meta-event, and the changes before its field. */
static const char *read_event_start(struct step_row_reading *reading, uint64_t *kind)
{
    uint64_t count;
    uint64_t values;
    const char *fault = step_row_number(reading, kind);
    if (fault != NULL || *kind != STEP_META_TAG)
        return fault;
    if (step_row_number(reading, &count) != NULL || step_row_number(reading, &values) != NULL ||
        step_row_number(reading, kind) != NULL)
        return cut;
    if (count < 1 || count > STEP_CHANGES_MAX || values != 1 || *kind == STEP_META_TAG)
        return "a meta-record in an invalid meta-event";
    return read_inner_changes(reading, count);
}

/* Every number is checked before it selects anything: kind, encoder (by its number in the
 * directory, 0 being that of the record types) and width.  Whether the policy has such a change at
 * all, only its encoder knows (step_encoder_change()). */
static const char *read_event(struct step_row_reading *reading)
{
    struct step_row_reader *reader = reading->reader;
    uint64_t kind;
    uint64_t number;
    uint64_t bytes = 0;
    const char *fault = read_event_start(reading, &kind);
    if (fault == NULL)
        fault = step_encoder_get(&reader->events, 0, &reading->cursor, &number);
    if (fault == NULL && (kind == STEP_CHANGE_GROW || kind == STEP_CHANGE_WIDEN))
        fault = step_row_number(reading, &bytes);
    if (fault != NULL)
        return fault;
    if (kind >= STEP_CHANGE_END || number > reader->listed_count || bytes > 8)
        return "a change of an encoder or of a kind that does not exist";
    struct step_encoder *encoder =
        number == 0 ? &reader->types : &reader->columns[reader->listed[number - 1]].encoder;
    return step_encoder_change(
        encoder, (struct step_change){(enum step_change_kind) kind, (unsigned) bytes});
}

const char *step_row_changes(struct step_row_reading *reading)
{
    while (reading->changes > 0 && reading->until == 0) {
        const char *fault = read_event(reading);
        if (fault == NULL && --reading->changes > 0)
            fault = step_row_number(reading, &reading->until);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}
