/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a native program's trace.  Objects are numbered in the order of allocations; live
 * objects are found by address.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/event_rows.h"
#include "analyses/tables/makers.h"
#include "analyses/tables/tables_trace.h"
#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "converter/step/stepfile.h"
#include "converter/trace/alloc_source.h"
#include "converter/trace/event_selection.h"
#include "format/core/grow.h"

#define ALLOC_COLUMNS(X)                                                                           \
    X(HEAP_ALLOC_TIME, "time", "ns", "", TABLE_TIME, false)                                        \
    X(HEAP_ALLOC_THREAD, "thread", "", "", TABLE_UINT, false)                                      \
    X(HEAP_ALLOC_OBJECT, "object", "", "number, rising in the order of allocations", TABLE_UINT,   \
      false)                                                                                       \
    X(HEAP_ALLOC_ADDRESS, "address", "", "", TABLE_UINT, false)                                    \
    X(HEAP_ALLOC_SIZE, "size", "bytes", "", TABLE_UINT, false)                                     \
    X(HEAP_ALLOC_HEAP, "heap", "", "0: the program's own", TABLE_UINT, false)
enum { ALLOC_COLUMNS(COLUMN_NUMBER) };
static const struct table_column alloc_columns[] = {ALLOC_COLUMNS(PLAIN_COLUMN)};

#define FREE_COLUMNS(X)                                                                            \
    X(HEAP_FREE_TIME, "time", "ns", "", TABLE_TIME, false)                                         \
    X(HEAP_FREE_THREAD, "thread", "", "", TABLE_UINT, false)                                       \
    X(HEAP_FREE_OBJECT, "object", "", "null: nothing known lives there", TABLE_UINT, true)         \
    X(HEAP_FREE_ADDRESS, "address", "", "", TABLE_UINT, false)                                     \
    X(HEAP_FREE_HEAP, "heap", "", "0: the program's own", TABLE_UINT, false)
enum { FREE_COLUMNS(COLUMN_NUMBER) };
static const struct table_column free_columns[] = {FREE_COLUMNS(PLAIN_COLUMN)};

#define REALLOC_COLUMNS(X)                                                                         \
    X(HEAP_REALLOC_TIME, "time", "ns", "", TABLE_TIME, false)                                      \
    X(HEAP_REALLOC_THREAD, "thread", "", "", TABLE_UINT, false)                                    \
    X(HEAP_REALLOC_OBJECT, "object", "", "that it was; null: none", TABLE_UINT, true)              \
    X(HEAP_REALLOC_ADDRESS, "address", "", "the old one; 0: none", TABLE_UINT, false)              \
    X(HEAP_REALLOC_NEW_ADDRESS, "new_address", "", "", TABLE_UINT, false)                          \
    X(HEAP_REALLOC_SIZE, "size", "bytes", "the new one", TABLE_UINT, false)                        \
    X(HEAP_REALLOC_OLD_SIZE, "old_size", "bytes", "", TABLE_UINT, true)                            \
    X(HEAP_REALLOC_HEAP, "heap", "", "0: the program's own", TABLE_UINT, false)                    \
    X(HEAP_REALLOC_KIND, "kind", "", "in place, move, alloc, free", TABLE_NAME, false)
enum { REALLOC_COLUMNS(COLUMN_NUMBER) };
static const struct table_column realloc_columns[] = {REALLOC_COLUMNS(PLAIN_COLUMN)};

#define OBJECT_COLUMNS(X)                                                                          \
    X(HEAP_OBJECT_OBJECT, "object", "", "number, rising in the order of allocations", TABLE_UINT,  \
      false)                                                                                       \
    X(HEAP_OBJECT_THREAD, "thread", "", "that allocated it", TABLE_UINT, false)                    \
    X(HEAP_OBJECT_HEAP, "heap", "", "0: the program's own", TABLE_UINT, false)                     \
    X(HEAP_OBJECT_ADDRESS, "address", "", "", TABLE_UINT, false)                                   \
    X(HEAP_OBJECT_SIZE, "size", "bytes", "at the end of its life", TABLE_UINT, false)              \
    X(HEAP_OBJECT_BORN, "born", "ns", "", TABLE_TIME, false)                                       \
    X(HEAP_OBJECT_DIED, "died", "ns", "null: it lived at the end", TABLE_TIME, true)               \
    X(HEAP_OBJECT_ALIVE, "alive", "", "at the end", TABLE_BOOL, false)                             \
    X(HEAP_OBJECT_MOVED, "moved", "", "a realloc moved an object to it", TABLE_BOOL, false)
