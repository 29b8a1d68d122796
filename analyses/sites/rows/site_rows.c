/* SPDX-License-Identifier: Apache-2.0 */
/* The tables `lifetimes`, one row an allocation site, and `advice`, one row each piece of advice
 * with the defaults of `steptrace advise`.  The whole trace is read for the first row. */
#include <string.h>

#include "analyses/sites/advice.h"
#include "analyses/tables/event_rows.h"
#include "analyses/tables/makers.h"
#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/records/record_dump.h"

#define LIFETIMES_COLUMNS(X)                                                                       \
    X(LIFETIMES_CLASS, "class", "", "", TABLE_NAME, true)                                          \
    X(LIFETIMES_CLASS_ID, "class_id", "", "number in classes", TABLE_UINT, false)                  \
    X(LIFETIMES_SITE, "site", "", "number in sites", TABLE_UINT, true)                             \
    X(LIFETIMES_OBJECTS, "objects", "", "allocated in the trace", TABLE_UINT, false)               \
    X(LIFETIMES_BYTES, "bytes", "bytes", "", TABLE_UINT, false)                                    \
    X(LIFETIMES_DEAD_OBJECTS, "dead_objects", "", "by the end", TABLE_UINT, false)                 \
    X(LIFETIMES_DEAD_BYTES, "dead_bytes", "bytes", "", TABLE_UINT, false)                          \
    X(LIFETIMES_OLD_OBJECTS, "old_objects", "", "survived two collections or more", TABLE_UINT,    \
      false)                                                                                       \
    X(LIFETIMES_OLD_BYTES, "old_bytes", "bytes", "", TABLE_UINT, false)                            \
    X(LIFETIMES_MOST_LIVING, "most_living", "", "objects at one time", TABLE_UINT, false)          \
    X(LIFETIMES_MEANING, "meaning", "", "of the lifetimes: exact, upper_bound, estimate",          \
      TABLE_NAME, false)                                                                           \
    X(LIFETIMES_P10_BYTES, "p10_bytes", "bytes", "allocated in 10 % of lifetimes at most",         \
      TABLE_UINT, true)                                                                            \
    X(LIFETIMES_P50_BYTES, "p50_bytes", "bytes", "half", TABLE_UINT, true)                         \
    X(LIFETIMES_P90_BYTES, "p90_bytes", "bytes", "90 %", TABLE_UINT, true)                         \
    X(LIFETIMES_P99_BYTES, "p99_bytes", "bytes", "99 %", TABLE_UINT, true)                         \
    X(LIFETIMES_P50_TIME, "p50_time", "ns", "half of the lifetimes are no longer", TABLE_DURATION, \
      true)                                                                                        \
    X(LIFETIMES_P90_TIME, "p90_time", "ns", "90 %", TABLE_DURATION, true)
enum { LIFETIMES_COLUMNS(COLUMN_NUMBER) };
static const struct java_column lifetime_columns[] = {LIFETIMES_COLUMNS(MADE_COLUMN)};

#define ADVICE_COLUMNS(X)                                                                          \
    X(ADVICE_WORD, "advice", "", "pretenure, reuse, duplicate, scalar, presize", TABLE_NAME,       \
      false)                                                                                       \
    X(ADVICE_CLASS, "class", "", "", TABLE_NAME, true)                                             \
    X(ADVICE_CLASS_ID, "class_id", "", "number in classes", TABLE_UINT, false)                     \
    X(ADVICE_SITE, "site", "", "number in sites", TABLE_UINT, true)                                \
    X(ADVICE_BYTES, "bytes", "bytes", "at stake", TABLE_UINT, false)                               \
    X(ADVICE_OBJECTS, "objects", "", "that show it", TABLE_UINT, false)                            \
    X(ADVICE_SITE_OBJECTS, "site_objects", "", "all of the site", TABLE_UINT, false)               \
    X(ADVICE_IS_ESTIMATE, "is_estimate", "", "some deaths are lower bounds", TABLE_BOOL, false)
