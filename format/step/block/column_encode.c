/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes a column of a block: finds the other columns that its strategies may use, chooses an
 * encoding or takes one of the stream's last blocks, and appends the column's row of the directory
 * and its bytes.
 *
 * The values of all columns are known here, so columns can be encoded in any order, or at one time.
 * A reader has them only after decoding: it must decode what a column names before the column
 * itself.  What may be named is therefore limited by the plan (`apart`, see plan_order.c).
 */
#include "format/step/block/block_write.h"

#include <stdlib.h>

#include "format/codec/strategies/packed_strings.h"
#include "format/step/plan/record_series.h"

/* Finds the other column's values for `given`, if needed, and its reference in the file.  `wanted`:
 * whether a transform may use them.  A choice that is recalled mostly needs none, and the walk over
 * the records of the block is then saved; the reference is set in any case, as it is a parameter of
 * candidates.
 *
 * A column that is set apart gets no series, so no candidate can make it depend on another column.
 * `given_column` needs no walk: both columns are leaves of one nested record and have one value for
 * each, in the same order. */
static enum step_status column_encode_find_series(const struct step_columns *columns,
                                                  uint32_t index, bool wanted, uint64_t **storage,
                                                  struct step_series *series, uint64_t *reference)
{
    const struct step_plan_column *column = &columns->plan->columns[index];
    struct step_sequence sequence = step_columns_sequence(columns);
    size_t count = columns->columns[index].count;
    *storage = NULL;
    *reference = 0;
    if (column->apart)
        return STEP_STATUS_OK;
    *reference = step_given_reference(columns->plan, index);
    if (column->stack_record != STEP_NO_INDEX) {
        *reference = column->stack_record;
        return wanted ? step_follow_pushes(&sequence, index, column->stack_record, count, storage,
                                           series)
                      : STEP_STATUS_OK;
    }
    if (column->age_column != STEP_NO_INDEX) {
        *reference = step_follow_reference(columns->plan, column->age_column);
        return wanted ? step_follow_latest(&sequence, index, column->age_column, count, storage,
                                           series)
                      : STEP_STATUS_OK;
    }
    if (column->given_column != STEP_NO_INDEX) {
        *series = columns->series[column->given_column];
        return STEP_STATUS_OK;
    }
    if (column->given_field == STEP_NO_INDEX)
        return STEP_STATUS_OK;
    return step_gather(&sequence, index, column->given_field, count, storage, series);
}

/* Finds the series for `linked`, if it may be tried.  It has members of its own in the series, so a
 * trial can compare transforms that use it with those that use the other one. */
static enum step_status column_encode_find_linked(const struct step_columns *columns,
                                                  uint32_t index, struct step_linked *linked)
{
    const struct step_plan_column *column = &columns->plan->columns[index];
    struct step_sequence sequence = step_columns_sequence(columns);
    return column->field_coding.column.is_linked
               ? step_linked_fill(&sequence, index, &column->links, columns->columns[index].count,
                                  linked)
               : STEP_STATUS_OK;
}

/* A column while it is encoded: its values (series->step 0: all equal the first), the series that
 * it uses, and their references in the file. */
struct column_writing {
    const struct step_coding_hints *field_coding;
    const struct step_series *given;
    uint64_t reference;
    struct step_series series;
    size_t count;
    uint64_t resolution;
};

/* Writes values that are multiples of a number as quotients, which are in `*scaled`; the chain
 * begins with that division.  The choice is made for the quotients, as if they were the column.
 * Equal values stay a constant form of the values themselves, which needs no chain.
 *
 * `scale` must be the first transform, since a reader undoes the last one first and multiplies in
 * the end.  `*scaled` must live until the column is written: the chosen chain may be empty, and
 * scratch->result then points to the quotients themselves. */
