/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts pending records from rows to columns.
 *
 * It is a transposition: each record's words are scattered to the columns of their fields.  The
 * work is done once for each value, so the loops for the frequent cases are separate and simple
 * (scatter_three(), scatter_flat()); everything else goes through the tree of nodes.
 *
 * The types of the records become numbers local to the block, in order of the definition.  Room for
 * the columns is made before any value is written, from the counts of the types.
 *
 * Invariant: a column outside arrays gets exactly one value from each record whose type uses it, in
 * the order of the records.  Readers rely on it, as no column stores which record a value belongs
 * to (docs/formats/step.md, Columns).  It also allows the fast loops to write without a check of
 * room.
 */
#include "format/step/columns/columns_of_records.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

enum { STRANDS = 8 };

enum step_status step_columns_create(const struct step_plan *plan, struct step_columns **out)
{
    struct step_columns *columns = calloc(1, sizeof *columns);
    *out = columns;
    if (columns == NULL)
        return STEP_STATUS_NO_MEMORY;
    size_t record_count = plan->definition->record_count;
    size_t column_count = plan->column_count + 1u;
    columns->plan = plan;
    columns->columns = calloc(column_count, sizeof *columns->columns);
    columns->series = calloc(column_count, sizeof *columns->series);
    columns->used = calloc(column_count, sizeof *columns->used);
    columns->records = calloc(record_count, sizeof *columns->records);
    columns->counts = calloc(record_count, sizeof *columns->counts);
    columns->tally = calloc(STRANDS * record_count, sizeof *columns->tally);
    if (columns->columns != NULL && columns->series != NULL && columns->used != NULL &&
        columns->records != NULL && columns->counts != NULL && columns->tally != NULL)
        return STEP_STATUS_OK;
    step_columns_destroy(columns);
    *out = NULL;
    return STEP_STATUS_NO_MEMORY;
}

void step_columns_destroy(struct step_columns *columns)
{
    if (columns == NULL)
        return;
    for (size_t i = 0; columns->columns != NULL && i < columns->plan->column_count; i++) {
        free(columns->columns[i].values);
        step_buffer_reset(&columns->columns[i].bytes);
        step_string_numbers_reset(&columns->columns[i].numbers);
    }
    free(columns->columns);
    free(columns->series);
    free(columns->used);
    free(columns->types.values);
    free(columns->local_types);
    free(columns->records);
    free(columns->counts);
    free(columns->tally);
    free(columns);
}

static bool columns_push(struct step_column_data *column, uint64_t value)
{
    if (!STEP_MAKE_ROOM(column->values, column->capacity, column->count + 1))
        return false;
    column->values[column->count++] = value;
    return true;
}

/* `used` has each column once, whichever types of the block share it.  Everything that is done for
 * each block is done for the used columns only: a definition may have hundreds, and a block uses
 * few of them. */
static void use_column(struct step_columns *columns, uint32_t column)
{
    if (columns->columns[column].used)
        return;
    columns->columns[column].used = true;
    columns->used[columns->used_count++] = column;
}

/* Marks the columns of a node and of all nodes below it, with room for one value per record.
 * Columns inside arrays have as many values as the arrays are long, and grow as they are filled. */
static enum step_status use_node(struct step_columns *columns, const struct step_plan_node *node,
                                 uint64_t count)
{
    const struct step_plan *plan = columns->plan;
    if (step_node_has_column(node)) {
        use_column(columns, node->column);
        struct step_column_data *data = &columns->columns[node->column];
        if (!plan->columns[node->column].in_array) {
            /* `count` is the room requested so far; several types may share a column */
            data->count += (size_t) count;
            if (!STEP_MAKE_ROOM(data->values, data->capacity, data->count))
                return STEP_STATUS_NO_MEMORY;
        }
    }
    if (node->kind == STEP_NODE_BYTES)
        use_column(columns, node->column + 1);
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct step_plan_node *child = step_node_child(plan, node, i);
        enum step_status status = use_node(columns, child, count);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return STEP_STATUS_OK;
}

/* A type that the block has no record of marks nothing, so its columns are not in the directory. */
static enum step_status use_record(struct step_columns *columns, uint32_t record, uint64_t count)
{
    const struct step_plan *plan = columns->plan;
    enum step_status status = STEP_STATUS_OK;
    for (uint32_t k = 0; k < plan->records[record].field_count && status == STEP_STATUS_OK; k++)
        status = use_node(columns, &plan->nodes[plan->records[record].field_nodes[k]], count);
    return status;
}