enum { OBJECT_COLUMNS(COLUMN_NUMBER) };
static const struct table_column object_columns[] = {OBJECT_COLUMNS(PLAIN_COLUMN)};

static const struct table_column live_columns[] = {LIVE_COLUMNS(PLAIN_COLUMN)};

enum { KIND_COUNT = 4 };

/* A live object; its size is in the table.  In the free list, `number` is the next index. */
struct heap_birth {
    uint64_t number;
    uint64_t born_ns;
    uint64_t thread;
    uint64_t heap;
    uint64_t address;
    bool is_moved;
};

struct heap_rows;
typedef bool (*put_record)(struct heap_rows *rows, const struct hatf_record *record);

struct heap_rows {
    struct table_rows base;
    uint32_t words[KIND_COUNT];
    put_record put;
    struct alloc_source *source;
    struct object_table live;  /* by address: `value` is an index into `births` */
    struct object_table moves; /* by thread: target address of its pending realloc */
    struct heap_birth *births;
    size_t birth_count, birth_capacity;
    uint64_t free_birth; /* first of the free list; UINT64_MAX: empty */
    uint64_t objects;    /* number of objects so far */
    uint64_t live_bytes;
    uint64_t last_ns;
    struct object_cursor cursor; /* in `live`, at the end or while a heap is destroyed */
    uint64_t dying_heap;         /* heap that is being destroyed */
    bool is_dying;               /* objects of `dying_heap` are being ended */
    bool at_end, gives_objects, is_curve;
    struct level_curve curve;
    size_t step;
};

/* ---- live objects ---- */

static struct heap_birth *add_birth(struct heap_rows *rows, size_t *place)
{
    if (rows->free_birth != UINT64_MAX) {
        *place = (size_t) rows->free_birth;
        rows->free_birth = rows->births[*place].number;
        return &rows->births[*place];
    }
    if (!STEP_MAKE_ROOM(rows->births, rows->birth_capacity, rows->birth_count + 1))
        return NULL;
    *place = rows->birth_count++;
    return &rows->births[*place];
}

static void heap_rows_put_object(struct heap_rows *rows, const struct heap_birth *birth,
                                 uint64_t size, bool is_dead)
{
    struct row_builder *builder = &rows->base.builder;
    row_put(builder, HEAP_OBJECT_OBJECT, birth->number, false);
    row_put(builder, HEAP_OBJECT_THREAD, birth->thread, false);
    row_put(builder, HEAP_OBJECT_HEAP, birth->heap, false);
    row_put(builder, HEAP_OBJECT_ADDRESS, birth->address, false);
    row_put(builder, HEAP_OBJECT_SIZE, size, false);
    row_put(builder, HEAP_OBJECT_BORN, birth->born_ns, false);
    row_put(builder, HEAP_OBJECT_DIED, rows->last_ns, !is_dead);
    row_put_flag(builder, HEAP_OBJECT_ALIVE, !is_dead);
    row_put_flag(builder, HEAP_OBJECT_MOVED, birth->is_moved);
    row_builder_end_row(builder);
}

/* Ends the object at the address.  Returns false if there is none. */
static bool heap_rows_take_object(struct heap_rows *rows, uint64_t address, struct live_object *out)
{
    if (!object_table_take(&rows->live, live_address_key(address), out))
        return false;
    struct heap_birth *birth = &rows->births[out->value];
    rows->live_bytes -= out->size;
    if (rows->gives_objects)
        heap_rows_put_object(rows, birth, out->size, true);
    uint64_t number = birth->number;
    birth->number = rows->free_birth;
    rows->free_birth = out->value;
    out->value = number;
    return true;
}

static bool has_moved(struct heap_rows *rows, const struct hatf_record *record)
{
    struct live_object move;
    return object_table_take(&rows->moves, record->thread + 1, &move) &&
           move.value == record->address;
}

static bool make_object(struct heap_rows *rows, const struct hatf_record *record)
{
    size_t place;
    struct live_object before;
    heap_rows_take_object(rows, record->address, &before); /* its free is missing from the trace */
    struct heap_birth *birth = add_birth(rows, &place);
    if (birth == NULL)
        return false;
    *birth = (struct heap_birth){.number = ++rows->objects,
                                 .born_ns = record->time,
                                 .thread = record->thread,
                                 .heap = record->heap,
                                 .address = record->address,
                                 .is_moved = has_moved(rows, record)};
    rows->live_bytes += record->size;
    return object_table_put(&rows->live,
                            &(struct live_object){.object = live_address_key(record->address),
                                                  .value = place,
                                                  .size = record->size});
}

