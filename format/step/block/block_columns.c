/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes blocks of layout COLUMNS: the directory, the record types, and columns on demand.
 *
 * A column is decoded when a wanted type needs it, or when another column measures from it.  In the
 * second case decoding is recursive; `depth` and the state UNDER_WAY bound it, since a hostile
 * directory may name any column.  Each column is decoded once.
 *
 * The file chooses the order of needs, and not the reader: which column `age` or `linked` names is
 * a parameter in the directory.  Writers set columns apart that would form a circle (plan_order.c),
 * but nothing is taken for granted from that.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "format/step/block/block_decode.h"
#include "format/step/plan/record_series.h"

/* Takes a section's bytes from the rest of the payload.  Sections follow each other in the order of
 * the directory, so none has an offset that could be wrong. */
static bool take_section(struct step_cursor *sections, const struct step_coding *coding,
                         const uint8_t **stored)
{
    /* no supported compression exceeds 1 to 65536 */
    return coding->raw_length <= STEP_MAX_BLOCK_MEMORY &&
           coding->raw_length / 65536 <= coding->stored_length &&
           step_cursor_bytes(sections, coding->stored_length, stored);
}

/* A name is looked up in the plan, so an index beyond its arrays cannot arise.  A second entry for
 * a column is refused: which of the two counts would be up to the reader.  The encoding is only
 * stored here, even if it is unknown; that matters when a wanted type needs the column. */
static enum step_status parse_entry(struct step_decoding *decoding, struct step_cursor *directory,
                                    struct step_cursor *sections)
{
    uint64_t record;
    uint64_t field;
    uint64_t leaf;
    struct step_coding coding;
    const uint8_t *at = directory->at;
    const uint8_t *stored;
    if (!step_cursor_varint(directory, &record) || !step_cursor_varint(directory, &field) ||
        !step_cursor_varint(directory, &leaf) || !step_coding_parse(directory, &coding))
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, at,
                                  "the block's directory is damaged");
    if (!take_section(sections, &coding, &stored))
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, at,
                                  "a column is longer than its block allows");
    uint32_t index = step_plan_find_column(decoding->plan, record, field, leaf);
    if (index == STEP_NO_INDEX || decoding->columns[index].state != STEP_COLUMN_ABSENT)
        return step_decoding_fail(
            decoding, STEP_STATUS_CORRUPT, at,
            "the block's directory names a column that does not exist, or one twice");
    struct step_decoding_column *column = &decoding->columns[index];
    column->state = STEP_COLUMN_LISTED;
    column->coding = coding;
    column->stored = stored;
    return STEP_STATUS_OK;
}

/* Directory and sections must use up the payload: bytes that nobody names are damage.  Entries and
 * their sections are read in parallel, as the lengths of the sections are in the entries.  `count`
 * is compared with the plan only to fail early; entries that name a column twice would end it
 * anyway. */
static enum step_status read_directory(struct step_decoding *decoding)
{
    const struct step_payload *payload = decoding->payload;
    struct step_cursor sections =
        step_cursor_of(payload->bytes, (size_t) payload->header->payload_bytes);
    sections.at += payload->header->summary_bytes;
    uint64_t length;
    uint64_t count;
    const uint8_t *start;
    if (!step_cursor_varint(&sections, &length) || !step_cursor_bytes(&sections, length, &start))
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, sections.at,
                                  "the block's directory passes the end of the block");
    struct step_cursor directory = step_cursor_of(start, (size_t) length);
    if (!step_coding_parse(&directory, &decoding->types) ||
        !take_section(&sections, &decoding->types, &decoding->types_stored) ||
        !step_cursor_varint(&directory, &count) || count > decoding->plan->column_count)
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, start,
                                  "the block's directory is damaged");
    for (uint64_t i = 0; i < count; i++) {
        enum step_status status = parse_entry(decoding, &directory, &sections);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (step_cursor_left(&directory) > 0 || step_cursor_left(&sections) > 0)
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, directory.at,
                                  "the block has bytes that its directory does not list");
    return STEP_STATUS_OK;
}

/* Reads the records' types, and checks their counts against the summary.  Everything after relies
 * on it: a cursor may be advanced as often as the type's records are there, and no further.  The
 * columns have as many values as the summary says; a type that occurred once more than that would
 * take a cursor beyond the end of its column.  `left` need not be 0 at the end for each type: their
 * sum is the number of records, so no type can have too few if none has too many. */
