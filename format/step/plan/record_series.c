/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series for `stack`, `age`, `given` and `linked`: walks over the records of a block.
 *
 * A column has the values of all record types that share it, in the order of the records; another
 * column has those of other types.  So the two do not run in parallel in general: a walk over the
 * types of all records moves a position in each column.  The frequent case that they do run in
 * parallel is recognised, and needs neither walk nor memory.
 *
 * Writer and reader must come to the same series, or the transform that uses it restores other
 * values.  So both call the functions here: the writer with the values that it encodes, the reader
 * with those that it has decoded.  The reader decodes the column that is referred to first
 * (find_series() in block_columns.c); one that the block lacks has `values` NULL.
 *
 * A position in a column is not compared with its length.  A reader has made sure before that the
 * types of the records agree with the counts in the summary (read_types() in block_columns.c), and
 * the length of a column is the sum of these counts.  So a walk cannot pass the end of a column.
 */
#include "format/step/plan/record_series.h"

#include <stdlib.h>
#include <string.h>

#include "format/language/dl_tree.h"
#include "format/step/plan/plan_build.h"

uint64_t step_given_reference(const struct step_plan *plan, uint32_t column)
{
    const struct step_plan_column *planned = &plan->columns[column];
    if (planned->given_column != STEP_NO_INDEX)
        return (uint64_t) plan->columns[planned->given_column].leaf << 1 | 1;
    return planned->given_field != STEP_NO_INDEX ? (uint64_t) planned->given_field << 1 : 0;
}

/* Returns true if the values of `other` correspond one to one to those of `column`: all types that
 * use `column` have the field in `other`, and no further type uses that one.  Only types of this
 * block count, so columns that are shared by many types are often aligned in a block of few.  Both
 * conditions are needed: values of a further type would shift all that follow, and a second column
 * would leave some values without a partner.  The cost is one look at each type, none at records.
 */
static bool is_aligned(const struct step_sequence *sequence, uint32_t column, uint32_t field,
                       uint32_t *other)
{
    const struct step_plan *plan = sequence->plan;
    *other = STEP_NO_INDEX;
    for (size_t i = 0; i < sequence->type_count; i++) {
        uint32_t record = sequence->records[i];
        if (step_field_column(plan, record, plan->columns[column].field) != column)
            continue;
        uint32_t mine = step_field_column(plan, record, field);
        if (*other != STEP_NO_INDEX && *other != mine)
            return false;
        *other = mine;
    }
    for (size_t i = 0; i < sequence->type_count; i++) {
        uint32_t record = sequence->records[i];
        if (step_field_column(plan, record, field) == *other &&
            step_field_column(plan, record, plan->columns[column].field) != column)
            return false;
    }
    return *other != STEP_NO_INDEX;
}

/* A block with one type may have no array of types. */
static size_t type_of(const struct step_sequence *sequence, size_t i)
{
    return sequence->type_count > 1 ? sequence->types[i] : 0;
}

/* Takes the values of the records that have both columns.  A position moves for each record with
 * the field, whether or not it has a value in `column`: columns have no marks between records, so a
 * value is found only by counting those before it.  There is a position for each column of the
 * plan, because the types of one block may have the field in different columns. */
static void record_series_collect(const struct step_sequence *sequence, uint32_t column,
                                  uint32_t field, size_t *positions, uint64_t *values, size_t count)
{
    const struct step_plan *plan = sequence->plan;
    size_t n = 0;
    for (size_t i = 0; i < sequence->record_count; i++) {
        uint32_t record = sequence->records[type_of(sequence, i)];
        uint32_t other = step_field_column(plan, record, field);
        if (other == STEP_NO_INDEX)
            continue;
        size_t position = positions[other]++;
        if (step_field_column(plan, record, plan->columns[column].field) != column || n == count)
            continue;
        const struct step_series *series = &sequence->columns[other];
        values[n++] = series->values[position * series->step];
    }
}

