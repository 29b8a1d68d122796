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

enum { GROUP_ROWS = 256 };
enum phase { READING_FREES, READING_REST, GIVING_LIVE };

struct object_rows {
    struct table_rows base;
    struct row_builder builder;
    const struct table_dictionary *dictionaries[OBJECTS_COLUMNS];
    struct object_births births;
    size_t birth_row; /* READING_REST: how far the batch at hand was given; */
    bool has_batch;   /* whether there is one */
    struct object_frees frees;
    /* what lives */
    struct birth_pages live;
    size_t live_slot; /* GIVING_LIVE */
    unsigned live_bit;
    /* the last free */
    uint64_t died_ticks;
    uint64_t died_ns;
    uint64_t collected_ticks; /* when a collection found it dead; */
    size_t died_collection;   /* collections before that */
    /* collections before a birth: of all births between two times */
    uint64_t era_from_ns, era_to_ns;
    size_t era_collections;
    enum phase phase;
    bool wants_survived;
    /* rows that go together */
    uint64_t group_objects[GROUP_ROWS];
    const struct birth *group_births[GROUP_ROWS];
    uint64_t dead_ns[GROUP_ROWS];
    size_t dead_collections[GROUP_ROWS];
    struct birth rest[GROUP_ROWS];
};

static struct object_rows *of(struct table_rows *rows)
{
    return (struct object_rows *) rows;
}

/* ---- rows ---- */

/* Collections before a time, which is near to that asked for last. */
static size_t collections_before(struct object_rows *rows, uint64_t time_ns)
{
    const struct tables *tables = rows->base.tables;
    if (time_ns > rows->era_from_ns && time_ns <= rows->era_to_ns)
        return rows->era_collections;
    size_t count = tables_collections_before(tables, time_ns);
    rows->era_collections = count;
    rows->era_from_ns = count > 0 ? tables->collections[count - 1] : 0;
    rows->era_to_ns = count < tables->collection_count ? tables->collections[count] : UINT64_MAX;
    return count;
}

/* Rows are put column by column: these are the objects, `count` of them, that go behind the batch's
 * rows. */
struct births {
    const uint64_t *objects;
    const struct birth *const *births;
    size_t count;
};

/* Locals, as the compiler cannot know that values do not change what they are found by. */
#define PUT(column, kind, value)                                                                   \
    do {                                                                                           \
        kind *restrict values = builder->values[column];                                           \
        if (values == NULL)                                                                        \
            break;                                                                                 \
        values += builder->count;                                                                  \
        for (size_t i = 0; i < count; i++)                                                         \
            values[i] = (kind) (value);                                                            \
    } while (0)

/* The bits of `count` rows; those that are not 0 are valid. */
static void put_valid(struct row_builder *builder, size_t column, const uint32_t *ids, size_t count)
{
    uint8_t *restrict validity = builder->validity[column];
    size_t at = builder->count;
    for (size_t i = 0; validity != NULL && i < count; i++, at++)
        validity[at / 8] |= (uint8_t) ((ids[i] != 0) << at % 8);
}

static void put_ids(struct row_builder *builder, size_t column, const uint32_t *ids, size_t count)
{
    PUT(column, uint64_t, ids[i]);
    put_valid(builder, column, ids, count);
}

/* A class that is met again and again. */
static void put_classes(struct object_rows *rows, const uint32_t *class_ids, size_t count)
{
    struct tables *tables = rows->base.tables;
    uint32_t *codes = rows->builder.values[OBJECTS_CLASS];
    if (codes == NULL)
        return;
    codes += rows->builder.count;
    for (size_t i = 0; i < count; i++) {
        uint32_t id = class_ids[i];
        uint32_t code =
            id < tables->class_names.code_count ? tables->class_names.codes[id] : NO_NAME_CODE;
        codes[i] = code != NO_NAME_CODE && id != 0 ? code
                   : id != 0                       ? tables_class_code(tables, id)
                                                   : 0;
    }
    put_valid(&rows->builder, OBJECTS_CLASS, class_ids, count);
}