static enum step_status read_types(struct step_decoding *decoding)
{
    struct step_block *block = decoding->block;
    size_t count = (size_t) block->record_count;
    enum step_status status = STEP_STATUS_OK;
    if (block->type_count == 1) {
        block->types = NULL;
        return status;
    }
    block->types = step_decoding_take(decoding, count, sizeof *block->types, &status);
    uint64_t *left = step_decoding_borrow(decoding, block->type_count, sizeof *left, &status);
    if (block->types == NULL || left == NULL)
        return status;
    if (decoding->types.unknown != NULL)
        return step_decoding_unknown(decoding, "the record types", &decoding->types,
                                     decoding->types_stored);
    struct step_scratch *scratch = &decoding->reader->scratch;
    if (!step_scratch_reserve(scratch, count))
        return step_decoding_no_memory(decoding);
    status = step_column_read(&decoding->types, decoding->types_stored, NULL, scratch->work, count,
                              decoding->reader->decompressor, scratch);
    if (status != STEP_STATUS_OK)
        return step_decoding_fail(decoding, status, decoding->types_stored,
                                  "the record types are damaged");
    for (size_t i = 0; i < block->type_count; i++)
        left[i] = block->block_types[i].count;
    for (size_t i = 0; i < count; i++) {
        uint64_t type = scratch->work[i];
        if (type >= block->type_count || left[type]-- == 0)
            return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, decoding->types_stored,
                                      "the record types disagree with their counts");
        block->types[i] = (uint16_t) type;
    }
    return STEP_STATUS_OK;
}

enum step_status step_decoding_columns(struct step_decoding *decoding)
{
    enum step_status status = read_directory(decoding);
    return status == STEP_STATUS_OK ? read_types(decoding) : status;
}

static struct step_sequence sequence_of(const struct step_decoding *decoding)
{
    const struct step_block *block = decoding->block;
    return (struct step_sequence){
        decoding->plan,    block->types,      (size_t) block->record_count,
        decoding->records, block->type_count, decoding->series};
}

/* Finds the values of the column that `given` names among the columns of one field.  Only an
 * earlier leaf may be named, so no circle arises.  The counts must agree, as values are paired by
 * their position: leaves of one field may be in different arrays, and a shorter column would be
 * read beyond its end. */
static enum step_status nested_series(struct step_decoding *decoding, uint32_t index, uint64_t leaf,
                                      struct step_series *series)
{
    const struct step_plan_column *column = &decoding->plan->columns[index];
    uint32_t other = step_plan_find_column(decoding->plan, column->record, column->field, leaf);
    if (other == STEP_NO_INDEX || leaf >= column->leaf)
        return STEP_STATUS_CORRUPT;
    /* fields of one record: both counts are set before either is decoded */
    if (decoding->columns[other].count != decoding->columns[index].count ||
        decoding->plan->columns[other].kind != STEP_COLUMN_VALUES)
        return STEP_STATUS_CORRUPT;
    enum step_status status = step_decoding_decode(decoding, other);
    *series = decoding->series[other];
    return status;
}

/* Decodes the field's column of a record that needs it. */
static enum step_status decode_field(struct step_decoding *decoding, uint32_t record,
                                     uint64_t field)
{
    uint32_t column = step_field_column(decoding->plan, record, field);
    return column != STEP_NO_INDEX ? step_decoding_decode(decoding, column) : STEP_STATUS_CORRUPT;
}

/* Finds the values of the field that `given` names, for each record that has the column.  Only an
 * earlier field may be named.  So columns coded by `given` cannot form a circle, whatever the file
 * says.
 *
 * Types that share the column may use different columns for the other field, where they changed its
 * attributes.  All of these must be decoded before step_gather() walks over the records. */