static bool resize_object(struct heap_rows *rows, const struct hatf_record *record)
{
    struct live_object object;
    uint64_t key = live_address_key(record->address);
    bool has_failed = record->new_address == 0;
    if (has_failed || !object_table_find(&rows->live, key, &object))
        return true;
    rows->live_bytes += record->size - object.size;
    object.size = record->size;
    return object_table_put(&rows->live, &object);
}

/* Tracks live objects.  Returns false if out of memory. */
static bool heap_rows_follow(struct heap_rows *rows, const struct hatf_record *record)
{
    struct live_object object;
    switch (record->tag) {
    case HATF_ALLOC:
        return make_object(rows, record);
    case HATF_FREE:
        heap_rows_take_object(rows, record->address, &object);
        return true;
    case HATF_REALLOC_NO_ALLOC:
        return resize_object(rows, record);
    case HATF_REALLOC_ALLOC_FREE:
        return object_table_put(&rows->moves, &(struct live_object){.object = record->thread + 1,
                                                                    .value = record->new_address});
    case HATF_DESTROY_HEAP:
        rows->is_dying = true;
        rows->dying_heap = record->heap;
        rows->cursor = (struct object_cursor){0};
        return true;
    default:
        return true;
    }
}

/* ---- rows ---- */

static bool heap_rows_put_alloc(struct heap_rows *rows, const struct hatf_record *record)
{
    struct row_builder *builder = &rows->base.builder;
    if (record->tag != HATF_ALLOC)
        return true;
    rows->objects++;
    row_put(builder, HEAP_ALLOC_TIME, record->time, false);
    row_put(builder, HEAP_ALLOC_THREAD, record->thread, false);
    row_put(builder, HEAP_ALLOC_OBJECT, rows->objects, false);
    row_put(builder, HEAP_ALLOC_ADDRESS, record->address, false);
    row_put(builder, HEAP_ALLOC_SIZE, record->size, false);
    row_put(builder, HEAP_ALLOC_HEAP, record->heap, false);
    row_builder_end_row(builder);
    return true;
}

static bool heap_rows_put_free(struct heap_rows *rows, const struct hatf_record *record)
{
    struct row_builder *builder = &rows->base.builder;
    struct live_object object = {0};
    if (record->tag != HATF_FREE)
        return heap_rows_follow(rows, record);
    bool is_known = heap_rows_take_object(rows, record->address, &object);
    row_put(builder, HEAP_FREE_TIME, record->time, false);
    row_put(builder, HEAP_FREE_THREAD, record->thread, false);
    row_put(builder, HEAP_FREE_OBJECT, object.value, !is_known);
    row_put(builder, HEAP_FREE_ADDRESS, record->address, false);
    row_put(builder, HEAP_FREE_HEAP, record->heap, false);
    row_builder_end_row(builder);
    return true;
}

static bool put_realloc(struct heap_rows *rows, const struct hatf_record *record)
{
    struct row_builder *builder = &rows->base.builder;
    struct live_object object = {0};
    if (record->tag < HATF_REALLOC_NO_ALLOC || record->tag > HATF_REALLOC_FREE)
        return heap_rows_follow(rows, record);
    bool is_known = object_table_find(&rows->live, live_address_key(record->address), &object);
    uint64_t number = is_known ? rows->births[object.value].number : 0;
    row_put(builder, HEAP_REALLOC_TIME, record->time, false);
    row_put(builder, HEAP_REALLOC_THREAD, record->thread, false);
    row_put(builder, HEAP_REALLOC_OBJECT, number, !is_known);
    row_put(builder, HEAP_REALLOC_ADDRESS, record->address, false);
    row_put(builder, HEAP_REALLOC_NEW_ADDRESS, record->new_address, false);
    row_put(builder, HEAP_REALLOC_SIZE, record->size, false);
    row_put(builder, HEAP_REALLOC_OLD_SIZE, object.size, !is_known);
    row_put(builder, HEAP_REALLOC_HEAP, record->heap, false);
    row_put_code(builder, HEAP_REALLOC_KIND, rows->words[record->tag - HATF_REALLOC_NO_ALLOC],
                 false);
    row_builder_end_row(builder);
    return heap_rows_follow(rows, record);
}

/* Ends the objects of a destroyed heap, while the batch has room. */
static void heap_rows_end(struct heap_rows *rows)
{
    struct live_object object;
    rows->is_dying = true;
    /* if the batch is full, the next one continues here */
    while (rows->is_dying && !row_builder_is_full(&rows->base.builder)) {
        rows->is_dying = object_table_next(&rows->live, &rows->cursor, &object);
        if (rows->is_dying && rows->births[object.value].heap == rows->dying_heap)
            heap_rows_take_object(rows, rows->births[object.value].address, &object);
    }
}