static int compare_columns(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *) left;
    uint32_t b = *(const uint32_t *) right;
    return (a > b) - (a < b);
}

static void columns_clear(struct step_columns *columns)
{
    for (size_t i = 0; i < columns->used_count; i++) {
        struct step_column_data *data = &columns->columns[columns->used[i]];
        data->count = 0;
        data->bytes.length = 0;
        data->used = false;
        data->ascends = false;
        data->repeats = false;
        step_string_numbers_clear(&data->numbers);
    }
    columns->used_count = 0;
    columns->type_count = 0;
    columns->types.count = 0;
    columns->record_count = 0;
}

/* Records of one type are found at once.  For others there are several independent counters,
 * because a processor waits to load a number that it has just stored. */
static void tally_types(uint64_t *tally, uint32_t record_count, const struct step_pending *rows)
{
    const uint16_t *types = rows->types;
    size_t count = rows->record_count, i = 0;
    memset(tally, 0, STRANDS * record_count * sizeof *tally);
    if (count > 1 && memcmp(types, types + 1, (count - 1) * sizeof *types) == 0) {
        tally[types[0]] = count;
        return;
    }
    for (; i + STRANDS <= count; i += STRANDS)
        for (size_t k = 0; k < STRANDS; k++)
            tally[k * record_count + types[i + k]]++;
    for (; i < count; i++)
        tally[types[i]]++;
    for (size_t k = 1; k < STRANDS; k++)
        for (size_t type = 0; type < record_count; type++)
            tally[type] += tally[k * record_count + type];
}

/* Counts the types, and turns the tally into local numbers: tally[record] is a count before its
 * turn in the loop, and a number after it.  Types ascend, as the summary demands (block_summary.c).
 * Values held by columns need no room here, since they stay in their pages; the columns are only
 * marked.
 *
 * use_node() adds up the requested room in `count`, which must therefore return to 0 before values
 * come.  The columns in use are sorted afterwards: their order is that of the directory. */
static enum step_status count_types(struct step_columns *columns, const struct step_pending *rows)
{
    const struct step_plan *plan = columns->plan;
    uint64_t *tally = columns->tally;
    uint32_t record_count = (uint32_t) plan->definition->record_count;
    tally_types(tally, record_count, rows);
    for (uint32_t i = 0; i < record_count; i++) {
        if (tally[i] == 0)
            continue;
        columns->records[columns->type_count] = i;
        columns->counts[columns->type_count] = tally[i];
        enum step_status status = use_record(columns, i, rows->by_columns ? 0 : tally[i]);
        if (status != STEP_STATUS_OK)
            return status;
        tally[i] = columns->type_count++;
    }
    for (size_t i = 0; i < columns->used_count; i++)
        columns->columns[columns->used[i]].count = 0;
    qsort(columns->used, columns->used_count, sizeof *columns->used, compare_columns);
    return STEP_STATUS_OK;
}

/* With one type in the block the column of types has no information, and readers do not read it.
 * One value stands for all then, which makes it a constant.  Types are kept twice otherwise: as 64
 * bits for the encodings, and as 16 for the walks over the records, which load less that way. */
static enum step_status number_types(struct step_columns *columns, const struct step_pending *rows)
{
    columns->record_count = rows->record_count;
    if (!STEP_MAKE_ROOM(columns->types.values, columns->types.capacity, rows->record_count))
        return STEP_STATUS_NO_MEMORY;
    if (columns->type_count == 1) {
        columns->types.values[0] = 0;
        columns->types.count = 1;
        return STEP_STATUS_OK;
    }
    if (!STEP_MAKE_ROOM(columns->local_types, columns->local_capacity, rows->record_count))
        return STEP_STATUS_NO_MEMORY;
    const uint16_t *types = rows->types;
    const uint64_t *numbers = columns->tally;
    uint64_t *values = columns->types.values;
    uint16_t *local = columns->local_types;
    for (size_t i = 0; i < rows->record_count; i++) {
        values[i] = numbers[types[i]];
        local[i] = (uint16_t) values[i];
    }
    columns->types.count = rows->record_count;
    return STEP_STATUS_OK;
}

static bool scatter_node(struct step_columns *columns, const struct step_plan_node *node,
                         struct step_word_source *source);

/* Takes the next value of a NUMBERED node from the source.  Sets `*number` to the number of an
 * equal earlier value of the block, or to 0. A new value gets the next number, from 1 on, if it is
 * one of the first STEP_STRINGS_MOST. Values are compared as bytes, after rounding: two that the
 * file cannot tell apart are one.  Returns false if memory runs out.
 *
 * The value is appended to the bytes of all numbered values in order to be compared, and stays
 * there only if it got a number: `numbers` has positions in these bytes.  Bytes of a repeated
 * value, or of one for which no number is left, are removed again, as nothing refers to them. */
