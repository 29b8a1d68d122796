/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of reading rows, kept from block to block, and the directory of a block's encoders.
 *
 * The directory has the policy of each encoder as text, as a definition would have it.  So the
 * bytes can be read without knowing how the writer derived the policy, and by a reader that derives
 * another one from the same attributes.
 *
 * In the paper a decoder gets its encoders from the definition alone (section 3.1).  A directory
 * costs some bytes in each block, but a rule that this library does not know can then be named in
 * the error, instead of values decoded by another rule.
 */
#include <stdlib.h>

#include "format/step/plan/record_series.h"
#include "format/step/rows/row_read.h"

void step_row_reader_destroy(struct step_row_reader *rows)
{
    if (rows == NULL)
        return;
    for (size_t i = 0; i < rows->column_count; i++) {
        step_encoder_reset(&rows->columns[i].encoder);
        step_string_numbers_reset(&rows->columns[i].strings.numbers);
        free(rows->columns[i].data.values);
        step_buffer_reset(&rows->columns[i].data.bytes);
    }
    step_encoder_reset(&rows->types);
    step_encoder_reset(&rows->events);
    step_buffer_reset(&rows->rows);
    free(rows->columns);
    free(rows->listed);
    free(rows);
}

struct step_row_reader *step_row_reader_create(size_t column_count)
{
    struct step_row_reader *rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return NULL;
    rows->columns = calloc(column_count + 1, sizeof *rows->columns);
    rows->listed = calloc(column_count + 1, sizeof *rows->listed);
    if (rows->columns != NULL && rows->listed != NULL) {
        rows->column_count = column_count;
        return rows;
    }
    step_row_reader_destroy(rows);
    return NULL;
}

static enum step_status damaged_directory(const struct step_row_reading *reading)
{
    return step_decoding_fail(reading->decoding, STEP_STATUS_CORRUPT, NULL,
                              "the directory of the block's rows is damaged");
}

/* Reads the policy of an encoder; the error names an unknown one. */
static enum step_status read_policy(struct step_row_reading *reading, uint32_t index,
                                    struct step_policy *policy)
{
    uint64_t length;
    const uint8_t *text;
    const char *unknown;
    size_t unknown_length;
    char name[128];
    if (!step_cursor_varint(&reading->cursor, &length) ||
        !step_cursor_bytes(&reading->cursor, length, &text))
        return damaged_directory(reading);
    if (step_policy_parse((const char *) text, (size_t) length, policy, &unknown, &unknown_length))
        return STEP_STATUS_OK;
    step_decoding_name(reading->decoding, index, name, sizeof name);
    return step_decoding_fail(reading->decoding, STEP_STATUS_UNSUPPORTED, NULL,
                              "field %s: the encoding '%.*s' is not known to this library", name,
                              (int) (unknown_length < 40 ? unknown_length : 40), unknown);
}

/* The target of `given` must precede the field: only then has its value of the same record been
 * read. */
static bool read_given(struct step_row_reading *reading, uint32_t index, bool *hashed)
{
    const struct step_plan *plan = reading->decoding->plan;
    const struct step_plan_column *column = &plan->columns[index];
    uint64_t reference;
    uint64_t flag;
    if (!step_cursor_varint(&reading->cursor, &reference) ||
        !step_cursor_varint(&reading->cursor, &flag) || flag > 1)
        return false;
    *hashed = flag == 1;
    reading->reader->columns[index].given = reference;
    return (reference >> 1) < (reference & 1 ? column->leaf : column->field);
}

/* The column that `age` names may be any, even a later one of the record: it is its latest value
 * before this one that counts, so there is nothing to wait for.  Only in columns can such
 * references form a circle.  A column's own last value is what `delta` is for, and is refused. */
static bool read_followed(struct step_row_reading *reading, uint32_t index,
                          enum step_series_kind needs)
{
    const struct step_plan *plan = reading->decoding->plan;
    uint64_t reference;
    if (!step_cursor_varint(&reading->cursor, &reference) || plan->columns[index].in_array)
        return false;
    if (needs == STEP_SERIES_LATEST)
        reference = step_follow_column(plan, reference);
    reading->reader->columns[index].given = reference;
    return needs == STEP_SERIES_LATEST ? reference != STEP_NO_INDEX && reference != index
                                       : reference < plan->definition->record_count;
}

