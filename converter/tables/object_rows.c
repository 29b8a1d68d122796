/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `objects`: allocations joined with frees.  A row is given when the object's death is
 * come to, or at the end.  Blocks of allocations are read before a block of frees that ends after
 * they begin; so what is kept is what lives, and what one block of frees covers.
 */
#include <stdlib.h>

#include "converter/base/birth_pages.h"
#include "converter/base/no_memory.h"
#include "converter/tables/block_choice.h"
#include "converter/tables/record_rows.h"
#include "converter/tables/row_builder.h"
#include "converter/tables/table_scan.h"
#include "converter/tables/tables_trace.h"

enum { GROUP_ROWS = 256 };
enum phase { READING_FREES, READING_REST, GIVING_LIVE };

struct object_rows {
    struct table_rows base;
    struct row_builder builder;
    const struct table_dictionary *dictionaries[OBJECTS_COLUMNS];
    /* births */
    struct table_definition births; /* the table without what the join makes */
    struct table_scan *scan;
    size_t columns[OBJECTS_COLUMNS]; /* of the scan, */
    size_t column_count;
    size_t places[OBJECTS_COLUMNS];  /* and where each of ours is there; SIZE_MAX: nowhere */
    const struct table_batch *batch; /* READING_REST: the batch at hand, */
    size_t batch_row;                /* and how far it was given */
    /* what lives */
    struct birth_pages live;
    size_t live_slot; /* GIVING_LIVE */
    unsigned live_bit;
    /* frees */
    uint32_t free_record;
    size_t time_slot, object_slot;
    size_t *free_blocks;
    size_t free_block_count, free_block_at;
    uint64_t free_blocks_read;
    uint8_t **free_fields;
    struct step_block *block;
    struct collected_view deaths;
    struct collected_field collected;
    bool has_collected; /* and it is asked for */
    struct step_column_view objects;
    size_t free_row;
    uint64_t died_ticks; /* of the last free; */
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

static uint32_t narrow(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t) value : UINT32_MAX;
}

/* ---- what lives ---- */

static const uint64_t *numbers_of(const struct object_rows *rows, size_t column)
{
    size_t place = rows->places[column];
    return place != SIZE_MAX ? rows->batch->vectors[place].numbers : NULL;
}

/* The batch's columns, or NULL where a column is not needed. */
struct birth_columns {
    const uint64_t *object, *born, *size, *thread, *site, *class_id;
    const uint8_t *existing;
};

static struct birth_columns columns_of(const struct object_rows *rows)
{
    size_t existing = rows->places[OBJECTS_EXISTING];
    return (struct birth_columns){
        .object = numbers_of(rows, OBJECTS_OBJECT),
        .born = numbers_of(rows, OBJECTS_BORN),
        .size = numbers_of(rows, OBJECTS_SIZE),
        .thread = numbers_of(rows, OBJECTS_THREAD),
        .site = numbers_of(rows, OBJECTS_SITE),
        .class_id = numbers_of(rows, OBJECTS_CLASS_ID),
        .existing = existing != SIZE_MAX ? rows->batch->vectors[existing].flags : NULL};
}

/* How many objects from row `row` on, of `count` rows, have numbers that follow each other on one
 * page. */
static unsigned run_at(const uint64_t *objects, size_t row, size_t count)
{
    uint64_t first = objects[row];
    size_t room = BIRTH_PAGE_SIZE - (size_t) (first & (BIRTH_PAGE_SIZE - 1));
    size_t most = count - row < room ? count - row : room;
    unsigned length = 1;
    while (length < most && objects[row + length] == first + length)
        length++;
    return length;
}

#define READ(member, column, value)                                                                \
    for (unsigned i = 0; i < count; i++)                                                           \
    out[i].member = columns->column != NULL ? (value) : 0

/* The births of `count` rows. */
static void read_births(const struct birth_columns *columns, size_t row, unsigned count,
                        struct birth *restrict out)
{
    READ(born_ns, born, columns->born[row + i]);
    READ(size, size, columns->size[row + i]);
    READ(thread, thread, narrow(columns->thread[row + i]));
    READ(site, site, narrow(columns->site[row + i]));
    READ(class_id, class_id, narrow(columns->class_id[row + i]));
    READ(is_existing, existing, columns->existing[row + i] != 0);
}

