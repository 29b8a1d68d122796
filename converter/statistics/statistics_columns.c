/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row here is a column of a table of `stats`: of its text, its JSON and the page of `report`,
 * and, with a metric, of rules (docs/gates.md) and comparisons.  To add a number, add a row; no
 * other file is concerned, unless the totals do not have it yet (statistics.h, metrics.h).
 */
#include "converter/statistics/statistics_columns.h"

#include "converter/numbers/amount.h"
#include "converter/numbers/sample_totals.h"

#define METRIC(...)                                                                                \
    &(const struct metric)                                                                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct statistics_row *row_of(const void *user)
{
    return user;
}

/* Returns the sums if the trace is sampled, else NULL. */
static const struct sample_sums *samples_of(const struct statistics_row *row,
                                            const struct sample_sums *sums)
{
    bool is_sampled = row->statistics != NULL && row->statistics->weights.interval_bytes != 0;
    return is_sampled ? sums : NULL;
}

/* Returns the amount as one that needs events of a kind. */
static struct amount of_kind(const void *user, unsigned kind, struct amount amount)
{
    bool is_recorded = (row_of(user)->statistics->not_recorded & TRACE_KIND_BIT(kind)) == 0;
    return is_recorded ? amount : amount_not_recorded(amount);
}

/* ---- objects of a class, of a thread, or of all ---- */

/* Returns the amount as one that needs deaths. */
static struct amount of_deaths(const struct statistics_row *row, struct amount amount)
{
    return row->statistics->deaths.are_missing ? amount_not_recorded(amount) : amount;
}

static struct amount column_samples(const void *row)
{
    return amount_exact(row_of(row)->sampled.allocated.samples, AMOUNT_OBJECTS);
}

static struct amount column_allocated_objects(const void *user)
{
    const struct statistics_row *row = user;
    return amount_of_objects(row->sums[SUM_ALLOCATED_OBJECTS],
                             samples_of(row, &row->sampled.allocated));
}

static struct amount column_allocated_bytes(const void *user)
{
    const struct statistics_row *row = user;
    return amount_of_bytes(row->sums[SUM_ALLOCATED_BYTES],
                           samples_of(row, &row->sampled.allocated));
}

static struct amount column_existing_objects(const void *row)
{
    const struct class_totals *totals = row_of(row)->totals;
    return amount_exact(totals->objects.existing_objects, AMOUNT_OBJECTS);
}

static struct amount column_existing_bytes(const void *row)
{
    const struct class_totals *totals = row_of(row)->totals;
    return amount_exact(totals->objects.existing_bytes, AMOUNT_BYTES);
}

static struct amount column_freed_samples(const void *row)
{
    return amount_exact(row_of(row)->sampled.freed.samples, AMOUNT_OBJECTS);
}

static struct amount column_freed_objects(const void *user)
{
    const struct statistics_row *row = user;
    return of_deaths(
        row, amount_of_objects(row->sums[SUM_FREED_OBJECTS], samples_of(row, &row->sampled.freed)));
}

static struct amount column_freed_bytes(const void *user)
{
    const struct statistics_row *row = user;
    return of_deaths(
        row, amount_of_bytes(row->sums[SUM_FREED_BYTES], samples_of(row, &row->sampled.freed)));
}

static struct amount column_live_objects(const void *user)
{
    const struct statistics_row *row = user;
    const struct sample_sums live = sampled_totals_live(&row->sampled);
    return of_deaths(row, amount_of_objects(row->sums[SUM_END_OBJECTS], samples_of(row, &live)));
}

static struct amount column_live_bytes(const void *user)
{
    const struct statistics_row *row = user;
    const struct sample_sums live = sampled_totals_live(&row->sampled);
    return of_deaths(row, amount_of_bytes(row->sums[SUM_END_BYTES], samples_of(row, &live)));
}

/* ---- lifetimes of its objects ---- */

static const struct lifetimes *lifetimes_of(const void *row)
{
    return &((const struct class_totals *) row_of(row)->totals)->lifetimes;
}

static enum amount_unit unit_of_lifetimes(const void *row)
{
    const struct statistics *statistics = row_of(row)->statistics;
    return statistics->lifetimes_in_bytes ? AMOUNT_BYTES : amount_unit_of_times(statistics->unit);
}