static bool find_number(struct step_columns *columns, const struct step_plan_node *node,
                        struct step_word_source *source, uint64_t *number)
{
    struct step_column_data *data = &columns->columns[node->column];
    size_t start = data->bytes.length, count = data->numbers.count;
    if (!step_words_append(columns->plan, step_node_child(columns->plan, node, 0), source,
                           &data->bytes) ||
        !step_string_number(&data->numbers, data->bytes.data, start, data->bytes.length - start,
                            number))
        return false;
    if (data->numbers.count > count)
        return true;
    data->repeats = data->repeats || *number != 0;
    data->bytes.length = start;
    return true;
}

/* Writes the value's number, or 0 and the value, if it has no number yet.  The words are passed
 * twice, to find the number and to scatter the value, hence the copy of the position.  Of a
 * repeated value nothing is scattered, nor is any numbered value inside it counted: the inner
 * columns have the parts of given values alone, which is how a reader counts them
 * (slots_of_columns.c). */
static bool scatter_numbered(struct step_columns *columns, const struct step_plan_node *node,
                             struct step_word_source *source)
{
    struct step_word_source start = *source;
    const struct step_plan_node *value = step_node_child(columns->plan, node, 0);
    uint64_t number;
    if (!find_number(columns, node, source, &number) ||
        !columns_push(&columns->columns[node->column], number))
        return false;
    return number != 0 || scatter_node(columns, value, &start);
}

/* Words carry no marks of what they are: the order of nodes here must be the one in which
 * append_node() wrote them (pending_records.c).  A length or type is taken before what it governs.
 * The child of a VARIANT exists, as append_variant() found it. */
static bool scatter_node(struct step_columns *columns, const struct step_plan_node *node,
                         struct step_word_source *source)
{
    const struct step_plan *plan = columns->plan;
    if (node->kind == STEP_NODE_NUMBERED)
        return scatter_numbered(columns, node, source);
    if (!step_node_has_column(node)) {
        for (uint32_t i = 0; i < node->child_count; i++)
            if (!scatter_node(columns, step_node_child(plan, node, i), source))
                return false;
        return true;
    }
    uint64_t word = *source->words++;
    if (!columns_push(&columns->columns[node->column], word))
        return false;
    if (node->kind == STEP_NODE_BYTES) {
        const uint8_t *bytes = source->bytes;
        source->bytes += word;
        return step_buffer_append(&columns->columns[node->column + 1].bytes, bytes, (size_t) word);
    }
    if (node->kind == STEP_NODE_VARIANT)
        return scatter_node(
            columns, step_node_child(plan, node, step_node_variant(plan, node, word)), source);
    if (node->kind == STEP_NODE_ARRAY || node->kind == STEP_NODE_TREE)
        for (uint64_t i = 0; i < word; i++)
            if (!scatter_node(columns, step_node_child(plan, node, 0), source))
                return false;
    return true;
}

/* Returns how many columns all types of the block start with, in one order; 0 if some type is not
 * flat. */
static uint32_t common_columns(const struct step_columns *columns)
{
    const struct step_plan_record *first = &columns->plan->records[columns->records[0]];
    uint32_t common = first->flat ? first->slot_count : 0;
    for (size_t i = 1; i < columns->type_count; i++) {
        const struct step_plan_record *other = &columns->plan->records[columns->records[i]];
        if (!other->flat)
            return 0;
        uint32_t most = common < other->slot_count ? common : other->slot_count;
        for (common = 0; common < most; common++)
            if (first->slot_columns[common] != other->slot_columns[common])
                break;
    }
    return common;
}

/* Writes the slots after the first three of all records from `words` on. */
static const uint64_t *scatter_rest(struct step_columns *columns,
                                    const struct step_plan_record *record, const uint64_t *words)
{
    for (uint32_t k = 3; k < record->slot_count; k++) {
        struct step_column_data *column = &columns->columns[record->slot_columns[k]];
        column->values[column->count++] = words[k];
    }
    return words + record->slot_count;
}

/* A separate loop for the most frequent case: all types are flat and start with the same three
 * columns (those of Event and one more).  Each record has one value in each of the three, so those
 * of record i are at index i, and no position needs to be loaded and stored for them.  That is what
 * the loop saves; the slots after the third go to columns that differ from type to type. */