static bool keep_batch(struct object_rows *rows)
{
    const struct birth_columns columns = columns_of(rows);
    size_t count = rows->batch->row_count;
    unsigned length;
    for (size_t i = 0; i < count; i += length) {
        length = run_at(columns.object, i, count);
        struct birth *births = birth_pages_put_run(&rows->live, columns.object[i], length);
        if (births == NULL)
            return false;
        read_births(&columns, i, length, births);
    }
    return true;
}

/* Keeps all that was born before a time is over. */
static enum step_status keep_births(struct object_rows *rows, uint64_t ticks,
                                    struct step_error *error)
{
    uint64_t next;
    while (record_rows_next_time(rows->scan->rows, &next) && next <= ticks) {
        enum step_status status = table_scan_next(rows->scan, &rows->batch, error);
        if (status == STEP_STATUS_END)
            return STEP_STATUS_OK;
        if (status != STEP_STATUS_OK)
            return status;
        if (!keep_batch(rows))
            return no_memory(error);
    }
    return STEP_STATUS_OK;
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

static enum step_status load_frees(struct object_rows *rows, struct step_error *error)
{
    struct step_reader *reader = rows->base.tables->reader;
    size_t block = rows->free_blocks[rows->free_block_at++];
    rows->free_row = 0;
    rows->objects.count = 0;
    enum step_status status =
        keep_births(rows, step_reader_block_info(reader, block)->time_max, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = step_reader_load_fields(reader, block, (const uint8_t *const *) rows->free_fields,
                                     &rows->block, error);
    rows->free_blocks_read++;
    if (status == STEP_STATUS_OK)
        status = collected_view_set(&rows->deaths, rows->block, rows->free_record, rows->time_slot,
                                    rows->has_collected ? &rows->collected : NULL, error);
    if (status == STEP_STATUS_OK)
        status = step_block_column(rows->block, rows->free_record, rows->free_record,
                                   rows->object_slot, &rows->objects, error);
    if (tables_is_damage(status))
        rows->objects.count = 0;
    return tables_is_damage(status) ? STEP_STATUS_OK : status;
}

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
    size_t room = group_of(rows);
    size_t count = 0;
    for (; rows->free_row < rows->objects.count && count < room; rows->free_row++) {
        uint64_t number = rows->objects.values[rows->free_row * rows->objects.step];
        const struct birth *birth = birth_pages_take(&rows->live, number);
        if (birth == NULL)
            continue;
        __builtin_prefetch(birth);
        set_death(rows, rows->deaths.times.values[rows->free_row * rows->deaths.times.step],
                  collected_view_ticks(&rows->deaths, rows->free_row));
        rows->group_objects[count] = number;
        rows->group_births[count] = birth;
        rows->dead_ns[count] = rows->died_ns;
        rows->dead_collections[count++] = rows->died_collection;
    }
    put_rows(rows, &(struct births){rows->group_objects, rows->group_births, count}, true);
}

static enum step_status read_frees(struct object_rows *rows, struct step_error *error)
{
    if (rows->free_row < rows->objects.count) {
        put_dead(rows);
        return STEP_STATUS_OK;
    }
    if (rows->free_block_at < rows->free_block_count)
        return load_frees(rows, error);
    rows->batch = NULL;
    rows->phase = READING_REST;
    return STEP_STATUS_OK;
}

/* ---- the end ---- */

/* What was born after the last block of frees lives. */
static enum step_status read_rest(struct object_rows *rows, struct step_error *error)
{
    if (rows->batch == NULL || rows->batch_row == rows->batch->row_count) {
        enum step_status status = table_scan_next(rows->scan, &rows->batch, error);
        rows->batch_row = 0;
        if (status == STEP_STATUS_END)
            rows->phase = GIVING_LIVE;
        return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
    }
    const struct birth_columns columns = columns_of(rows);
    size_t left = rows->batch->row_count - rows->batch_row;
    size_t room = group_of(rows);
    size_t count = left < room ? left : room;
    read_births(&columns, rows->batch_row, (unsigned) count, rows->rest);
    for (size_t i = 0; i < count; i++)
        rows->group_births[i] = &rows->rest[i];
    put_rows(rows, &(struct births){columns.object + rows->batch_row, rows->group_births, count},
             false);
    rows->batch_row += count;
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

static enum step_status next(struct table_rows *base, size_t *count, struct step_error *error)
{
    struct object_rows *rows = of(base);
    enum step_status status = STEP_STATUS_OK;
    bool has_more = true;
    row_builder_begin(&rows->builder);
    while (has_more && status == STEP_STATUS_OK && !row_builder_is_full(&rows->builder)) {
        if (rows->phase == READING_FREES)
            status = read_frees(rows, error);
        else if (rows->phase == READING_REST)
            status = read_rest(rows, error);
        else
            has_more = give_live(rows);
    }
    if (status != STEP_STATUS_OK)
        return status;
    base->work.blocks_read = rows->free_blocks_read + table_scan_work(rows->scan).blocks_read;
    row_builder_take(&rows->builder, base->vectors, rows->dictionaries, count);
    return *count > 0 ? STEP_STATUS_OK : STEP_STATUS_END;
}

/* ---- from start to end ---- */

static void destroy(struct table_rows *base)
{
    struct object_rows *rows = of(base);
    table_scan_destroy(rows->scan);
    row_builder_reset(&rows->builder);
    birth_pages_reset(&rows->live);
    wanted_fields_destroy(rows->free_fields, base->tables->definition);
    step_block_destroy(rows->block);
    free(rows->free_blocks);
    table_rows_reset(base);
    free(rows);
}

static const struct table_rows_operations operations = {.next = next, .destroy = destroy};

static bool is_joined(size_t column)
{
    return column == OBJECTS_DIED || column == OBJECTS_ALIVE || column == OBJECTS_SURVIVED;
}

/* The columns that births must give: those that rows need, and what the join goes by. */
static void choose_columns(struct object_rows *rows)
{
    const uint8_t *needed = rows->base.wish->needed;
    rows->wants_survived = needed[OBJECTS_SURVIVED] != 0;
    for (size_t i = 0; i < OBJECTS_COLUMNS; i++) {
        bool wanted = needed[i] != 0 && !is_joined(i) && i != OBJECTS_CLASS;
        if (i == OBJECTS_OBJECT || (i == OBJECTS_BORN && rows->wants_survived) ||
            (i == OBJECTS_CLASS_ID && needed[OBJECTS_CLASS] != 0))
            wanted = true;
        rows->places[i] = wanted ? rows->column_count : SIZE_MAX;
        if (wanted)
            rows->columns[rows->column_count++] = i;
    }
}

static enum step_status open_births(struct object_rows *rows, struct step_error *error)
{
    const struct table_wish *wish = rows->base.wish;
    const struct row_filter *filter = &wish->filter;
    struct table_range *ranges = calloc(filter->range_count + 1, sizeof *ranges);
    struct table_query query = {.columns = rows->columns,
                                .column_count = rows->column_count,
                                .ranges = ranges,
                                .threads = filter->threads,
                                .thread_count = filter->thread_count,
                                .class_glob = filter->class_glob,
                                .part = &wish->part,
                                .batch_rows = wish->batch_rows};
    if (ranges == NULL)
        return no_memory(error);
    for (size_t i = 0; i < filter->range_count; i++)
        if (!is_joined(filter->ranges[i].column))
            ranges[query.range_count++] = filter->ranges[i];
    rows->births = *wish->table;
    rows->births.create = record_rows_create;
    enum step_status status = table_scan_create_by_time(rows->base.tables, &rows->births.base,
                                                        &query, true, &rows->scan, error);
    free(ranges);
    return status;
}

/* What the index knows of the numbers of all objects that may be wanted. */
static bool range_of_births(const struct object_rows *rows, uint64_t *least, uint64_t *most)
{
    const struct block_choice *choice = record_rows_choice(rows->scan->rows);
    const struct table_cell *cell = &rows->births.cells[OBJECTS_OBJECT];
    *least = UINT64_MAX;
    *most = 0;
    for (size_t i = 0; i < choice->count; i++) {
        uint64_t from, to;
        if (!block_field_range(rows->base.tables, choice->blocks[i], cell->owner, cell->field,
                               &from, &to))
            return false;
        *least = from < *least ? from : *least;
        *most = to > *most ? to : *most;
    }
    return true;
}

/* Blocks of frees that may have objects that are wanted. */
static void choose_free_blocks(struct object_rows *rows, uint32_t object_field)
{
    const struct tables *tables = rows->base.tables;
    const struct block_choice *choice = record_rows_choice(rows->scan->rows);
    uint64_t least, most, from, to;
    bool has_range = range_of_births(rows, &least, &most);
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < choice->count; i++) {
        uint64_t time = step_reader_block_info(tables->reader, choice->blocks[i])->time_min;
        first = time < first ? time : first;
    }
    for (size_t i = 0; i < step_reader_block_count(tables->reader); i++) {
        if (block_rows(tables, i, rows->free_record) == 0)
            continue;
        bool is_late = step_reader_block_info(tables->reader, i)->time_max >= first;
        if (has_range && block_field_range(tables, i, rows->free_record, object_field, &from, &to))
            is_late = is_late && to >= least && from <= most;
        if (is_late)
            rows->free_blocks[rows->free_block_count++] = i;
        else
            rows->base.work.blocks_passed++;
    }
    blocks_sort_by_time(tables, rows->free_blocks, rows->free_block_count);
}

static enum step_status open_frees(struct object_rows *rows, struct step_error *error)
{
    struct tables *tables = rows->base.tables;
    const struct step_definition *definition = tables->definition;
    size_t blocks = step_reader_block_count(tables->reader);
    rows->free_blocks = calloc(blocks + 1, sizeof *rows->free_blocks);
    rows->free_record = tables_record(tables, "java.ObjectFree");
    if (rows->free_blocks == NULL)
        return no_memory(error);
    if (rows->free_record == STEP_NO_RECORD)
        return STEP_STATUS_OK;
    const struct step_record *record = &definition->records[rows->free_record];
    size_t time = step_record_find_field(record, "time");
    size_t object = step_record_find_field(record, "object");
    if (time == SIZE_MAX || object == SIZE_MAX || record->fields[time].kind != STEP_TYPE_INT ||
        record->fields[object].kind != STEP_TYPE_INT || record->fields[time].array_depth > 0 ||
        record->fields[object].array_depth > 0)
        return STEP_STATUS_OK;
    rows->free_fields = wanted_fields_create(definition, rows->free_record);
    if (rows->free_fields == NULL)
        return no_memory(error);
    wanted_fields_add(rows->free_fields, definition, rows->free_record, (uint32_t) time);
    wanted_fields_add(rows->free_fields, definition, rows->free_record, (uint32_t) object);
    rows->has_collected = rows->wants_survived && tables_collected_field(tables, &rows->collected);
    if (rows->has_collected)
        wanted_fields_add(rows->free_fields, definition, rows->collected.record,
                          rows->collected.field);
    rows->time_slot = tables_slot(definition, rows->free_record, (uint32_t) time);
    rows->object_slot = tables_slot(definition, rows->free_record, (uint32_t) object);
    choose_free_blocks(rows, (uint32_t) object);
    rows->base.work.blocks_passed += table_scan_work(rows->scan).blocks_passed;
    return rows->wants_survived ? tables_find_collections(tables, error) : STEP_STATUS_OK;
}

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
    choose_columns(rows);
    if (status == STEP_STATUS_OK)
        status = open_births(rows, error);
    if (status == STEP_STATUS_OK)
        status = open_frees(rows, error);
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
        if (wish->needed[i] != 0 && is_joined(i))
            return create_joined(tables, wish, out, error);
    return record_rows_create(tables, wish, out, error);
}
