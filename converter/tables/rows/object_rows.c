/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `objects`: allocations joined with frees.  A row is given when the object's death is
 * come to, or at the end.  Blocks of allocations are read before a block of frees that ends after
 * they begin; so what is kept is what lives, and what one block of frees covers.
 */
#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/tables/row_builder.h"
#include "converter/tables/rows/object_frees.h"
#include "converter/tables/rows/object_group.h"

/* Rows ahead that the table of what lives is told of. */
enum { EXPECTED_ROWS = 256 };
enum phase { READING_FREES, READING_REST, GIVING_LIVE };

struct object_rows {
    struct table_rows base;
    struct row_builder builder;
    const struct table_dictionary *dictionaries[OBJECTS_COLUMNS];
    struct object_births births;
    size_t birth_row; /* READING_REST: how far the batch at hand was given; */
    bool has_batch;   /* whether there is one */
    struct object_frees frees;
    struct birth_pages live;
    /* GIVING_LIVE */
    size_t live_slot;
    const struct birth_page *live_page; /* the one at hand, */
    uint32_t live_bits;                 /* and what was not given of it */
    /* the last free */
    uint64_t died_ticks;
    uint64_t died_ns;
    uint64_t collected_ticks; /* when a collection found it dead; */
    size_t died_collection;   /* collections before that */
    enum phase phase;
    bool wants_survived;
    struct object_group group;
    struct birth_page rest[OBJECT_GROUP_RUNS];
};

static struct object_rows *of(struct table_rows *rows)
{
    return (struct object_rows *) rows;
}

static size_t room_of(const struct object_rows *rows)
{
    return rows->builder.capacity - rows->builder.count;
}

/* ---- frees ---- */

static void set_death(struct object_rows *rows, uint64_t ticks, uint64_t collected_ticks)
{
    const struct tables *tables = rows->base.tables;
    if (ticks != rows->died_ticks)
        rows->died_ns = tables_time_ns(tables, ticks);
    if (rows->wants_survived && collected_ticks != rows->collected_ticks)
        rows->died_collection =
            tables_collections_before(tables, tables_time_ns(tables, collected_ticks));
    rows->died_ticks = ticks;
    rows->collected_ticks = collected_ticks;
}

/* How many of `count` frees from the one at hand on have its time, and were found with it. */
static unsigned deaths_at_once(const struct object_frees *frees, unsigned count)
{
    const struct collected_view *deaths = &frees->deaths;
    const struct step_column_view *times = &deaths->times;
    size_t row = frees->row;
    uint64_t ticks = times->values[row * times->step];
    unsigned length = 1;
    if (times->step == 0 && deaths->collected.count == 0)
        return count;
    uint64_t collected = collected_view_ticks(deaths, row);
    while (
        length < count && times->values[(row + length) * times->step] == ticks &&
        (deaths->collected.count == 0 || collected_view_ticks(deaths, row + length) == collected))
        length++;
    return length;
}

/* The next frees, `most` at the most, as runs of the group. */
static void take_frees(struct object_rows *rows, size_t most)
{
    struct object_frees *frees = &rows->frees;
    size_t step = frees->objects.step; /* 0: all are one */
    const uint64_t *objects = frees->objects.values + frees->row * step;
    size_t left = step != 0 ? frees->objects.count - frees->row : 1;
    uint32_t bits;
    if (left > EXPECTED_ROWS)
        birth_pages_expect(&rows->live, objects[EXPECTED_ROWS]);
    unsigned count = deaths_at_once(frees, birth_run(objects, left < most ? left : most));
    set_death(rows, frees->deaths.times.values[frees->row * frees->deaths.times.step],
              collected_view_ticks(&frees->deaths, frees->row));
    const struct birth_page *page = birth_pages_take(&rows->live, objects[0], count, &bits);
    struct object_death death = {rows->died_ns, rows->died_collection};
    if (page != NULL)
        object_group_add(&rows->group, page, bits, &death);
    frees->row += count;
}

/* Pages that were taken stay readable as long as nothing is born. */
static void put_dead(struct object_rows *rows)
{
    struct object_frees *frees = &rows->frees;
    struct object_group *group = &rows->group;
    size_t room = room_of(rows);
    while (frees->row < frees->objects.count && group->row_count < room &&
           object_group_has_room(group))
        take_frees(rows, room - group->row_count);
    object_group_put(group, rows->base.tables, &rows->builder, true);
}

static enum step_status read_frees(struct object_rows *rows, struct step_error *error)
{
    uint64_t ticks;
    if (rows->frees.row < rows->frees.objects.count) {
        put_dead(rows);
        return STEP_STATUS_OK;
    }
    if (!object_frees_next_time(&rows->frees, &ticks)) {
        rows->phase = READING_REST;
        return STEP_STATUS_OK;
    }
    enum step_status status = object_births_keep(&rows->births, ticks, &rows->live, error);
    return status == STEP_STATUS_OK ? object_frees_load(&rows->frees, error) : status;
}

/* ---- the end ---- */

