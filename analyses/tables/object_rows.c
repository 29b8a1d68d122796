/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `objects`: joins allocations with frees.  An object becomes a row at its death, or at
 * the end.  Before each block of frees, reads the blocks of allocations that begin before it ends.
 * Memory is thus that of the live objects and of the objects born during one block of frees, of
 * each the columns that are needed.
 */
#include <stdlib.h>

#include "analyses/tables/block_choice.h"
#include "analyses/tables/object_births.h"
#include "analyses/tables/object_group.h"
#include "converter/containers/no_memory.h"

/* ---- blocks of frees in order of time, except those without an object of interest ---- */

struct object_frees {
    struct tables *tables; /* borrowed */
    struct table_field time, object;
    size_t *blocks;
    size_t block_count, block_at;
    uint64_t blocks_read, blocks_passed;
    uint8_t **fields;
    struct step_block *block;
    struct table_field collected;
    bool has_collected; /* and the column is needed */
    /* The current block. */
    struct collected_view deaths;
    struct step_column_view objects;
    size_t row; /* the next row */
};

/* Selects the blocks of frees that may contain wanted objects. */
static void choose_blocks(struct object_frees *frees, const struct object_births *births)
{
    const struct tables *tables = frees->tables;
    const struct block_choice *choice = object_births_choice(births);
    uint64_t least, most, from, to;
    bool has_range = object_births_range(births, &least, &most);
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < choice->count; i++) {
        uint64_t time = step_reader_block_info(tables->reader, choice->blocks[i])->time_min;
        first = time < first ? time : first;
    }
    for (size_t i = 0; i < step_reader_block_count(tables->reader); i++) {
        if (block_rows(tables, i, frees->time.record) == 0)
            continue;
        bool is_late = step_reader_block_info(tables->reader, i)->time_max >= first;
        if (has_range &&
            block_field_range(tables, i, frees->object.record, frees->object.field, &from, &to))
            is_late = is_late && to >= least && from <= most;
        if (is_late)
            frees->blocks[frees->block_count++] = i;
        else
            frees->blocks_passed++;
    }
    blocks_sort_by_time(tables, frees->blocks, frees->block_count);
}

/* Opens the frees that may match the births.  `wants_collections`: also read which collections
 * found them. */
static enum step_status object_frees_open(struct object_frees *frees, struct tables *tables,
                                          const struct object_births *births,
                                          bool wants_collections, struct step_error *error)
{
    const struct step_definition *definition = tables->definition;
    size_t blocks = step_reader_block_count(tables->reader);
    frees->tables = tables;
    frees->blocks = calloc(blocks + 1, sizeof *frees->blocks);
    if (frees->blocks == NULL)
        return no_memory(error);
    if (!tables_field(tables, STEP_JAVA_OBJECT_FREE, STEP_JAVA_OBJECT_FREE, "time", &frees->time) ||
        !tables_field(tables, STEP_JAVA_OBJECT_FREE, STEP_JAVA_OBJECT_FREE, "object",
                      &frees->object))
        return STEP_STATUS_OK;
    frees->fields = wanted_fields_create(definition, frees->time.record);
    if (frees->fields == NULL)
        return no_memory(error);
    wanted_fields_add(frees->fields, definition, &frees->time);
    wanted_fields_add(frees->fields, definition, &frees->object);
    frees->has_collected =
        wants_collections && tables_field(tables, COLLECTED_FIELD, &frees->collected);
    if (frees->has_collected)
        wanted_fields_add(frees->fields, definition, &frees->collected);
    choose_blocks(frees, births);
    return wants_collections ? tables_find_collections(tables, error) : STEP_STATUS_OK;
}

static void object_frees_close(struct object_frees *frees)
{
    if (frees->tables != NULL)
        wanted_fields_destroy(frees->fields, frees->tables->definition);
    step_block_destroy(frees->block);
    free(frees->blocks);
}