enum step_status step_gather(const struct step_sequence *sequence, uint32_t column, uint32_t field,
                             size_t count, uint64_t **storage, struct step_series *out)
{
    *storage = NULL;
    uint32_t other;
    if (is_aligned(sequence, column, field, &other)) {
        *out = sequence->columns[other];
        return STEP_STATUS_OK;
    }
    size_t *positions = calloc(sequence->plan->column_count, sizeof *positions);
    *storage = calloc(count + 1, sizeof **storage);
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (positions != NULL && *storage != NULL) {
        record_series_collect(sequence, column, field, positions, *storage, count);
        *out = (struct step_series){*storage, 1, NULL};
        status = STEP_STATUS_OK;
    }
    free(positions);
    return status;
}

/* By type of the block: whether its records have a value in the column; with `pushing`, 2 if they
 * also are or extend that record type.  The caller frees it.  So what a walk asks of each record is
 * one look-up by its local type. */
static uint8_t *types_with(const struct step_sequence *sequence, uint32_t column, uint32_t pushing)
{
    const struct step_plan *plan = sequence->plan;
    uint8_t *types = malloc(sequence->type_count + 1);
    for (size_t i = 0; types != NULL && i < sequence->type_count; i++) {
        uint32_t record = sequence->records[i];
        bool has = step_field_column(plan, record, plan->columns[column].field) == column;
        bool pushes = has && pushing != STEP_NO_INDEX &&
                      step_record_extends(plan->definition, record, pushing);
        types[i] = (uint8_t) (has + pushes);
    }
    return types;
}

enum { BITS = 64 }; /* bits in a word */

/* Processes record by record.  Returns how many bits were written.  Words are complete before they
 * are stored. */
static size_t fill_some(const struct step_sequence *sequence, const uint8_t *types, size_t count,
                        uint64_t *pushes)
{
    uint64_t word = 0;
    size_t n = 0;
    for (size_t i = 0; i < sequence->record_count && n < count; i++) {
        uint8_t type = types[type_of(sequence, i)];
        if (type == 0)
            continue;
        word |= (uint64_t) (type >> 1) << n % BITS;
        if (++n % BITS == 0) {
            pushes[n / BITS - 1] = word;
            word = 0;
        }
    }
    if (n % BITS != 0)
        pushes[n / BITS] = word;
    return n;
}

/* The case that every record has a value: `count` of them, of several types.  Without a branch in
 * it, the compiler can make the inner loop fast.  Value i then belongs to record i, so no second
 * counter is needed, which is what the branch of fill_some() is for. */
static size_t fill_all(const struct step_sequence *sequence, const uint8_t *types, size_t count,
                       uint64_t *pushes)
{
    const uint16_t *type = sequence->types;
    for (size_t i = 0; i < count; i += BITS) {
        size_t most = count - i < BITS ? count - i : BITS;
        uint64_t word = 0;
        for (size_t k = 0; k < most; k++)
            word |= (uint64_t) (types[type[i + k]] >> 1) << k;
        pushes[i / BITS] = word;
    }
    return count;
}

/* A block with one type has no array of types, which fill_all() reads; type_of() does without. */
static size_t fill_pushes(const struct step_sequence *sequence, const uint8_t *types, size_t count,
                          uint64_t *pushes)
{
    bool all = sequence->type_count > 1 && count <= sequence->record_count;
    for (size_t i = 0; i < sequence->type_count; i++)
        all = all && types[i] != 0;
    return (all ? fill_all : fill_some)(sequence, types, count, pushes);
}

/* The value is taken before the record's own value of the other column counts: a reader that
 * decodes in order knows only what came before.  If the other column is absent in the block, all
 * are 0. */
static void fill_latest(const struct step_sequence *sequence, const uint8_t *mine,
                        const uint8_t *others, const struct step_series *values, size_t count,
                        uint64_t *latest)
{
    uint64_t value = 0;
    size_t n = 0, position = 0;
    for (size_t i = 0; i < sequence->record_count && n < count; i++) {
        size_t type = type_of(sequence, i);
        if (mine[type] != 0)
            latest[n++] = value;
        if (values->values != NULL && others[type] != 0)
            value = values->values[position++ * values->step];
    }
    while (n < count)
        latest[n++] = 0;
}