/* What was born after the last block of frees lives. */
static enum step_status read_rest(struct object_rows *rows, struct step_error *error)
{
    struct object_births *births = &rows->births;
    if (!rows->has_batch || rows->birth_row == births->batch->row_count) {
        enum step_status status = object_births_next(births, error);
        rows->birth_row = 0;
        rows->has_batch = status == STEP_STATUS_OK;
        if (status == STEP_STATUS_END)
            rows->phase = GIVING_LIVE;
        return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
    }
    struct object_group *group = &rows->group;
    size_t room = room_of(rows);
    for (size_t i = 0; i < OBJECT_GROUP_RUNS && group->row_count < room &&
                       rows->birth_row < births->batch->row_count && object_group_has_room(group);
         i++) {
        rows->birth_row +=
            object_births_read(births, rows->birth_row, room - group->row_count, &rows->rest[i]);
        object_group_add(group, &rows->rest[i], rows->rest[i].living, NULL);
    }
    object_group_put(group, rows->base.tables, &rows->builder, false);
    return STEP_STATUS_OK;
}

/* The first `count` of the bits that are set. */
static uint32_t first_bits(uint32_t bits, size_t count)
{
    uint32_t left = bits;
    for (size_t i = 0; i < count && left != 0; i++)
        left &= left - 1;
    return bits & ~left;
}

static bool give_live(struct object_rows *rows)
{
    struct object_group *group = &rows->group;
    size_t room = room_of(rows);
    while (group->row_count < room && object_group_has_room(group)) {
        if (rows->live_bits == 0) {
            rows->live_page = birth_pages_next(&rows->live, &rows->live_slot);
            if (rows->live_page == NULL)
                break;
            rows->live_bits = rows->live_page->living;
        }
        uint32_t bits = room - group->row_count < BIRTH_PAGE_SIZE
                            ? first_bits(rows->live_bits, room - group->row_count)
                            : rows->live_bits;
        object_group_add(group, rows->live_page, bits, NULL);
        rows->live_bits &= ~bits;
    }
    bool has_rows = group->row_count > 0;
    object_group_put(group, rows->base.tables, &rows->builder, false);
    return has_rows;
}

static enum step_status step(struct table_rows *base, bool *has_more, struct step_error *error)
{
    struct object_rows *rows = of(base);
    if (rows->phase == READING_FREES)
        return read_frees(rows, error);
    if (rows->phase == READING_REST)
        return read_rest(rows, error);
    *has_more = give_live(rows);
    return STEP_STATUS_OK;
}

static enum step_status next(struct table_rows *base, size_t *count, struct step_error *error)
{
    struct object_rows *rows = of(base);
    enum step_status status =
        row_builder_fill(&rows->builder, step, base, rows->dictionaries, count, error);
    base->work.blocks_read =
        rows->frees.blocks_read + table_scan_work(rows->births.scan).blocks_read;
    return status;
}

static void lend(struct table_rows *base, size_t column, void *values)
{
    row_builder_lend(&of(base)->builder, column, values);
}

/* ---- from start to end ---- */

static void destroy(struct table_rows *base)
{
    struct object_rows *rows = of(base);
    object_births_close(&rows->births);
    object_frees_close(&rows->frees);
    row_builder_reset(&rows->builder);
    birth_pages_reset(&rows->live);
    table_rows_reset(base);
    free(rows);
}

static const struct table_rows_operations operations = {
    .next = next, .lend = lend, .destroy = destroy};

static enum step_status create_joined(struct tables *tables, const struct table_wish *wish,
                                      struct table_rows **out, struct step_error *error)
{
    struct object_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return no_memory(error);
    rows->died_ticks = rows->collected_ticks = UINT64_MAX;
    rows->died_ns = UINT64_MAX;
    rows->dictionaries[OBJECTS_CLASS] = &tables->class_names.dictionary;
    enum step_status status = table_rows_init(&rows->base, &operations, tables, wish, error);
    if (status == STEP_STATUS_OK)
        status = row_builder_init(&rows->builder, wish, error);
    rows->wants_survived = wish->needed[OBJECTS_SURVIVED] != 0;
    if (status == STEP_STATUS_OK)
        status = object_births_open(&rows->births, tables, wish, error);
    if (status == STEP_STATUS_OK)
        status =
            object_frees_open(&rows->frees, tables, &rows->births, rows->wants_survived, error);
    if (status == STEP_STATUS_OK)
        rows->base.work.blocks_passed =
            rows->frees.blocks_passed + table_scan_work(rows->births.scan).blocks_passed;
    *out = &rows->base;
    if (status != STEP_STATUS_OK) {
        destroy(&rows->base);
        *out = NULL;
    }
    return status;
}

enum step_status object_rows_create(struct tables *tables, const struct table_wish *wish,
                                    struct table_rows **out, struct step_error *error)
{
    for (size_t i = 0; i < OBJECTS_COLUMNS; i++)
        if (wish->needed[i] != 0 && object_column_is_joined(i))
            return create_joined(tables, wish, out, error);
    return record_rows_create(tables, wish, out, error);
}