/* Returns true if a column's values are numbers or lengths of strings, whose bytes are in the next
 * column. */
static bool may_spell(const struct step_plan *plan, uint32_t index, unsigned strings)
{
    if (plan->columns[index].kind == STEP_COLUMN_NUMBERS)
        return strings == STEP_STRINGS_NUMBERED;
    return plan->columns[index].kind == STEP_COLUMN_LENGTHS && index + 1 < plan->column_count &&
           plan->columns[index + 1].kind == STEP_COLUMN_BYTES;
}

/* Only names that the plan has are accepted, each once; `listed` has room for each column.  Bytes
 * of strings have no encoder, as they follow their length.  What follows the policy depends on its
 * strategy, so an unknown policy ends the block, as the end of its entry is unknown. */
static enum step_status read_encoder(struct step_row_reading *reading)
{
    struct step_row_reader *reader = reading->reader;
    struct step_decoding *decoding = reading->decoding;
    uint64_t record;
    uint64_t field;
    uint64_t leaf;
    uint64_t bits = 1;
    bool hashed = false;
    struct step_policy policy;
    if (!step_cursor_varint(&reading->cursor, &record) ||
        !step_cursor_varint(&reading->cursor, &field) ||
        !step_cursor_varint(&reading->cursor, &leaf))
        return damaged_directory(reading);
    uint32_t index = step_plan_find_column(decoding->plan, record, field, leaf);
    if (index == STEP_NO_INDEX || decoding->columns[index].state != STEP_COLUMN_ABSENT ||
        decoding->plan->columns[index].kind == STEP_COLUMN_BYTES)
        return damaged_directory(reading);
    enum step_status status = read_policy(reading, index, &policy);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_strategy *strategy = step_policy_strategy(&policy);
    if (policy.strings != 0 && !may_spell(decoding->plan, index, policy.strings))
        return damaged_directory(reading);
    if (step_policy_follows(&policy) && !read_followed(reading, index, strategy->needs))
        return damaged_directory(reading);
    if (strategy->needs == STEP_SERIES_FIELD && !read_given(reading, index, &hashed))
        return damaged_directory(reading);
    if (strategy->has_table &&
        (!step_cursor_varint(&reading->cursor, &bits) || bits < 1 || bits > STEP_TABLE_BITS_MAX))
        return damaged_directory(reading);
    decoding->columns[index].state = STEP_COLUMN_LISTED;
    reader->listed[reader->listed_count++] = index;
    status = step_encoder_start(&reader->columns[index].encoder, &policy, (unsigned) bits, hashed);
    return status == STEP_STATUS_OK ? status : step_decoding_no_memory(decoding);
}

/* All state begins anew, also of columns that the block does not list: row_read_key_of() may ask
 * any column for its last value, and would see that of another block. */
enum step_status step_row_directory(struct step_row_reading *reading)
{
    struct step_row_reader *reader = reading->reader;
    struct step_policy types = step_meta_type_policy();
    struct step_policy events = step_meta_event_policy();
    uint64_t count;
    for (size_t i = 0; i < reader->column_count; i++) {
        struct step_row_column_reader *column = &reader->columns[i];
        column->data.count = 0;
        column->data.bytes.length = 0;
        step_string_numbers_clear(&column->strings.numbers);
        column->strings.last_start = column->strings.last_length = 0;
    }
    reader->listed_count = 0;
    if (step_encoder_start(&reader->types, &types, 1, false) != STEP_STATUS_OK ||
        step_encoder_start(&reader->events, &events, 1, false) != STEP_STATUS_OK)
        return step_decoding_no_memory(reading->decoding);
    if (!step_cursor_varint(&reading->cursor, &count) || count > reader->column_count)
        return damaged_directory(reading);
    enum step_status status = STEP_STATUS_OK;
    for (uint64_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        status = read_encoder(reading);
    return status;
}