static struct amount lifetime(const void *row, double value)
{
    enum amount_unit unit = unit_of_lifetimes(row);
    return lifetimes_of(row)->count > 0 ? amount_real(value, unit) : amount_none(unit);
}

static struct amount lifetime_count(const void *row)
{
    uint64_t count = lifetimes_of(row)->count;
    return count > 0 ? amount_exact(count, AMOUNT_OBJECTS) : amount_none(AMOUNT_OBJECTS);
}

static struct amount lifetime_mean(const void *row)
{
    return lifetime(row, lifetimes_mean(lifetimes_of(row)));
}

/* Sums have no distribution. */
static struct amount lifetime_of_sums(const void *row)
{
    const uint64_t *sums = row_of(row)->sums;
    double lived = (double) sums[SUM_LIVED_US], freed = (double) sums[SUM_FREED_OBJECTS];
    return freed > 0 ? amount_real(time_of_age(lived / freed, TIME_NS), AMOUNT_NS)
                     : amount_none(AMOUNT_NS);
}

static struct amount lifetime_p50(const void *row)
{
    return lifetime(row, lifetimes_percentile(lifetimes_of(row), 0.5));
}

static struct amount lifetime_p90(const void *row)
{
    return lifetime(row, lifetimes_percentile(lifetimes_of(row), 0.9));
}

static struct amount lifetime_p99(const void *row)
{
    return lifetime(row, lifetimes_percentile(lifetimes_of(row), 0.99));
}

static struct amount lifetime_most(const void *row)
{
    return amount_exact(lifetimes_of(row)->most, unit_of_lifetimes(row));
}

static struct amount lifetime_of_samples(const void *row)
{
    const struct sample_lives *lives = &row_of(row)->sampled.lives;
    enum amount_unit unit = unit_of_lifetimes(row);
    return lives->samples > 0 ? amount_estimated(estimate_life(lives), unit) : amount_none(unit);
}

/* Their object in JSON. */
static const char lifetimes[] = "lifetimes";

/* ---- what survived of a walk's objects ---- */

static const struct survivor_totals *survivors_of(const void *row)
{
    return &((const struct class_totals *) row_of(row)->totals)->survivors;
}

static struct amount of_known(const void *row, uint64_t value, enum amount_unit unit)
{
    return survivors_of(row)->of_objects > 0 ? amount_exact(value, unit) : amount_none(unit);
}

static struct amount survived_objects(const void *row)
{
    return of_known(row, survivors_of(row)->objects, AMOUNT_OBJECTS);
}

static struct amount survived_bytes(const void *row)
{
    return of_known(row, survivors_of(row)->bytes, AMOUNT_BYTES);
}

static struct amount survived_of_objects(const void *row)
{
    return of_known(row, survivors_of(row)->of_objects, AMOUNT_OBJECTS);
}

static struct amount survived_of_bytes(const void *row)
{
    return of_known(row, survivors_of(row)->of_bytes, AMOUNT_BYTES);
}

static const char survivors[] = "survived";

#define OF_SAMPLES (REPORT_SAMPLED_TEXT | REPORT_SAMPLED_JSON)
#define IN_TEXT_AND_JSON (REPORT_TEXT | REPORT_BOTH_JSONS)