static void put_survived(struct object_rows *rows, const struct births *births, bool are_dead)
{
    uint64_t *values = rows->builder.values[OBJECTS_SURVIVED];
    size_t all = rows->base.tables->collection_count;
    if (values == NULL)
        return;
    values += rows->builder.count;
    for (size_t i = 0; i < births->count; i++) {
        size_t seen = are_dead ? rows->dead_collections[i] : all;
        size_t before = collections_before(rows, births->births[i]->born_ns);
        values[i] = seen > before ? seen - before : 0;
    }
}

/* What is dead, or lives. */
static void put_deaths(struct object_rows *rows, size_t count, bool are_dead)
{
    struct row_builder *builder = &rows->builder;
    static const uint32_t dead[GROUP_ROWS] = {[0 ... GROUP_ROWS - 1] = 1};
    if (are_dead) {
        PUT(OBJECTS_DIED, uint64_t, rows->dead_ns[i]);
        put_valid(builder, OBJECTS_DIED, dead, count);
    } else {
        PUT(OBJECTS_DIED, uint64_t, 0);
    }
    PUT(OBJECTS_ALIVE, uint8_t, !are_dead);
}

static void put_rows(struct object_rows *rows, const struct births *births, bool are_dead)
{
    struct row_builder *builder = &rows->builder;
    const struct birth *const *all = births->births;
    size_t count = births->count;
    uint32_t class_ids[GROUP_ROWS], sites[GROUP_ROWS];
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        class_ids[i] = all[i]->class_id;
        sites[i] = all[i]->site;
    }
    PUT(OBJECTS_OBJECT, uint64_t, births->objects[i]);
    put_classes(rows, class_ids, count);
    PUT(OBJECTS_CLASS_ID, uint64_t, class_ids[i]);
    PUT(OBJECTS_THREAD, uint64_t, all[i]->thread);
    put_ids(builder, OBJECTS_SITE, sites, count);
    PUT(OBJECTS_SIZE, uint64_t, all[i]->size);
    PUT(OBJECTS_BORN, uint64_t, all[i]->born_ns);
    put_deaths(rows, count, are_dead);
    PUT(OBJECTS_EXISTING, uint8_t, all[i]->is_existing);
    put_survived(rows, births, are_dead);
    builder->count += count;
}

/* How many rows go together. */
static size_t group_of(const struct object_rows *rows)
{
    size_t room = rows->builder.capacity - rows->builder.count;
    return room < GROUP_ROWS ? room : (size_t) GROUP_ROWS;
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

/* Births that were taken stay readable as long as nothing is born. */
static void put_dead(struct object_rows *rows)
{
    struct object_frees *frees = &rows->frees;
    size_t room = group_of(rows);
    size_t count = 0;
    for (; frees->row < frees->objects.count && count < room; frees->row++) {
        uint64_t number = frees->objects.values[frees->row * frees->objects.step];
        const struct birth *birth = birth_pages_take(&rows->live, number);
        if (birth == NULL)
            continue;
        __builtin_prefetch(birth);
        set_death(rows, frees->deaths.times.values[frees->row * frees->deaths.times.step],
                  collected_view_ticks(&frees->deaths, frees->row));
        rows->group_objects[count] = number;
        rows->group_births[count] = birth;
        rows->dead_ns[count] = rows->died_ns;
        rows->dead_collections[count++] = rows->died_collection;
    }
    put_rows(rows, &(struct births){rows->group_objects, rows->group_births, count}, true);
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
    size_t left = births->batch->row_count - rows->birth_row;
    size_t room = group_of(rows);
    size_t count = left < room ? left : room;
    const uint64_t *objects =
        object_births_read(births, rows->birth_row, (unsigned) count, rows->rest);
    for (size_t i = 0; i < count; i++)
        rows->group_births[i] = &rows->rest[i];
    put_rows(rows, &(struct births){objects, rows->group_births, count}, false);
    rows->birth_row += count;
    return STEP_STATUS_OK;
}

static bool give_live(struct object_rows *rows)
{
    size_t room = group_of(rows);
    size_t count = 0;
    while (count < room &&
           birth_pages_next(&rows->live, &rows->live_slot, &rows->live_bit,
                            &rows->group_objects[count], &rows->group_births[count]))
        count++;
    put_rows(rows, &(struct births){rows->group_objects, rows->group_births, count}, false);
    return count > 0;
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

static const struct table_rows_operations operations = {.next = next, .destroy = destroy};

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