enum { ADVICE_COLUMNS(COLUMN_NUMBER) };
static const struct java_column advice_columns[] = {ADVICE_COLUMNS(MADE_COLUMN)};

struct site_rows {
    struct table_rows base;
    struct event_feed feed; /* its names are those of the sites */
    struct site_lives lives;
    struct advice_list list;
    bool is_advice; /* for the table `advice` */
    bool is_read;
    size_t at;                                                      /* next row */
    uint32_t meanings[LIFETIME_MEANINGS], kinds[ADVICE_KIND_COUNT]; /* codes of words */
};

/* ---- rows ---- */

static bool site_rows_put_names(struct site_rows *rows, const struct site_key *key, size_t first)
{
    row_put(&rows->base.builder, first + 1, key->class_id, false);
    row_put(&rows->base.builder, first + 2, key->stack_id, key->stack_id == 0);
    return row_put_class(&rows->base, first, key->class_id);
}

static void put_percentile(struct site_rows *rows, size_t column, const struct lifetimes *lifetimes,
                           double share)
{
    if (rows->base.builder.values[column] != NULL)
        row_put(&rows->base.builder, column, (uint64_t) lifetimes_percentile(lifetimes, share),
                lifetimes->count == 0);
}

static bool put_life(struct site_rows *rows, const struct site_life *life)
{
    struct row_builder *builder = &rows->base.builder;
    bool ok = site_rows_put_names(rows, &life->key, LIFETIMES_CLASS);
    row_put(builder, LIFETIMES_OBJECTS, life->born.objects, false);
    row_put(builder, LIFETIMES_BYTES, life->born.bytes, false);
    row_put(builder, LIFETIMES_DEAD_OBJECTS, life->dead.objects, false);
    row_put(builder, LIFETIMES_DEAD_BYTES, life->dead.bytes, false);
    row_put(builder, LIFETIMES_OLD_OBJECTS, life->old.objects, false);
    row_put(builder, LIFETIMES_OLD_BYTES, life->old.bytes, false);
    row_put(builder, LIFETIMES_MOST_LIVING, life->most_living, false);
    row_put_code(builder, LIFETIMES_MEANING, rows->meanings[site_meaning(life)], false);
    put_percentile(rows, LIFETIMES_P10_BYTES, &life->in_bytes, 0.1);
    put_percentile(rows, LIFETIMES_P50_BYTES, &life->in_bytes, 0.5);
    put_percentile(rows, LIFETIMES_P90_BYTES, &life->in_bytes, 0.9);
    put_percentile(rows, LIFETIMES_P99_BYTES, &life->in_bytes, 0.99);
    put_percentile(rows, LIFETIMES_P50_TIME, &life->in_time, 0.5);
    put_percentile(rows, LIFETIMES_P90_TIME, &life->in_time, 0.9);
    row_builder_end_row(builder);
    return ok;
}

static bool put_advice(struct site_rows *rows, const struct advice *advice)
{
    struct row_builder *builder = &rows->base.builder;
    const struct site_life *life = &rows->lives.items[advice->site];
    bool ok = site_rows_put_names(rows, &life->key, ADVICE_CLASS);
    row_put_code(builder, ADVICE_WORD, rows->kinds[advice->kind], false);
    row_put(builder, ADVICE_BYTES, advice->bytes, false);
    row_put(builder, ADVICE_OBJECTS, advice->objects, false);
    row_put(builder, ADVICE_SITE_OBJECTS, life->born.objects, false);
    row_put_flag(builder, ADVICE_IS_ESTIMATE, advice->is_bound);
    row_builder_end_row(builder);
    return ok;
}

/* ---- reading ---- */

