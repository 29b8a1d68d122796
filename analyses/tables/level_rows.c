/* SPDX-License-Identifier: Apache-2.0 */
/* The tables `collections` and `live` of a Java trace: what each collection freed, and the live
 * heap over time. */
#include <string.h>

#include "analyses/tables/event_rows.h"
#include "analyses/tables/makers.h"
#include "converter/containers/no_memory.h"
#include "converter/trace/collection_clock.h"
#include "converter/trace/level_curve.h"

#define COLLECTIONS_COLUMNS(X)                                                                     \
    X(COLLECTIONS_ID, "collection", "", "number, from 1", TABLE_UINT, false)                       \
    X(COLLECTIONS_TIME, "time", "ns", "", TABLE_TIME, false)                                       \
    X(COLLECTIONS_FREED_OBJECTS, "freed_objects", "", "", TABLE_UINT, false)                       \
    X(COLLECTIONS_FREED_BYTES, "freed_bytes", "bytes", "", TABLE_UINT, false)                      \
    X(COLLECTIONS_LIVE_OBJECTS, "live_objects", "", "after it", TABLE_UINT, false)                 \
    X(COLLECTIONS_LIVE_BYTES, "live_bytes", "bytes", "after it", TABLE_UINT, false)
enum { COLLECTIONS_COLUMNS(COLUMN_NUMBER) };
static const struct java_column collection_columns[] = {COLLECTIONS_COLUMNS(MADE_COLUMN)};

enum { LIVE_COLUMNS(COLUMN_NUMBER) };
static const struct java_column live_columns[] = {LIVE_COLUMNS(MADE_COLUMN)};

struct level_rows {
    struct table_rows base;
    struct event_feed feed;
    uint64_t live_objects, live_bytes;
    struct collection_clock clock;
    const struct trace_event *event; /* the next event, after the collections before it */
    bool at_end;
    bool is_curve; /* for the table `live` */
    uint64_t last_ns;
    struct level_curve curve;
    size_t step; /* next step of the curve */
};

static void put_collection(struct level_rows *rows, const struct collection *over)
{
    struct row_builder *builder = &rows->base.builder;
    row_put(builder, COLLECTIONS_ID, over->number, false);
    row_put(builder, COLLECTIONS_TIME, over->time, false);
    row_put(builder, COLLECTIONS_FREED_OBJECTS, over->objects, false);
    row_put(builder, COLLECTIONS_FREED_BYTES, over->bytes, false);
    row_put(builder, COLLECTIONS_LIVE_OBJECTS, rows->live_objects, false);
    row_put(builder, COLLECTIONS_LIVE_BYTES, rows->live_bytes, false);
    row_builder_end_row(builder);
}

static bool level_rows_put_free(struct level_rows *rows, const struct trace_event *event)
{
    if (!rows->is_curve && !collection_clock_put_free(&rows->clock, event))
        return false;
    if ((event->flags & TRACE_BORN_KNOWN) != 0 && rows->live_objects > 0) {
        rows->live_objects--;
        rows->live_bytes -= event->size < rows->live_bytes ? event->size : rows->live_bytes;
    }
    return true;
}

static bool level_rows_put_event(struct level_rows *rows, const struct trace_event *event)
{
    if (event->kind == EVENT_OBJECT_ALLOC) {
        rows->live_objects++;
        rows->live_bytes += event->size;
    } else if (event->kind == EVENT_OBJECT_FREE && !level_rows_put_free(rows, event)) {
        return false;
    }
    if (event->time_ns > rows->last_ns)
        rows->last_ns = event->time_ns;
    if (rows->is_curve)
        level_curve_put(&rows->curve, event->time_ns, rows->live_bytes, rows->live_objects);
    return true;
}

void live_rows_put_step(struct row_builder *builder, const struct level_curve *curve, size_t i,
                        uint64_t last_ns)
{
    const struct live_step *step = &curve->steps[i];
    uint64_t end_ns;
    if (__builtin_mul_overflow(i + 1, curve->step_ns, &end_ns) || end_ns > last_ns)
        end_ns = last_ns;
    row_put(builder, LIVE_TIME, end_ns, false);
    row_put(builder, LIVE_STEP, end_ns - i * curve->step_ns, false);
    row_put(builder, LIVE_OBJECTS, step->last_objects, false);
    row_put(builder, LIVE_BYTES, step->last_bytes, false);
    row_put(builder, LIVE_MOST_BYTES, step->most_bytes, false);
    row_builder_end_row(builder);
}

static void level_rows_finish(struct level_rows *rows)
{
    if (rows->is_curve)
        level_curve_put(&rows->curve, rows->last_ns, rows->live_bytes, rows->live_objects);
    if (!rows->is_curve)
        rows->step = rows->curve.count;
    rows->at_end = true;
}

/* Processes the next event, or a collection that ended before it. */
static enum step_status level_rows_go_on(struct level_rows *rows, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    struct collection over;
    if (rows->event == NULL)
        status = event_feed_next(&rows->feed, rows->base.tables, &rows->event, error);
    if (status != STEP_STATUS_OK) {
        rows->event = NULL;
        if (status == STEP_STATUS_END)
            level_rows_finish(rows);
        return status;
    }
    if (collection_clock_ends(&rows->clock, rows->event->time_ns, &over)) {
        put_collection(rows, &over);
        return STEP_STATUS_OK;
    }
    if (!level_rows_put_event(rows, rows->event))
        return no_memory(error);
    rows->event = NULL;
    return STEP_STATUS_OK;
}

static enum step_status level_rows_step(struct table_rows *base, bool *has_more,
                                        struct step_error *error)
{
    struct level_rows *rows = (struct level_rows *) base;
    struct collection over;
    if (!rows->at_end) {
        enum step_status status = level_rows_go_on(rows, error);
        return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
    }
    if (collection_clock_finish(&rows->clock, &over))
        put_collection(rows, &over);
    else if (rows->step < rows->curve.count)
        live_rows_put_step(&base->builder, &rows->curve, rows->step++, rows->last_ns);
    else
        *has_more = false;
    return STEP_STATUS_OK;
}

static void level_rows_reset(struct table_rows *base)
{
    struct level_rows *rows = (struct level_rows *) base;
    event_feed_close(&rows->feed);
    collection_clock_reset(&rows->clock);
}

static enum step_status level_rows_open(struct table_rows *base, struct step_error *error)
{
    struct level_rows *rows = (struct level_rows *) base;
    level_curve_init(&rows->curve);
    rows->is_curve = strcmp(base->request->table->base.name, "live") == 0;
    uint32_t kinds = TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    return event_feed_open(&rows->feed, base->tables,
                           rows->is_curve ? kinds | TRACE_KIND_BIT(EVENT_VM_DEATH) : kinds, false,
                           error);
}

static const struct table_rows_operations rows_of_levels = {.size_bytes = sizeof(struct level_rows),
                                                            .open = level_rows_open,
                                                            .step = level_rows_step,
                                                            .reset = level_rows_reset};

const struct java_table collections_table =
    MADE_TABLE("collections", "one row per collection that freed something", collection_columns,
               rows_of_levels, true, BY_FREE);

const struct java_table live_table =
    MADE_TABLE("live", "what lived, over time", live_columns, rows_of_levels, true, BY_ALLOC);