static void scatter_three(struct step_columns *columns, const struct step_pending *rows)
{
    const struct step_plan_record *records = columns->plan->records;
    const uint32_t *shared = records[columns->records[0]].slot_columns;
    uint64_t *out[3];
    for (size_t k = 0; k < 3; k++) {
        out[k] = columns->columns[shared[k]].values;
        columns->columns[shared[k]].count = rows->record_count;
    }
    const uint64_t *words = rows->words;
    for (size_t i = 0; i < rows->record_count; i++) {
        const struct step_plan_record *record = &records[rows->types[i]];
        out[0][i] = words[0];
        out[1][i] = words[1];
        out[2][i] = words[2];
        words = scatter_rest(columns, record, words);
    }
}

/* Returns how many records of one type follow each other from `start` on, limited so that their
 * words stay in the L1 cache. */
static size_t run_length(const struct step_pending *rows, size_t start)
{
    enum { MOST = 256 };
    size_t most = rows->record_count - start < MOST ? rows->record_count - start : MOST;
    size_t run = 1;
    while (run < most && rows->types[start + run] == rows->types[start])
        run++;
    return run;
}

/* Copies a run of records of one type column by column.  Each column is written in a row, and the
 * words of the run stay in the cache.  Nothing checks the room: use_node() made it for all records
 * of the type, and a flat type has no column in an array. */
static void scatter_flat(struct step_columns *columns, const struct step_plan_record *record,
                         const uint64_t *words, size_t run)
{
    size_t stride = record->slot_count;
    for (uint32_t k = 0; k < stride; k++) {
        struct step_column_data *column = &columns->columns[record->slot_columns[k]];
        uint64_t *out = column->values + column->count;
        for (size_t i = 0; i < run; i++)
            out[i] = words[i * stride + k];
        column->count += run;
    }
}

/* Whether the three-column loop applies is decided once for the block, as it needs all types to be
 * flat.  Otherwise each record is taken by its own type: runs of a flat type go column by column,
 * and others through the nodes, which advance the same source of words. */
static enum step_status scatter(struct step_columns *columns, const struct step_pending *rows)
{
    const struct step_plan *plan = columns->plan;
    static const uint8_t nothing[1] = {0};
    if (columns->type_count > 1 && common_columns(columns) >= 3) {
        scatter_three(columns, rows);
        return STEP_STATUS_OK;
    }
    struct step_word_source source = {rows->words,
                                      rows->bytes.data != NULL ? rows->bytes.data : nothing};
    for (size_t i = 0; i < rows->record_count; i++) {
        const struct step_plan_record *record = &plan->records[rows->types[i]];
        if (record->flat) {
            size_t run = run_length(rows, i);
            scatter_flat(columns, record, source.words, run);
            source.words += run * record->slot_count;
            i += run - 1;
            continue;
        }
        for (uint32_t k = 0; k < record->field_count; k++)
            if (!scatter_node(columns, &plan->nodes[record->field_nodes[k]], &source))
                return STEP_STATUS_NO_MEMORY;
    }
    return STEP_STATUS_OK;
}

/* Returns the values, in one array; NULL if out of memory.  `*count` is their number in memory, one
 * if they are all equal.  Values in one page are used where they are. */
static uint64_t *find_values(struct step_columns *columns, struct step_pending *rows,
                             uint32_t column, size_t *count)
{
    struct step_column_data *data = &columns->columns[column];
    *count = data->count;
    if (!rows->by_columns)
        return data->values;
    struct step_row_column *held = &rows->columns.columns[column];
    *count = data->count = held->count;
    data->ascends = !held->jumps;
    if (!held->varies) {
        *count = 1;
        return &held->last;
    }
    if (held->pages.first == held->pages.last)
        return held->pages.first->values;
    if (!STEP_MAKE_ROOM(data->values, data->capacity, data->count))
        return NULL;
    step_pages_copy(&held->pages, data->values);
    return data->values;
}

/* Rounds the values of fields with a resolution to those that the file will have.  It does so where
 * the values are, which may be a page of the rows: the rows are cleared after their block, and
 * rounding twice changes nothing. */
static void round_values(const struct step_field_coding *field_coding, uint64_t *values,
                         size_t count)
{
    for (size_t k = 0; field_coding->resolution > 1 && k < count; k++)
        values[k] = step_field_coding_round(field_coding, values[k]);
}

/* Removes numbers of values of which none was repeated: they would all be 0. Readers take the
 * absence of the column for that, so files without repetition are as older versions wrote them. */