static const struct report_column class_columns[] = {
    {"samples", "samples", 8, REPORT_DIGITS, OF_SAMPLES, .value = column_samples},
    {"allocated_objects", "allocated", 12, REPORT_RANGE, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = column_allocated_objects, .heading = "Objects",
     .metric = METRIC("allocated_objects", "objects", AMOUNT_OBJECTS, SUM_ALLOCATED_OBJECTS,
                      METRICS_OF_TRACES, METRIC_OF_OBJECTS, true, METRIC_BIRTHS, NULL)},
    {"allocated_bytes", "bytes", 14, REPORT_RANGE, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = column_allocated_bytes, .heading = "Allocated",
     .metric = METRIC("allocated", "allocated", AMOUNT_BYTES, SUM_ALLOCATED_BYTES,
                      METRICS_OF_TRACES, METRIC_OF_OBJECTS, true, METRIC_BIRTHS, NULL)},
    {"existing_objects", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = column_existing_objects},
    {"existing_bytes", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = column_existing_bytes},
    {"freed_samples", NULL, 0, REPORT_DIGITS, REPORT_SAMPLED_JSON, .value = column_freed_samples},
    {"freed_objects", "freed", 12, REPORT_DIGITS, REPORT_EVERYWHERE, .value = column_freed_objects,
     .metric = METRIC("freed_objects", "freed objects", AMOUNT_OBJECTS, SUM_FREED_OBJECTS,
                      METRICS_OF_TRACES, METRIC_OF_OBJECTS, true, METRIC_LIVES, NULL)},
    {"freed_bytes", "bytes", 14, REPORT_DIGITS, IN_TEXT_AND_JSON, .value = column_freed_bytes,
     .metric = METRIC("freed", "freed", AMOUNT_BYTES, SUM_FREED_BYTES, METRICS_OF_TRACES,
                      METRIC_OF_OBJECTS, true, METRIC_LIVES, NULL)},
    {"live_objects", "at end", 10, REPORT_DIGITS, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = column_live_objects, .heading = "Objects at the end",
     .metric = METRIC("alive_at_end_objects", "objects at end", AMOUNT_OBJECTS, SUM_END_OBJECTS,
                      METRICS_OF_TRACES, METRIC_OF_OBJECTS, true, METRIC_LIVES, NULL)},
    {"live_bytes", "bytes", 12, REPORT_DIGITS, IN_TEXT_AND_JSON | REPORT_PAGE,
     .value = column_live_bytes, .heading = "Alive at the end",
     .metric = METRIC("alive_at_end", "at end", AMOUNT_BYTES, SUM_END_BYTES, METRICS_OF_TRACES,
                      METRIC_OF_OBJECTS, true, METRIC_LIVES, NULL)},
    {"count", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = lifetime_count, .group = lifetimes},
    {"mean", "mean life", 10, REPORT_SCALED, REPORT_TEXT | REPORT_JSON | REPORT_PAGE,
     .value = lifetime_mean, .group = lifetimes, .heading = "Mean lifetime",
     .metric = METRIC("lifetime", "mean life", AMOUNT_NS, SUM_LIVED_US, METRICS_OF_TRACES,
                      METRIC_OF_OBJECTS, false, METRIC_LIVES, lifetime_of_sums)},
    {"p50", "median <", 10, REPORT_SCALED, REPORT_TEXT | REPORT_JSON | REPORT_PAGE,
     .value = lifetime_p50, .group = lifetimes, .heading = "Median lifetime, below"},
    {"p90", NULL, 0, REPORT_SCALED, REPORT_JSON, .value = lifetime_p90, .group = lifetimes},
    {"p99", NULL, 0, REPORT_SCALED, REPORT_JSON, .value = lifetime_p99, .group = lifetimes},
    {"most", NULL, 0, REPORT_SCALED, REPORT_JSON, .value = lifetime_most, .group = lifetimes},
    {"mean_lifetime_ns", "mean life", 10, REPORT_SCALED, OF_SAMPLES | REPORT_SAMPLED_PAGE,
     .value = lifetime_of_samples, .heading = "Mean lifetime"},
    {"objects", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = survived_objects, .group = survivors},
    {"bytes", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = survived_bytes, .group = survivors},
    {"of_objects", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = survived_of_objects,
     .group = survivors},
    {"of_bytes", NULL, 0, REPORT_DIGITS, REPORT_JSON, .value = survived_of_bytes,
     .group = survivors},
};

/* In text, of a trace of engine=walk: it has no deaths. */
static const struct report_column walked_columns[] = {
    {"allocated_objects", "allocated", 12, REPORT_DIGITS, REPORT_TEXT,
     .value = column_allocated_objects},
    {"allocated_bytes", "bytes", 14, REPORT_DIGITS, REPORT_TEXT, .value = column_allocated_bytes},
    {"objects", "survived", 12, REPORT_DIGITS, REPORT_TEXT, .value = survived_objects},
    {"bytes", "bytes", 12, REPORT_DIGITS, REPORT_TEXT, .value = survived_bytes},
    {"of_objects", "of", 12, REPORT_DIGITS, REPORT_TEXT, .value = survived_of_objects},
    {"of_bytes", "bytes", 14, REPORT_DIGITS, REPORT_TEXT, .value = survived_of_bytes},
};