/* Gets the time of the next block's last record.  Returns false if there is no next block. */
static bool object_frees_next_time(const struct object_frees *frees, uint64_t *ticks)
{
    if (frees->block_at == frees->block_count)
        return false;
    size_t block = frees->blocks[frees->block_at];
    *ticks = step_reader_block_info(frees->tables->reader, block)->time_max;
    return true;
}

/* Loads the next block.  An unreadable block has no rows. */
static enum step_status object_frees_load(struct object_frees *frees, struct step_error *error)
{
    struct step_reader *reader = frees->tables->reader;
    size_t block = frees->blocks[frees->block_at++];
    frees->row = 0;
    frees->objects.count = 0;
    enum step_status status = step_reader_load_fields(
        reader, block, (const uint8_t *const *) frees->fields, &frees->block, error);
    frees->blocks_read++;
    if (status == STEP_STATUS_OK)
        status =
            collected_view_set(&frees->deaths, frees->block, frees->time.record, frees->time.slot,
                               frees->has_collected ? &frees->collected : NULL, error);
    if (status == STEP_STATUS_OK)
        status = step_block_column(frees->block, frees->time.record, frees->time.record,
                                   frees->object.slot, &frees->objects, error);
    if (tables_is_damage(status))
        frees->objects.count = 0;
    return tables_is_damage(status) ? STEP_STATUS_OK : status;
}

/* Prefetch distance in rows. */
enum { EXPECTED_ROWS = 256 };
enum phase { READING_FREES, READING_REST, GIVING_LIVE };

struct object_rows {
    struct table_rows base;
    struct object_births births;
    size_t birth_row; /* READING_REST: next row of the current batch */
    bool has_batch;   /* READING_REST: there is a batch */
    struct object_frees frees;
    struct birth_pages live;
    /* GIVING_LIVE: */
    size_t live_slot;
    const struct birth_page *live_page; /* the current page */
    uint32_t live_bits;                 /* its objects not yet returned */
    /* The last free. */
    uint64_t died_ticks;
    uint64_t died_ns;
    uint64_t collected_ticks; /* time of the collection that found it dead */
    size_t died_collection;   /* number of collections before that time */
    enum phase phase;
    bool wants_survived;
    struct object_group group;
    struct life_weights lives;
    struct birth_page *rest[OBJECT_GROUP_RUNS]; /* pages that `live` lends */
};

static size_t room_of(const struct object_rows *rows)
{
    return rows->base.builder.capacity - rows->base.builder.count;
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

/* Returns how many of `count` frees, starting with the current one, have the same time and
 * collection. */
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

/* Adds the next frees, at most `most`, as runs to the group. */
static void take_frees(struct object_rows *rows, size_t most)
{
    struct object_frees *frees = &rows->frees;
    size_t step = frees->objects.step; /* 0: the same object in all rows */
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

/* Taken pages stay readable until the next birth. */
static void put_dead(struct object_rows *rows)
{
    struct object_frees *frees = &rows->frees;
    struct object_group *group = &rows->group;
    size_t room = room_of(rows);
    while (frees->row < frees->objects.count && group->row_count < room &&
           object_group_has_room(group))
        take_frees(rows, room - group->row_count);
    object_group_put(group, rows->base.tables, &rows->base.builder, true);
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

/* ---- objects without death ---- */

/* Objects born after the last block of frees are alive. */
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
            object_births_read(births, rows->birth_row, room - group->row_count, rows->rest[i]);
        object_group_add(group, rows->rest[i], rows->rest[i]->living, NULL);
    }
    object_group_put(group, rows->base.tables, &rows->base.builder, false);
    return STEP_STATUS_OK;
}

/* Returns the lowest `count` bits that are set. */
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
    object_group_put(group, rows->base.tables, &rows->base.builder, false);
    return has_rows;
}

