/* SPDX-License-Identifier: Apache-2.0 */
/* Stores runs of consecutive numbers together. */
#include "analyses/tables/object_births.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/tables/makers.h"
#include "converter/containers/no_memory.h"

/* Prefetch distance in rows. */
enum { EXPECTED_ROWS = 256 };

/* Returns whether the column is computed from an object's death. */
static bool object_column_is_joined(size_t column)
{
    return column == OBJECTS_DIED || column == OBJECTS_ALIVE || column == OBJECTS_SURVIVED ||
           column == OBJECTS_LIFE_WEIGHT;
}

/* Selects the columns of the scan: those that rows need, and those needed for the join. */
static void object_births_choose_columns(struct object_births *births)
{
    const uint8_t *needed = births->request->needed;
    size_t count = births->request->table->base.column_count;
    bool is_weighed = OBJECTS_LIFE_WEIGHT < count && needed[OBJECTS_LIFE_WEIGHT] != 0;
    for (size_t i = 0; i < OBJECTS_COLUMNS; i++) {
        bool wanted =
            i < count && needed[i] != 0 && !object_column_is_joined(i) && i != OBJECTS_CLASS;
        if (i == OBJECTS_OBJECT || (i == OBJECTS_WEIGHT && is_weighed) ||
            (i == OBJECTS_BORN && (needed[OBJECTS_SURVIVED] != 0 || is_weighed)) ||
            (i == OBJECTS_CLASS_ID && needed[OBJECTS_CLASS] != 0))
            wanted = true;
        births->places[i] = wanted ? births->column_count : SIZE_MAX;
        if (wanted)
            births->columns[births->column_count++] = i;
    }
}

enum step_status object_births_open(struct object_births *births, struct tables *tables,
                                    const struct table_request *request, struct step_error *error)
{
    births->tables = tables;
    births->request = request;
    object_births_choose_columns(births);
    const struct row_filter *filter = &request->filter;
    struct table_range *ranges = calloc(filter->range_count + 1, sizeof *ranges);
    struct table_query query = {.columns = births->columns,
                                .column_count = births->column_count,
                                .ranges = ranges,
                                .threads = filter->threads,
                                .thread_count = filter->thread_count,
                                .class_glob = filter->class_glob,
                                .part = &request->part,
                                .batch_rows = request->batch_rows,
                                .by_time = true};
    if (ranges == NULL)
        return no_memory(error);
    for (size_t i = 0; i < filter->range_count; i++)
        if (!object_column_is_joined(filter->ranges[i].column))
            ranges[query.range_count++] = filter->ranges[i];
    enum step_status status =
        table_scan_create(tables, &request->table->base, &query, &births->scan, error);
    free(ranges);
    return status;
}

unsigned object_births_columns(const struct object_births *births)
{
    static const struct {
        size_t column;
        unsigned bit;
    } rows[] = {{OBJECTS_BORN, BIRTH_TIME},
                {OBJECTS_SIZE, BIRTH_SIZE},
                {OBJECTS_THREAD, BIRTH_THREAD},
                {OBJECTS_SITE, BIRTH_SITE},
                {OBJECTS_CLASS_ID, BIRTH_CLASS}};
    unsigned columns = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        columns |= births->places[rows[i].column] != SIZE_MAX ? rows[i].bit : 0;
    return columns;
}

void object_births_close(struct object_births *births)
{
    table_scan_destroy(births->scan);
    object_table_reset(&births->weights);
}

const struct block_choice *object_births_choice(const struct object_births *births)
{
    return record_rows_choice(births->scan->rows);
}

bool object_births_range(const struct object_births *births, uint64_t *least, uint64_t *most)
{
    const struct block_choice *choice = object_births_choice(births);
    const struct table_cell *cell = &births->request->table->cells[OBJECTS_OBJECT];
    *least = UINT64_MAX;
    *most = 0;
    for (size_t i = 0; i < choice->count; i++) {
        uint64_t from, to;
        if (!block_field_range(births->tables, choice->blocks[i], cell->owner, cell->field, &from,
                               &to))
            return false;
        *least = from < *least ? from : *least;
        *most = to > *most ? to : *most;
    }
    return true;
}

/* ---- batches ---- */

static uint32_t narrow(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t) value : UINT32_MAX;
}

static const uint64_t *numbers_of(const struct object_births *births, size_t column)
{
    size_t place = births->places[column];
    return place != SIZE_MAX ? births->batch->vectors[place].numbers : NULL;
}

/* The columns of the batch; NULL: not needed. */
struct birth_columns {
    const uint64_t *object, *born, *size, *thread, *site, *class_id;
    const uint8_t *existing;
};