static void drop_unneeded(struct step_columns *columns)
{
    size_t kept = 0;
    for (size_t i = 0; i < columns->used_count; i++) {
        uint32_t column = columns->used[i];
        struct step_column_data *data = &columns->columns[column];
        if (columns->plan->columns[column].kind != STEP_COLUMN_NUMBERS || data->repeats) {
            columns->used[kept++] = column;
            continue;
        }
        step_string_numbers_clear(&data->numbers);
        data->bytes.length = 0;
        data->count = 0;
        data->used = false;
    }
    columns->used_count = kept;
}

/* The order matters: types first, as they say which columns there are; then values; then what was
 * found superfluous is dropped; and rounding last, on values that are all in place.  The writer
 * verifies blocks against these rounded values.
 *
 * The series of the last block are cleared before columns_clear() forgets which columns it used.
 * A series left over would point into pages that another stream has by now, and `age` would take an
 * unused column for one with values. */
enum step_status step_columns_fill(struct step_columns *columns, struct step_pending *rows)
{
    for (size_t i = 0; i < columns->used_count; i++)
        columns->series[columns->used[i]] = (struct step_series){NULL, 0, NULL};
    columns_clear(columns);
    enum step_status status = count_types(columns, rows);
    if (status == STEP_STATUS_OK)
        status = number_types(columns, rows);
    if (status == STEP_STATUS_OK && !rows->by_columns)
        status = scatter(columns, rows);
    if (status != STEP_STATUS_OK)
        return status;
    drop_unneeded(columns);
    for (size_t i = 0; i < columns->used_count; i++) {
        uint32_t column = columns->used[i];
        size_t count;
        uint64_t *values = find_values(columns, rows, column, &count);
        if (values == NULL && count > 0)
            return STEP_STATUS_NO_MEMORY;
        round_values(&columns->plan->columns[column].field_coding, values, count);
        columns->series[column] =
            (struct step_series){values, count == columns->columns[column].count, NULL};
    }
    return status;
}

struct step_sequence step_columns_sequence(const struct step_columns *columns)
{
    return (struct step_sequence){columns->plan,    columns->local_types, columns->record_count,
                                  columns->records, columns->type_count,  columns->series};
}

/* Two independent strands, so that comparisons need not wait for each other. */
static void columns_widen(struct step_range *range, const uint64_t *values, size_t count)
{
    struct step_range even = *range;
    struct step_range odd = *range;
    size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        even.min = values[i] < even.min ? values[i] : even.min;
        even.max = values[i] > even.max ? values[i] : even.max;
        odd.min = values[i + 1] < odd.min ? values[i + 1] : odd.min;
        odd.max = values[i + 1] > odd.max ? values[i + 1] : odd.max;
    }
    if (i < count) {
        even.min = values[i] < even.min ? values[i] : even.min;
        even.max = values[i] > even.max ? values[i] : even.max;
    }
    range->min = even.min < odd.min ? even.min : odd.min;
    range->max = even.max > odd.max ? even.max : odd.max;
}

/* An ascending column has its extremes at its ends.  Whether it ascends was noted while it was
 * filled (pending_records.c), so a block of records by columns needs no pass over its times. */
struct step_range step_columns_range(const struct step_columns *columns, uint32_t column)
{
    struct step_range range = {UINT64_MAX, 0};
    const struct step_series *series = &columns->series[column];
    const struct step_column_data *data = &columns->columns[column];
    if (data->ascends && data->count > 0)
        columns_widen(&range, &series->values[(data->count - 1) * series->step], 1);
    columns_widen(&range, series->values,
                  series->step == 0 || data->ascends ? data->count > 0 : data->count);
    return range;
}

/* Several columns may have the property, as types may change the inherited field; the range covers
 * them all.  A reader compares it with what it looks for and skips the block, so it may be too wide
 * but not too narrow. */
static struct step_range range_of(const struct step_columns *columns, bool time)
{
    struct step_range range = {UINT64_MAX, 0};
    bool any = false;
    for (size_t i = 0; i < columns->used_count; i++) {
        uint32_t used = columns->used[i];
        const struct step_field_coding *coding = &columns->plan->columns[used].field_coding;
        if (!(time ? coding->is_time : coding->is_thread) || columns->columns[used].count == 0)
            continue;
        struct step_range one = step_columns_range(columns, used);
        range.min = one.min < range.min ? one.min : range.min;
        range.max = one.max > range.max ? one.max : range.max;
        any = true;
    }
    return any ? range : (struct step_range){0, 0};
}

struct step_range step_columns_time(const struct step_columns *columns)
{
    return range_of(columns, true);
}

struct step_range step_columns_thread(const struct step_columns *columns)
{
    return range_of(columns, false);
}