/* ---- threads ---- */

static const struct thread_totals *thread_of(const void *row)
{
    return row_of(row)->totals;
}

static struct amount time_in(const void *row, uint64_t time, bool is_known)
{
    enum amount_unit unit = amount_unit_of_times(row_of(row)->statistics->unit);
    return is_known ? amount_exact(time, unit) : amount_none(unit);
}

static struct amount thread_start(const void *row)
{
    return time_in(row, thread_of(row)->start_ns, thread_of(row)->has_start);
}

static struct amount thread_end(const void *row)
{
    return time_in(row, thread_of(row)->end_ns, thread_of(row)->has_end);
}

static struct amount thread_allocated_objects(const void *row)
{
    return of_kind(row, EVENT_OBJECT_ALLOC, column_allocated_objects(row));
}

static struct amount thread_allocated_bytes(const void *row)
{
    return of_kind(row, EVENT_OBJECT_ALLOC, column_allocated_bytes(row));
}

static struct amount column_calls(const void *row)
{
    return amount_exact(row_of(row)->sums[SUM_CALLS], AMOUNT_OBJECTS);
}

static struct amount thread_calls(const void *row)
{
    return of_kind(row, EVENT_METHOD_ENTRY, column_calls(row));
}

static const struct report_column thread_columns[] = {
    {"start_ns", NULL, 0, REPORT_SCALED, REPORT_JSON, .value = thread_start},
    {"end_ns", NULL, 0, REPORT_SCALED, REPORT_JSON, .value = thread_end},
    {"samples", "samples", 8, REPORT_DIGITS, OF_SAMPLES, .value = column_samples},
    {"allocated_objects", "allocated", 12, REPORT_RANGE, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = thread_allocated_objects, .heading = "Objects"},
    {"allocated_bytes", "bytes", 14, REPORT_RANGE, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = thread_allocated_bytes, .heading = "Allocated"},
    {"calls", "calls", 12, REPORT_DIGITS, REPORT_TEXT | REPORT_JSON | REPORT_PAGE,
     .value = thread_calls, .heading = "Calls"},
    {"start_ns", "start", 10, REPORT_SCALED, REPORT_TEXT | REPORT_PAGE, .value = thread_start,
     .heading = "Start"},
    {"end_ns", "end", 10, REPORT_SCALED, REPORT_TEXT | REPORT_PAGE, .value = thread_end,
     .heading = "End"},
};

/* ---- methods ---- */

static struct amount column_exceptions(const void *row)
{
    return amount_exact(row_of(row)->sums[SUM_EXCEPTIONS], AMOUNT_OBJECTS);
}

static bool has_clock(const void *row)
{
    return row_of(row)->statistics->unit != TIME_STEPS;
}

static struct amount column_exclusive(const void *row)
{
    return time_in(row, row_of(row)->sums[SUM_OWN_NS], has_clock(row));
}

static struct amount column_inclusive(const void *row)
{
    return time_in(row, row_of(row)->sums[SUM_TIME_NS], has_clock(row));
}

static const struct report_column method_columns[] = {
    {"calls", "calls", 12, REPORT_DIGITS, REPORT_EVERYWHERE | REPORT_PAGE, .value = column_calls,
     .heading = "Calls",
     .metric = METRIC("calls", "calls", AMOUNT_OBJECTS, SUM_CALLS, METRICS_OF_TRACES,
                      METRIC_OF_CALLS, false, METRIC_CALLS, NULL)},
    {"exceptions", "exceptions", 10, REPORT_DIGITS, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = column_exceptions, .heading = "Exits by exception",
     .metric = METRIC("exceptions", "exceptions", AMOUNT_OBJECTS, SUM_EXCEPTIONS, METRICS_OF_TRACES,
                      METRIC_OF_METHODS, false, METRIC_CALLS, NULL)},
    {"exclusive_ns", "itself", 10, REPORT_SCALED, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = column_exclusive, .heading = "Own time",
     .metric = METRIC("own_time", "itself", AMOUNT_NS, SUM_OWN_NS, METRICS_OF_TRACES,
                      METRIC_OF_METHODS, false, METRIC_CALLS, NULL)},
    {"inclusive_ns", "with inner", 10, REPORT_SCALED, REPORT_EVERYWHERE | REPORT_PAGE,
     .value = column_inclusive, .heading = "With callees",
     .metric = METRIC("time", "with inner", AMOUNT_NS, SUM_TIME_NS, METRICS_OF_TRACES,
                      1u << AXIS_METHOD, false, METRIC_CALLS, NULL)},
};