static struct birth_columns columns_of(const struct object_births *births)
{
    size_t existing = births->places[OBJECTS_EXISTING];
    return (struct birth_columns){
        .object = numbers_of(births, OBJECTS_OBJECT),
        .born = numbers_of(births, OBJECTS_BORN),
        .size = numbers_of(births, OBJECTS_SIZE),
        .thread = numbers_of(births, OBJECTS_THREAD),
        .site = numbers_of(births, OBJECTS_SITE),
        .class_id = numbers_of(births, OBJECTS_CLASS_ID),
        .existing = existing != SIZE_MAX ? births->batch->vectors[existing].flags : NULL};
}

/* Vectorises well; values that do not fit are rare and handled afterwards. */
static void narrow_all(const uint64_t *values, unsigned count, uint32_t *restrict out)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; i++) {
        out[i] = (uint32_t) values[i];
        bits |= values[i];
    }
    for (unsigned i = 0; bits > UINT32_MAX && i < count; i++)
        out[i] = narrow(values[i]);
}

static void set_existing(const uint8_t *flags, unsigned place, unsigned count,
                         struct birth_page *page)
{
    page->existing &= ~birth_bits(place, count);
    for (unsigned i = 0; i < count; i++)
        page->existing |= (uint32_t) (flags[i] != 0) << (place + i);
}

/* Copies the births of `count` rows to consecutive places of a page. */
static void read_births(const struct birth_columns *columns, size_t row, unsigned count,
                        struct birth_page *page)
{
    unsigned place = birth_place(columns->object[row]);
    if (columns->born != NULL)
        memcpy(page->born_ns + place, columns->born + row, count * sizeof page->born_ns[0]);
    if (columns->size != NULL)
        memcpy(page->size + place, columns->size + row, count * sizeof page->size[0]);
    if (columns->thread != NULL)
        narrow_all(columns->thread + row, count, page->thread + place);
    if (columns->site != NULL)
        narrow_all(columns->site + row, count, page->site + place);
    if (columns->class_id != NULL)
        narrow_all(columns->class_id + row, count, page->class_id + place);
    if (columns->existing != NULL)
        set_existing(columns->existing + row, place, count, page);
}

/* Keeps the weights of the batch's samples. Returns false if out of memory. */
static bool keep_weights(struct object_births *births)
{
    const uint64_t *objects = numbers_of(births, OBJECTS_OBJECT);
    const uint64_t *weights = numbers_of(births, OBJECTS_WEIGHT);
    bool ok = true;
    for (size_t i = 0; weights != NULL && i < births->batch->row_count && ok; i++)
        ok = object_table_put(&births->weights,
                              &(struct live_object){.object = objects[i], .value = weights[i]});
    return ok;
}

static bool keep_batch(const struct object_births *births, struct birth_pages *live)
{
    const struct birth_columns columns = columns_of(births);
    size_t count = births->batch->row_count;
    unsigned length;
    for (size_t i = 0; i < count; i += length) {
        length = birth_run(columns.object + i, count - i);
        if (count - i > EXPECTED_ROWS)
            birth_pages_expect(live, columns.object[i + EXPECTED_ROWS]);
        struct birth_page *page = birth_pages_put(live, columns.object[i], length);
        if (page == NULL)
            return false;
        read_births(&columns, i, length, page);
    }
    return true;
}

enum step_status object_births_keep(struct object_births *births, uint64_t ticks,
                                    struct birth_pages *live, struct step_error *error)
{
    uint64_t next;
    while (record_rows_next_time(births->scan->rows, &next) && next <= ticks) {
        enum step_status status = table_scan_next(births->scan, &births->batch, error);
        if (status == STEP_STATUS_END)
            return STEP_STATUS_OK;
        if (status != STEP_STATUS_OK)
            return status;
        if (!keep_weights(births) || !keep_batch(births, live))
            return no_memory(error);
    }
    return STEP_STATUS_OK;
}

enum step_status object_births_next(struct object_births *births, struct step_error *error)
{
    enum step_status status = table_scan_next(births->scan, &births->batch, error);
    return status != STEP_STATUS_OK || keep_weights(births) ? status : no_memory(error);
}

unsigned object_births_read(const struct object_births *births, size_t row, size_t most,
                            struct birth_page *out)
{
    const struct birth_columns columns = columns_of(births);
    size_t left = births->batch->row_count - row;
    unsigned count = birth_run(columns.object + row, left < most ? left : most);
    unsigned place = birth_place(columns.object[row]);
    out->number = columns.object[row] >> BIRTH_PAGE_BITS;
    out->living = birth_bits(place, count);
    read_births(&columns, row, count, out);
    return count;
}