static enum step_status column_encode_scaled(struct step_column_encoder *encoder,
                                             const struct column_writing *writing,
                                             struct step_choice *recalled, struct step_chain *chain,
                                             uint64_t **scaled)
{
    struct step_chain scale = {0};
    step_chain_append(&scale, &step_transform_scale, writing->resolution, 0, 0);
    *scaled = malloc((writing->count + 1) * sizeof **scaled);
    if (*scaled == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = step_transform_scale.forward(
        scale.links[0].parameters, NULL, writing->series.values, *scaled, writing->count);
    if (status == STEP_STATUS_OK)
        status =
            step_choose(writing->field_coding, writing->given, writing->reference, *scaled,
                        writing->count, encoder->compressor, &encoder->scratch, recalled, chain);
    if (status != STEP_STATUS_OK)
        return status;
    if (chain->length == 0 && chain->form == &step_form_constant) {
        chain->form_parameter = writing->count > 0 ? writing->series.values[0] : 0;
        return status;
    }
    scale.form = chain->form;
    scale.form_parameter = chain->form_parameter;
    for (size_t i = 0; i < chain->length; i++)
        scale.links[scale.length++] = chain->links[i];
    *chain = scale;
    return status;
}

/* A series of step 0 is constant without a look at its values, as it is for a field that never
 * changed while its records were held by columns (pending_records.c).  The size of the result is
 * reported to the recalled choice, which is dropped if the column compresses much worse than
 * before. */
static enum step_status column_encode_values(struct step_column_encoder *encoder,
                                             const struct column_writing *writing,
                                             struct step_choice *recalled,
                                             struct step_coding *coding)
{
    struct step_chain chain = {.form = &step_form_constant};
    uint64_t *scaled = NULL;
    enum step_status status = STEP_STATUS_OK;
    if (writing->series.step == 0)
        chain.form_parameter = writing->series.values[0];
    else if (writing->resolution > 1)
        status = column_encode_scaled(encoder, writing, recalled, &chain, &scaled);
    else
        status = step_choose(writing->field_coding, writing->given, writing->reference,
                             writing->series.values, writing->count, encoder->compressor,
                             &encoder->scratch, recalled, &chain);
    if (status == STEP_STATUS_OK)
        status = step_column_write(&chain, writing->count, encoder->compressor, &encoder->scratch,
                                   &encoder->out.sections, coding);
    free(scaled);
    if (status == STEP_STATUS_OK && recalled != NULL)
        step_choice_judge(recalled, writing->count, coding->stored_length);
    return status;
}

/* Appends the bytes of strings, packed by the flags; 0: unchanged. */
static enum step_status column_encode_strings(struct step_column_encoder *encoder,
                                              const struct step_column_data *lengths,
                                              const struct step_buffer *bytes, unsigned flags,
                                              struct step_coding *coding)
{
    struct step_buffer *packed = &encoder->scratch.raw;
    enum step_status status = STEP_STATUS_OK;
    if (flags != 0)
        status = step_strings_pack(flags, lengths->values, lengths->count, bytes->data, packed);
    const struct step_buffer *raw = flags != 0 ? packed : bytes;
    if (status == STEP_STATUS_OK)
        status = step_column_write_bytes(raw->data, raw->length, encoder->compressor,
                                         &encoder->out.sections, coding);
    coding->strings = flags;
    return status;
}

/* Does so with the flags that give the smallest size.  All combinations of what the attributes
 * allow are tried on all bytes, as there are four at most. The best one is written again in the
 * end, as only the last trial is in the output.
 *
 * Columns that are to be as small as possible are tried with all flags, whatever the attributes
 * say: readers take the flags from the directory.  The lengths are read from `values` and not from
 * a series.  That is right because a record with strings is not flat, so its block is never held by
 * columns. */
static enum step_status column_encode_bytes(struct step_column_encoder *encoder,
                                            const struct step_columns *columns, uint32_t index,
                                            struct step_coding *coding)
{
    const struct step_column_data *lengths = &columns->columns[index - 1];
    const struct step_buffer *bytes = &columns->columns[index].bytes;
    unsigned field_coding = columns->plan->columns[index].field_coding.policy.strings;
    unsigned best = 0;
    size_t before = encoder->out.sections.length;
    if (step_compressor_is_best(encoder->compressor))
        field_coding = STEP_STRINGS_NUMBERED | STEP_STRINGS_SHARED;
    if (lengths->count < 2 || bytes->length == 0)
        field_coding = 0;
    enum step_status status = column_encode_strings(encoder, lengths, bytes, 0, coding);
    size_t least = encoder->out.sections.length - before;
    for (unsigned flags = 1; flags <= field_coding && status == STEP_STATUS_OK; flags++) {
        if ((flags & ~field_coding) != 0)
            continue;
        encoder->out.sections.length = before;
        status = column_encode_strings(encoder, lengths, bytes, flags, coding);
        if (encoder->out.sections.length - before < least) {
            least = encoder->out.sections.length - before;
            best = flags;
        }
    }
    if (status != STEP_STATUS_OK || field_coding == 0)
        return status;
    encoder->out.sections.length = before;
    return column_encode_strings(encoder, lengths, bytes, best, coding);
}

/* With a recalled choice only the series that it needs is made, since each costs a walk over the
 * records.  Without one all are made, as any candidate may win.  The row of the directory comes
 * last, when the lengths in the coding are known; the section was appended before. */
enum step_status step_column_encode(struct step_column_encoder *encoder,
                                    const struct step_columns *columns, uint32_t index,
                                    struct step_choice *recalled)
{
    const struct step_plan_column *column = &columns->plan->columns[index];
    struct step_coding coding;
    enum step_status status;
    if (column->kind == STEP_COLUMN_BYTES) {
        status = column_encode_bytes(encoder, columns, index, &coding);
    } else {
        struct step_series given = {NULL, 0, NULL};
        struct step_linked linked = {0};
        struct column_writing writing = {.field_coding = &column->field_coding.column,
                                         .given = &given,
                                         .series = columns->series[index],
                                         .count = columns->columns[index].count,
                                         .resolution = column->field_coding.policy.resolution};
        uint64_t *storage;
        bool known = step_choice_is_recalled(recalled, writing.count);
        bool by_links = known && recalled->needs == STEP_SERIES_LINKED;
        bool by_other = known && !by_links && recalled->needs != STEP_SERIES_NONE;
        status = column_encode_find_series(columns, index, !known || by_other, &storage, &given,
                                           &writing.reference);
        if (status == STEP_STATUS_OK && (!known || by_links))
            status = column_encode_find_linked(columns, index, &linked);
        given.linked = linked.series;
        if (status == STEP_STATUS_OK)
            status = column_encode_values(encoder, &writing, recalled, &coding);
        step_linked_reset(&linked);
        free(storage);
    }
    if (status != STEP_STATUS_OK)
        return status;
    struct step_buffer *out = &encoder->out.directory;
    return step_buffer_append_varint(out, column->record) &&
                   step_buffer_append_varint(out, column->field) &&
                   step_buffer_append_varint(out, column->leaf) && step_coding_append(&coding, out)
               ? STEP_STATUS_OK
               : STEP_STATUS_NO_MEMORY;
}

/* The record types are encoded like any column of identifiers, but have no name: their coding is
 * the first of the directory, followed by the number of columns (docs/formats/step.md, Layout 1).
 */
enum step_status step_types_encode(struct step_column_encoder *encoder,
                                   const struct step_columns *columns, struct step_choice *recalled)
{
    static const struct step_coding_hints field_coding = {.identifier = true};
    const struct column_writing writing = {.field_coding = &field_coding,
                                           .series = {.values = columns->types.values, .step = 1},
                                           .count = columns->types.count};
    struct step_coding coding;
    enum step_status status = column_encode_values(encoder, &writing, recalled, &coding);
    if (status != STEP_STATUS_OK)
        return status;
    return step_coding_append(&coding, &encoder->out.directory) &&
                   step_buffer_append_varint(&encoder->out.directory, columns->used_count)
               ? STEP_STATUS_OK
               : STEP_STATUS_NO_MEMORY;
}