static bool give_live(struct heap_rows *rows)
{
    struct live_object object;
    while (!row_builder_is_full(&rows->base.builder)) {
        if (!object_table_next(&rows->live, &rows->cursor, &object))
            return false;
        heap_rows_put_object(rows, &rows->births[object.value], object.size, false);
    }
    return true;
}

static bool give_steps(struct heap_rows *rows)
{
    while (rows->step < rows->curve.count && !row_builder_is_full(&rows->base.builder))
        live_rows_put_step(&rows->base.builder, &rows->curve, rows->step++, rows->last_ns);
    return rows->step < rows->curve.count;
}

static void heap_rows_finish(struct heap_rows *rows)
{
    rows->at_end = true;
    rows->cursor = (struct object_cursor){0};
    level_curve_put(&rows->curve, rows->last_ns, rows->live_bytes, rows->live.count);
    tables_note_damage(rows->base.tables, &rows->source->about);
}

/* An allocation at an occupied address also adds only one row, so the builder has room. */
static enum step_status heap_rows_step(struct table_rows *base, bool *has_more,
                                       struct step_error *error)
{
    struct heap_rows *rows = (struct heap_rows *) base;
    struct hatf_record record;
    if (rows->is_dying) {
        heap_rows_end(rows);
        return STEP_STATUS_OK;
    }
    if (rows->at_end) {
        *has_more =
            (rows->gives_objects && give_live(rows)) || (rows->is_curve && give_steps(rows));
        return STEP_STATUS_OK;
    }
    enum step_status status = alloc_source_next(rows->source, &record, error);
    if (status == STEP_STATUS_END)
        heap_rows_finish(rows);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
    if (record.tag == HATF_COMMENT)
        return STEP_STATUS_OK;
    if (record.time > rows->last_ns)
        rows->last_ns = record.time;
    if (!rows->put(rows, &record))
        return no_memory(error);
    if (rows->is_curve)
        level_curve_put(&rows->curve, rows->last_ns, rows->live_bytes, rows->live.count);
    return STEP_STATUS_OK;
}

/* ---- life cycle ---- */

static void heap_rows_reset(struct table_rows *base)
{
    struct heap_rows *rows = (struct heap_rows *) base;
    alloc_source_destroy(rows->source);
    object_table_reset(&rows->live);
    object_table_reset(&rows->moves);
    free(rows->births);
}

static const struct {
    const char *name;
    put_record put;
} putters[] = {{"objects", heap_rows_follow},
               {"allocations", heap_rows_put_alloc},
               {"frees", heap_rows_put_free},
               {"reallocs", put_realloc},
               {"live", heap_rows_follow}};

static enum step_status heap_rows_open(struct table_rows *base, struct step_error *error)
{
    static const char *const words[KIND_COUNT] = {"in place", "move", "alloc", "free"};
    struct heap_rows *rows = (struct heap_rows *) base;
    struct tables *tables = base->tables;
    const char *name = base->request->table->base.name;
    struct event_selection selected;
    struct opened_trace opened = {0};
    for (size_t i = 0; i < sizeof putters / sizeof putters[0]; i++)
        if (strcmp(name, putters[i].name) == 0)
            rows->put = putters[i].put;
    rows->gives_objects = strcmp(name, "objects") == 0;
    rows->is_curve = strcmp(name, "live") == 0;
    rows->free_birth = UINT64_MAX;
    level_curve_init(&rows->curve);
    if (!table_names_codes(&tables->words, words, KIND_COUNT, rows->words))
        return no_memory(error);
    event_selection_init(&selected);
    enum step_status status = stepfile_source_create(tables->path, &selected, &opened, error);
    rows->source = opened.allocs;
    return status;
}

static const struct table_rows_operations rows_of_heap = {.size_bytes = sizeof(struct heap_rows),
                                                          .open = heap_rows_open,
                                                          .step = heap_rows_step,
                                                          .reset = heap_rows_reset};

static const struct table heap_tables[] = {
    {"objects", "one row per object", COLUMNS(object_columns)},
    {"allocations", "one row per allocation", COLUMNS(alloc_columns)},
    {"frees", "one row per free", COLUMNS(free_columns)},
    {"reallocs", "one row per realloc", COLUMNS(realloc_columns)},
    {"live", "what lived, over time", COLUMNS(live_columns)}};

enum step_status heap_tables_add(struct tables *tables, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < sizeof heap_tables / sizeof heap_tables[0]; i++) {
        const struct table_definition definition = {
            .base = heap_tables[i], .rows = &rows_of_heap, .record = STEP_NO_RECORD};
        if (status == STEP_STATUS_OK)
            status = tables_add(tables, &definition, error);
    }
    return status;
}