static enum step_status object_rows_step(struct table_rows *base, bool *has_more,
                                         struct step_error *error)
{
    struct object_rows *rows = (struct object_rows *) base;
    base->work.blocks_read =
        rows->frees.blocks_read + table_scan_work(rows->births.scan).blocks_read;
    if (rows->phase == READING_FREES)
        return read_frees(rows, error);
    if (rows->phase == READING_REST)
        return read_rest(rows, error);
    *has_more = give_live(rows);
    return STEP_STATUS_OK;
}

/* ---- life cycle ---- */

static void object_rows_reset(struct table_rows *base)
{
    struct object_rows *rows = (struct object_rows *) base;
    object_births_close(&rows->births);
    object_frees_close(&rows->frees);
    life_weights_reset(&rows->lives);
    birth_pages_reset(&rows->live);
}

static enum step_status object_rows_open(struct table_rows *base, struct step_error *error)
{
    struct object_rows *rows = (struct object_rows *) base;
    struct tables *tables = base->tables;
    const struct table_request *request = base->request;
    rows->died_ticks = rows->collected_ticks = UINT64_MAX;
    rows->died_ns = UINT64_MAX;
    rows->wants_survived = request->needed[OBJECTS_SURVIVED] != 0;
    enum step_status status = object_births_open(&rows->births, tables, request, error);
    rows->live.columns = object_births_columns(&rows->births);
    for (size_t i = 0; i < OBJECT_GROUP_RUNS && status == STEP_STATUS_OK; i++)
        if ((rows->rest[i] = birth_pages_lend(&rows->live)) == NULL)
            status = no_memory(error);
    if (status == STEP_STATUS_OK && OBJECTS_LIFE_WEIGHT < request->table->base.column_count &&
        request->needed[OBJECTS_LIFE_WEIGHT] != 0)
        status = life_weights_read(&rows->lives, tables, error);
    rows->group.weights = &rows->births.weights;
    rows->group.lives = &rows->lives;
    if (status == STEP_STATUS_OK)
        status =
            object_frees_open(&rows->frees, tables, &rows->births, rows->wants_survived, error);
    if (status == STEP_STATUS_OK)
        base->work.blocks_passed =
            rows->frees.blocks_passed + table_scan_work(rows->births.scan).blocks_passed;
    return status;
}

static const struct table_rows_operations joined_rows = {.size_bytes = sizeof(struct object_rows),
                                                         .open = object_rows_open,
                                                         .step = object_rows_step,
                                                         .reset = object_rows_reset};

/* In the order of the enumeration. */
static const struct java_column columns[OBJECTS_COLUMNS] = {
    {{"object", "", "number, rising in the order of allocations", TABLE_UINT, false},
     OF_ALLOC("object")},
    {{"class", "", "its class", TABLE_NAME, true}, CELL_CLASS, ALLOC, "class"},
    {{"class_id", "", "number in classes", TABLE_UINT, false}, OF_ALLOC("class")},
    {{"thread", "", "that allocated it; 0: the VM", TABLE_UINT, false}, OF_ALLOC("thread")},
    {{"site", "", "number in sites", TABLE_UINT, true}, CELL_ID, ALLOC_AT, "stack"},
    {{"size", "bytes", "", TABLE_UINT, false}, OF_ALLOC("size")},
    {{"born", "ns", "when it was allocated", TABLE_TIME, false}, CELL_TICKS, ALLOC, "time"},
    {{"died", "ns", "when, or when a collection found it; null: it lived at the end", TABLE_TIME,
      true},
     MADE},
    {{"alive", "", "at the end", TABLE_BOOL, false}, MADE},
    {{"survived", "", "collections that it survived", TABLE_UINT, false}, MADE},
    EXISTING_COLUMN,
    WEIGHT_COLUMN,
    {{"life_weight", "", "the same for `died`, `alive`, `survived`; 0: its death was not awaited",
      TABLE_REAL, false},
     CELL_LIFE_WEIGHT,
     -1,
     NULL}};

const struct java_table objects_table =
    RECORD_TABLE("objects", "one row per object", columns, &joined_rows, ALLOC, BY_ALLOC);