/* ---- rows ---- */

static void statistics_sum_class(struct statistics_row *row)
{
    const struct class_totals *class = row->totals;
    const struct object_totals *objects = &class->objects;
    row->sampled = class->sampled;
    row->sums[SUM_ALLOCATED_OBJECTS] = objects->allocated_objects;
    row->sums[SUM_ALLOCATED_BYTES] = objects->allocated_bytes;
    row->sums[SUM_FREED_OBJECTS] = objects->freed_objects;
    row->sums[SUM_FREED_BYTES] = objects->freed_bytes;
    row->sums[SUM_END_OBJECTS] = live_objects_of(objects);
    row->sums[SUM_END_BYTES] = live_bytes_of(objects);
}

static void statistics_name_class(struct statistics_row *row)
{
    struct step_bytes name = trace_class_of(row->statistics->names, row->id)->name;
    row->sampled.allocated = sample_sums_of_class(row->sampled.allocated, name);
    row->sampled.freed = sample_sums_of_class(row->sampled.freed, name);
    row->sampled.live = sample_sums_of_class(row->sampled.live, name);
}

static void statistics_sum_thread(struct statistics_row *row)
{
    const struct thread_totals *thread = row->totals;
    row->sampled.allocated = thread->sampled;
    row->sums[SUM_ALLOCATED_OBJECTS] = thread->allocated_objects;
    row->sums[SUM_ALLOCATED_BYTES] = thread->allocated_bytes;
    row->sums[SUM_CALLS] = thread->calls;
}

static void statistics_sum_method(struct statistics_row *row)
{
    const struct method_totals *method = row->totals;
    row->sums[SUM_CALLS] = method->calls;
    row->sums[SUM_EXCEPTIONS] = method->exceptions;
    row->sums[SUM_OWN_NS] = method->exclusive_ns;
    row->sums[SUM_TIME_NS] = method->inclusive_ns;
}

struct statistics_row statistics_row_of(const struct statistics *statistics, enum measure_axis axis,
                                        uint32_t id, const void *totals)
{
    struct statistics_row row = {.statistics = statistics, .id = id, .totals = totals};
    if (axis == AXIS_THREAD)
        statistics_sum_thread(&row);
    else if (axis == AXIS_METHOD)
        statistics_sum_method(&row);
    else
        statistics_sum_class(&row);
    if (axis == AXIS_CLASS)
        statistics_name_class(&row);
    return row;
}

#define COLUMNS(of)                                                                                \
    {                                                                                              \
        of, sizeof(of) / sizeof(of)[0]                                                             \
    }

static const struct {
    const struct report_column *columns;
    size_t count;
} tables[AXIS_COUNT] = {[AXIS_PROGRAM] = COLUMNS(class_columns),
                        [AXIS_CLASS] = COLUMNS(class_columns),
                        [AXIS_THREAD] = COLUMNS(thread_columns),
                        [AXIS_METHOD] = COLUMNS(method_columns)};

const struct report_column *statistics_columns(enum measure_axis axis, size_t *count)
{
    *count = tables[axis].count;
    return tables[axis].columns;
}

struct report_table statistics_columns_of(const struct statistics *statistics,
                                          enum measure_axis axis)
{
    bool is_sampled = statistics->weights.interval_bytes != 0;
    return (struct report_table){.columns = tables[axis].columns,
                                 .count = tables[axis].count,
                                 .sampling = is_sampled ? statistics->weights.sampling : NULL};
}

struct report_table statistics_text_columns_of(const struct statistics *statistics,
                                               enum measure_axis axis)
{
    bool is_walked = statistics->eden.walks > 0 && statistics->weights.interval_bytes == 0;
    return axis == AXIS_CLASS && is_walked
               ? (struct report_table){.columns = walked_columns,
                                       .count = sizeof walked_columns / sizeof walked_columns[0]}
               : statistics_columns_of(statistics, axis);
}