enum step_status step_follow_pushes(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t record, size_t count, uint64_t **storage,
                                    struct step_series *out)
{
    uint8_t *types = types_with(sequence, column, record);
    size_t words = count / BITS + 1;
    uint64_t *pushes = *storage = malloc(words * sizeof *pushes);
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (types != NULL && pushes != NULL) {
        size_t filled = fill_pushes(sequence, types, count, pushes);
        size_t whole = (filled + BITS - 1) / BITS;
        memset(pushes + whole, 0, (words - whole) * sizeof *pushes);
        *out = (struct step_series){pushes, 1, NULL};
        status = STEP_STATUS_OK;
    }
    free(types);
    return status;
}

enum step_status step_follow_latest(const struct step_sequence *sequence, uint32_t column,
                                    uint32_t other, size_t count, uint64_t **storage,
                                    struct step_series *out)
{
    uint8_t *mine = types_with(sequence, column, STEP_NO_INDEX);
    uint8_t *others = types_with(sequence, other, STEP_NO_INDEX);
    uint64_t *latest = *storage = malloc((count + 1) * sizeof *latest);
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (mine != NULL && others != NULL && latest != NULL) {
        fill_latest(sequence, mine, others, &sequence->columns[other], count, latest);
        *out = (struct step_series){latest, 1, NULL};
        status = STEP_STATUS_OK;
    }
    free(mine);
    free(others);
    return status;
}

/* The field has the lower 24 bits, since all records together have at most 2^22 fields
 * (STEP_MAX_FIELDS).  Only a column that is a whole field has such a number: it names no leaf. */
enum { FIELD_BITS = 24 };

uint64_t step_follow_reference(const struct step_plan *plan, uint32_t column)
{
    return (uint64_t) plan->columns[column].record << FIELD_BITS | plan->columns[column].field;
}

uint32_t step_follow_column(const struct step_plan *plan, uint64_t reference)
{
    uint64_t record = reference >> FIELD_BITS;
    return record < plan->definition->record_count
               ? step_field_column(plan, (uint32_t) record,
                                   reference & ((UINT64_C(1) << FIELD_BITS) - 1))
               : STEP_NO_INDEX;
}

#define FIELD_MASK ((UINT64_C(1) << FIELD_BITS) - 1)

/* The parameters of `linked` in the file: the key, and above it 1 more than the holder; 1 more than
 * the number of the measuring column.  0 stands for none in the last two, as field 0 is a field. */
static void step_links_pack(const struct step_plan *plan, const struct step_links *links,
                            uint64_t parameters[2])
{
    uint64_t holder = links->holder != STEP_NO_INDEX ? links->holder + UINT64_C(1) : 0;
    parameters[0] = links->key | holder << FIELD_BITS;
    parameters[1] =
        links->newest != STEP_NO_INDEX ? step_follow_reference(plan, links->newest) + 1 : 0;
}

/* A column cannot be measured from itself: neither the writer's attribute nor the parameters in a
 * file may name the column's own field. */
static bool record_series_is_single(const struct step_plan *plan, uint32_t column, uint64_t field)
{
    uint32_t record = plan->columns[column].record;
    return field < plan->records[record].field_count &&
           step_field_column(plan, record, field) != STEP_NO_INDEX &&
           step_field_column(plan, record, field) != column;
}

/* The parameters come from the file and may be any numbers.  Each is compared with the plan
 * here, since the results are used as indexes from now on. */
bool step_links_unpack(const struct step_plan *plan, uint32_t column, const uint64_t parameters[2],
                       struct step_links *links)
{
    uint64_t key = parameters[0] & FIELD_MASK;
    uint64_t holder = parameters[0] >> FIELD_BITS;
    const struct step_plan_column *planned = &plan->columns[column];
    *links = (struct step_links){(uint32_t) key, STEP_NO_INDEX, STEP_NO_INDEX};
    if (step_field_column(plan, planned->record, planned->field) != column ||
        !record_series_is_single(plan, column, key) ||
        (holder != 0 && !record_series_is_single(plan, column, holder - 1)))
        return false;
    if (holder != 0)
        links->holder = (uint32_t) holder - 1;
    if (parameters[1] == 0)
        return true;
    links->newest = step_follow_column(plan, parameters[1] - 1);
    return links->newest != STEP_NO_INDEX && links->newest != column;
}