static enum step_status field_series(struct step_decoding *decoding, uint32_t index, uint64_t field,
                                     uint64_t **storage, struct step_series *series)
{
    const struct step_plan_column *column = &decoding->plan->columns[index];
    if (field >= column->field || column->in_array)
        return STEP_STATUS_CORRUPT;
    bool any = false;
    for (size_t i = 0; i < decoding->block->type_count; i++) {
        uint32_t record = decoding->records[i];
        if (step_field_column(decoding->plan, record, column->field) != index)
            continue;
        any = true;
        enum step_status status = decode_field(decoding, record, field);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (!any)
        return STEP_STATUS_CORRUPT;
    struct step_sequence sequence = sequence_of(decoding);
    return step_gather(&sequence, index, (uint32_t) field, (size_t) decoding->columns[index].count,
                       storage, series);
}

/* Finds the series that `stack` and `age` use.  A block may lack the column that `age` names, if it
 * has no record with it; then its latest value is 0 throughout (docs/formats/step.md, Transforms).
 * A column that is there must be decoded first, wherever it stands in the directory. */
static enum step_status followed_series(struct step_decoding *decoding, uint32_t index,
                                        enum step_series_kind kind, uint64_t reference,
                                        uint64_t **storage, struct step_series *series)
{
    const struct step_plan *plan = decoding->plan;
    struct step_sequence sequence = sequence_of(decoding);
    size_t count = (size_t) decoding->columns[index].count;
    if (plan->columns[index].in_array)
        return STEP_STATUS_CORRUPT;
    if (kind == STEP_SERIES_PUSHES)
        return reference < plan->definition->record_count
                   ? step_follow_pushes(&sequence, index, (uint32_t) reference, count, storage,
                                        series)
                   : STEP_STATUS_CORRUPT;
    uint32_t other = step_follow_column(plan, reference);
    if (other == STEP_NO_INDEX || other == index)
        return STEP_STATUS_CORRUPT;
    enum step_status status = STEP_STATUS_OK;
    if (decoding->columns[other].state != STEP_COLUMN_ABSENT)
        status = step_decoding_decode(decoding, other);
    return status == STEP_STATUS_OK
               ? step_follow_latest(&sequence, index, other, count, storage, series)
               : status;
}

/* Finds the series that `linked` uses.  step_links_unpack() refuses parameters that name no field
 * of the record; circles are left to the state UNDER_WAY, as the fields may be later ones. */
static enum step_status linked_series(struct step_decoding *decoding, uint32_t index,
                                      const uint64_t *parameters, struct step_linked *linked)
{
    const struct step_plan *plan = decoding->plan;
    struct step_links links;
    if (!step_links_unpack(plan, index, parameters, &links))
        return STEP_STATUS_CORRUPT;
    enum step_status status = STEP_STATUS_OK;
    if (links.newest != STEP_NO_INDEX &&
        decoding->columns[links.newest].state != STEP_COLUMN_ABSENT)
        status = step_decoding_decode(decoding, links.newest);
    for (size_t i = 0; i < decoding->block->type_count && status == STEP_STATUS_OK; i++) {
        uint32_t record = decoding->records[i];
        if (step_field_column(plan, record, plan->columns[index].field) != index)
            continue;
        status = decode_field(decoding, record, links.key);
        if (status == STEP_STATUS_OK && links.holder != STEP_NO_INDEX)
            status = decode_field(decoding, record, links.holder);
    }
    struct step_sequence sequence = sequence_of(decoding);
    return status == STEP_STATUS_OK
               ? step_linked_fill(&sequence, index, &links, (size_t) decoding->columns[index].count,
                                  linked)
               : status;
}

/* Finds the series that a chain needs.  At most one of its transforms may have one; our writer
 * makes no others.  A second would overwrite `storage` of the first, which would be lost and still
 * be in use.  A series without values is an error except for `linked`, whose values are in
 * linked->series. */
static enum step_status find_series(struct step_decoding *decoding, uint32_t index,
                                    uint64_t **storage, struct step_linked *linked,
                                    struct step_series *series, const struct step_series **used)
{
    const struct step_chain *chain = &decoding->columns[index].coding.chain;
    *used = NULL;
    for (size_t i = 0; i < chain->length; i++) {
        enum step_series_kind kind = chain->links[i].transform->series;
        if (kind == STEP_SERIES_NONE)
            continue;
        uint64_t reference = chain->links[i].parameters[0];
        if (*used != NULL)
            return STEP_STATUS_CORRUPT;
        *used = series;
        series->linked = linked->series;
        enum step_status status =
            kind == STEP_SERIES_LINKED
                ? linked_series(decoding, index, chain->links[i].parameters, linked)
            : kind != STEP_SERIES_FIELD
                ? followed_series(decoding, index, kind, reference, storage, series)
            : reference & 1 ? nested_series(decoding, index, reference >> 1, series)
                            : field_series(decoding, index, reference >> 1, storage, series);
        if (status != STEP_STATUS_OK)
            return status;
        if (series->values == NULL && kind != STEP_SERIES_LINKED)
            return STEP_STATUS_CORRUPT;
    }
    return STEP_STATUS_OK;
}

/* A column with one distinct value needs no array. */
static enum step_status decode_constant(struct step_decoding *decoding, uint32_t index)
{
    enum step_status status = STEP_STATUS_OK;
    uint64_t *value = step_decoding_take(decoding, 1, sizeof *value, &status);
    if (value == NULL)
        return status;
    *value = decoding->columns[index].coding.chain.form_parameter;
    decoding->series[index] = (struct step_series){value, 0, NULL};
    return decoding->columns[index].coding.raw_length == 0 ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
}

/* The form's bound is compared with the length before compression, before memory is taken for
 * either.  The limit of `count` comes first: a bound is a small multiple of it, and must not
 * overflow.
 *
 * The series must be found before step_column_read() is called.  Finding it may decode other
 * columns, which use the same scratch buffers and the same decompressor. */
static enum step_status decode_values(struct step_decoding *decoding, uint32_t index)
{
    struct step_decoding_column *column = &decoding->columns[index];
    const struct step_coding *coding = &column->coding;
    if (coding->chain.length == 0 && coding->chain.form == &step_form_constant)
        return decode_constant(decoding, index);
    enum step_status status = STEP_STATUS_OK;
    if (coding->chain.form == NULL || column->count > STEP_MAX_BLOCK_MEMORY ||
        coding->raw_length > coding->chain.form->bound(coding->chain.form_parameter, column->count))
        return STEP_STATUS_CORRUPT;
    uint64_t *values = step_decoding_take(decoding, column->count, sizeof *values, &status);
    if (values == NULL)
        return status;
    if (!step_decoding_has_room(decoding, coding, &status))
        return status;
    uint64_t *storage = NULL;
    struct step_linked linked = {0};
    struct step_series series = {NULL, 0, NULL};
    const struct step_series *used;
    status = find_series(decoding, index, &storage, &linked, &series, &used);
    if (status == STEP_STATUS_OK)
        status = step_column_read(coding, column->stored, used, values, (size_t) column->count,
                                  decoding->reader->decompressor, &decoding->reader->scratch);
    step_linked_reset(&linked);
    free(storage);
    decoding->series[index] = (struct step_series){values, 1, NULL};
    return status;
}

/*
 * Fills series[index] with the column's values.  After UNSUPPORTED the rest of the block is usable.
 *
 * That is why the state returns to LISTED after a failure: another type that needs the column must
 * meet the same failure.  Left UNDER_WAY, it would be reported as a column that depends on itself,
 * which is damage and would cost the whole block.
 *
 * The message of the innermost failure is kept, because it names the column that is at fault and
 * its offset.  error->status is set to OK before, so that it shows afterwards whether there is one.
 *
 * `depth` limits the recursion, and with it the stack that a file can make a reader use.
 */
enum step_status step_decoding_decode(struct step_decoding *decoding, uint32_t index)
{
    struct step_decoding_column *column = &decoding->columns[index];
    char name[128];
    if (column->state == STEP_COLUMN_DECODED)
        return STEP_STATUS_OK;
    step_decoding_name(decoding, index, name, sizeof name);
    if (column->state == STEP_COLUMN_ABSENT)
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, NULL, "the block lacks column %s",
                                  name);
    if (column->state == STEP_COLUMN_UNDER_WAY)
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, NULL,
                                  "column %s depends on itself", name);
    if (column->coding.unknown != NULL)
        return step_decoding_unknown(decoding, name, &column->coding, column->stored);
    if (decoding->depth >= STEP_MAX_COLUMN_CHAIN)
        return step_decoding_fail(decoding, STEP_STATUS_LIMIT, column->stored,
                                  "column %s needs more than %u others, one after the other", name,
                                  STEP_MAX_COLUMN_CHAIN - 1);
    column->state = STEP_COLUMN_UNDER_WAY;
    decoding->depth++;
    if (decoding->error != NULL)
        decoding->error->status = STEP_STATUS_OK;
    enum step_status status = decode_values(decoding, index);
    decoding->depth--;
    column->state = status == STEP_STATUS_OK ? STEP_COLUMN_DECODED : STEP_COLUMN_LISTED;
    if (status != STEP_STATUS_OK &&
        (decoding->error == NULL || decoding->error->status == STEP_STATUS_OK))
        step_decoding_fail(decoding, status, column->stored,
                           status == STEP_STATUS_NO_MEMORY ? "no memory for column %s"
                                                           : "column %s is damaged",
                           name);
    return status;
}