static enum step_status site_rows_read_events(struct site_rows *rows, struct step_error *error)
{
    const struct trace_event *event;
    enum step_status status = STEP_STATUS_OK;
    while (status == STEP_STATUS_OK) {
        status = event_feed_next(&rows->feed, rows->base.tables, &event, error);
        if (status == STEP_STATUS_OK)
            status = site_lives_put(&rows->lives, event, 1, error);
    }
    site_lives_finish(&rows->lives);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* With a reader of its own, as other tables may be read at the same time. */
static enum step_status site_rows_read_references(struct site_rows *rows, bool *has_references,
                                                  struct step_error *error)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    enum step_status status =
        stepfile_open(rows->base.tables->path, NULL, &reader, &seekable, error);
    if (status == STEP_STATUS_OK)
        status = site_stores_count(reader, &rows->lives, error);
    *has_references = status == STEP_STATUS_OK;
    step_reader_destroy(reader);
    seekable_path_close(&seekable);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static enum step_status site_rows_read_trace(struct site_rows *rows, struct step_error *error)
{
    struct advice_options options = {.least_bytes = ADVICE_LEAST_DEFAULT};
    rows->is_read = true;
    rows->lives.path = rows->base.tables->path;
    rows->lives.within = ADVICE_WITHIN_DEFAULT;
    enum step_status status = site_rows_read_events(rows, error);
    if (status != STEP_STATUS_OK || !rows->is_advice)
        return status;
    status = site_rows_read_references(rows, &options.has_references, error);
    if (status == STEP_STATUS_OK &&
        !advice_make(&rows->list, &rows->lives, &rows->feed.source->names, &options))
        status = no_memory(error);
    return status;
}

static enum step_status site_rows_step(struct table_rows *base, bool *has_more,
                                       struct step_error *error)
{
    struct site_rows *rows = (struct site_rows *) base;
    enum step_status status = rows->is_read ? STEP_STATUS_OK : site_rows_read_trace(rows, error);
    if (status != STEP_STATUS_OK)
        return status;
    *has_more = rows->at < (rows->is_advice ? rows->list.count : rows->lives.count);
    if (!*has_more)
        return STEP_STATUS_OK;
    bool ok = rows->is_advice ? put_advice(rows, &rows->list.items[rows->at])
                              : put_life(rows, &rows->lives.items[rows->at]);
    rows->at++;
    return ok ? STEP_STATUS_OK : no_memory(error);
}

/* ---- life cycle ---- */

static void site_rows_reset(struct table_rows *base)
{
    struct site_rows *rows = (struct site_rows *) base;
    event_feed_close(&rows->feed);
    advice_reset(&rows->list);
    site_lives_reset(&rows->lives);
}

/* SQL reads sampled traces, too. */
static enum step_status refuse_sample(const struct site_rows *rows, struct step_error *error)
{
    const struct event_source *source = rows->feed.source;
    if (sampled_interval_bytes(event_source_property(source, "engine").unshown,
                               event_source_property(source, "sample").unshown) == 0)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_CORRUPT, rows->base.tables->path, STEP_NO_OFFSET,
                          "has a sample of the objects (engine=sampled), not all of a site");
}

static enum step_status site_rows_open(struct table_rows *base, struct step_error *error)
{
    const uint32_t kinds = TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    struct site_rows *rows = (struct site_rows *) base;
    struct table_names *words = &base->tables->words;
    rows->is_advice = strcmp(base->request->table->base.name, "advice") == 0;
    site_lives_init(&rows->lives);
    if (!table_names_codes(words, lifetime_words, LIFETIME_MEANINGS, rows->meanings) ||
        !table_names_codes(words, advice_words, ADVICE_KIND_COUNT, rows->kinds))
        return no_memory(error);
    enum step_status status = event_feed_open(&rows->feed, base->tables, kinds, true, error);
    return status == STEP_STATUS_OK ? refuse_sample(rows, error) : status;
}

static const struct table_rows_operations rows_of_sites = {.size_bytes = sizeof(struct site_rows),
                                                           .open = site_rows_open,
                                                           .step = site_rows_step,
                                                           .reset = site_rows_reset};

const struct java_table lifetimes_table = MADE_TABLE(
    "lifetimes", "one row per allocation site", lifetime_columns, rows_of_sites, true, BY_ALLOC);

const struct java_table advice_table = MADE_TABLE("advice", "what `steptrace advise` says",
                                                  advice_columns, rows_of_sites, true, BY_ALLOC);