static uint32_t record_series_find_field(const struct step_plan *plan, uint32_t column,
                                         const char *name, size_t length)
{
    const struct step_record *record = &plan->definition->records[plan->columns[column].record];
    size_t i = dl_find_field(record, name, length);
    return i != SIZE_MAX && record_series_is_single(plan, column, i) ? (uint32_t) i : STEP_NO_INDEX;
}

/* Takes the text up to the next +, and skips the +. */
static size_t record_series_take_name(const char **text, size_t *left, const char **name)
{
    const char *end = memchr(*text, '+', *left);
    size_t length = end != NULL ? (size_t) (end - *text) : *left;
    size_t passed = length + (end != NULL);
    *name = *text;
    *text += passed;
    *left -= passed;
    return length;
}

/* All names must be found, or the column goes without the strategy.  A name with a dot is the
 * column to measure from, which may be of another record; the others are fields of this record,
 * first the key and then the holder. */
void step_plan_resolve_linked(struct step_plan *plan, uint32_t index)
{
    struct step_plan_column *column = &plan->columns[index];
    const char *text = column->field_coding.linked;
    size_t left = column->field_coding.linked_length;
    struct step_links links = {STEP_NO_INDEX, STEP_NO_INDEX, STEP_NO_INDEX};
    bool good = text != NULL && !column->in_array &&
                step_field_column(plan, column->record, column->field) == index;
    while (good && left > 0) {
        const char *name;
        size_t length = record_series_take_name(&text, &left, &name);
        if (memchr(name, '.', length) != NULL) {
            links.newest = step_plan_column_of(plan, index, name, length);
            good = links.newest != STEP_NO_INDEX;
            continue;
        }
        uint32_t *field = links.key == STEP_NO_INDEX ? &links.key : &links.holder;
        *field = record_series_find_field(plan, index, name, length);
        good = *field != STEP_NO_INDEX;
    }
    if (!good || links.key == STEP_NO_INDEX)
        return;
    column->links = links;
    column->field_coding.column.is_linked = true;
    step_links_pack(plan, &links, column->field_coding.column.linked);
}

static enum step_status record_series_gather(const struct step_sequence *sequence, uint32_t column,
                                             uint32_t field, size_t count,
                                             enum step_linked_series which, struct step_linked *out)
{
    return field != STEP_NO_INDEX ? step_gather(sequence, column, field, count,
                                                &out->storage[which], &out->series[which])
                                  : STEP_STATUS_OK;
}

/* A series that `linked` does not have is a constant 0 (a step of 0 over one value), so the
 * transform has one loop for all combinations.  A series without values is damage: the transform
 * would read them. */
enum step_status step_linked_fill(const struct step_sequence *sequence, uint32_t column,
                                  const struct step_links *links, size_t count,
                                  struct step_linked *out)
{
    static const uint64_t nothing;
    for (size_t i = 0; i < STEP_LINKED_SERIES; i++)
        out->series[i] = (struct step_series){.values = &nothing};
    enum step_status status =
        record_series_gather(sequence, column, links->key, count, STEP_LINKED_KEY, out);
    if (status == STEP_STATUS_OK)
        status =
            record_series_gather(sequence, column, links->holder, count, STEP_LINKED_HOLDER, out);
    if (status == STEP_STATUS_OK && links->newest != STEP_NO_INDEX)
        status =
            step_follow_latest(sequence, column, links->newest, count,
                               &out->storage[STEP_LINKED_NEWEST], &out->series[STEP_LINKED_NEWEST]);
    for (size_t i = 0; i < STEP_LINKED_SERIES && status == STEP_STATUS_OK; i++)
        if (out->series[i].values == NULL)
            status = STEP_STATUS_CORRUPT;
    return status;
}

void step_linked_reset(struct step_linked *linked)
{
    for (size_t i = 0; i < STEP_LINKED_SERIES; i++)
        free(linked->storage[i]);
    *linked = (struct step_linked){0};
}
