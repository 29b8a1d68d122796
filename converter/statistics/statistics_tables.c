/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of statistics: their columns, which rows they have, and their order. */
#include <inttypes.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/report_table.h"
#include "converter/cli/table_text.h"
#include "converter/numbers/estimate_text.h"
#include "converter/statistics/statistics_report.h"

/* A row of any of the tables. */
struct table_row {
    const struct statistics *statistics;
    uint32_t id;
    const void *totals;            /* struct class_totals, thread_totals or method_totals */
    struct sampled_totals sampled; /* of a class or a thread, with what its class says of sizes */
};

/* Returns the sums if the trace is sampled, else NULL. */
static const struct sample_sums *samples_of(const struct table_row *row,
                                            const struct sample_sums *sums)
{
    return row->statistics->weights.interval_bytes != 0 ? sums : NULL;
}

static bool is_recorded(const struct table_row *row, unsigned kind)
{
    return (row->statistics->not_recorded & TRACE_KIND_BIT(kind)) == 0;
}

/* ---- objects of a class, or of all ---- */

static const struct object_totals *objects_of(const struct table_row *row)
{
    return &((const struct class_totals *) row->totals)->objects;
}

/* Returns the amount as one that needs deaths. */
static struct amount of_deaths(const struct table_row *row, struct amount amount)
{
    return row->statistics->deaths.are_missing ? amount_not_recorded(amount) : amount;
}

static struct amount class_samples(const void *user)
{
    const struct table_row *row = user;
    return amount_exact(row->sampled.allocated.samples, AMOUNT_OBJECTS);
}

static struct amount class_allocated_objects(const void *user)
{
    const struct table_row *row = user;
    return amount_of_objects(objects_of(row)->allocated_objects,
                             samples_of(row, &row->sampled.allocated));
}

static struct amount class_allocated_bytes(const void *user)
{
    const struct table_row *row = user;
    return amount_of_bytes(objects_of(row)->allocated_bytes,
                           samples_of(row, &row->sampled.allocated));
}

static struct amount class_existing_objects(const void *user)
{
    return amount_exact(objects_of(user)->existing_objects, AMOUNT_OBJECTS);
}

static struct amount class_existing_bytes(const void *user)
{
    return amount_exact(objects_of(user)->existing_bytes, AMOUNT_BYTES);
}

static struct amount class_freed_samples(const void *user)
{
    const struct table_row *row = user;
    return amount_exact(row->sampled.freed.samples, AMOUNT_OBJECTS);
}

static struct amount class_freed_objects(const void *user)
{
    const struct table_row *row = user;
    return of_deaths(row, amount_of_objects(objects_of(row)->freed_objects,
                                            samples_of(row, &row->sampled.freed)));
}

static struct amount class_freed_bytes(const void *user)
{
    const struct table_row *row = user;
    return of_deaths(
        row, amount_of_bytes(objects_of(row)->freed_bytes, samples_of(row, &row->sampled.freed)));
}

static struct amount class_live_objects(const void *user)
{
    const struct table_row *row = user;
    const struct sample_sums live = sampled_totals_live(&row->sampled);
    return of_deaths(row,
                     amount_of_objects(live_objects_of(objects_of(row)), samples_of(row, &live)));
}

static struct amount class_live_bytes(const void *user)
{
    const struct table_row *row = user;
    const struct sample_sums live = sampled_totals_live(&row->sampled);
    return of_deaths(row, amount_of_bytes(live_bytes_of(objects_of(row)), samples_of(row, &live)));
}

/* ---- lifetimes of its objects ---- */

static const struct lifetimes *lifetimes_of(const void *user)
{
    const struct table_row *row = user;
    return &((const struct class_totals *) row->totals)->lifetimes;
}

static enum amount_unit unit_of_lifetimes(const void *user)
{
    const struct statistics *statistics = ((const struct table_row *) user)->statistics;
    return statistics->lifetimes_in_bytes ? AMOUNT_BYTES : amount_unit_of_times(statistics->unit);
}

static struct amount lifetime(const void *user, double value)
{
    enum amount_unit unit = unit_of_lifetimes(user);
    return lifetimes_of(user)->count > 0 ? amount_real(value, unit) : amount_none(unit);
}

static struct amount lifetime_count(const void *user)
{
    uint64_t count = lifetimes_of(user)->count;
    return count > 0 ? amount_exact(count, AMOUNT_OBJECTS) : amount_none(AMOUNT_OBJECTS);
}

static struct amount lifetime_mean(const void *user)
{
    return lifetime(user, lifetimes_mean(lifetimes_of(user)));
}

static struct amount lifetime_p50(const void *user)
{
    return lifetime(user, lifetimes_percentile(lifetimes_of(user), 0.5));
}

static struct amount lifetime_p90(const void *user)
{
    return lifetime(user, lifetimes_percentile(lifetimes_of(user), 0.9));
}

static struct amount lifetime_p99(const void *user)
{
    return lifetime(user, lifetimes_percentile(lifetimes_of(user), 0.99));
}

static struct amount lifetime_most(const void *user)
{
    return amount_exact(lifetimes_of(user)->most, unit_of_lifetimes(user));
}

static struct amount lifetime_of_samples(const void *user)
{
    const struct sample_lives *lives = &((const struct table_row *) user)->sampled.lives;
    enum amount_unit unit = unit_of_lifetimes(user);
    return lives->samples > 0 ? amount_estimated(estimate_life(lives), unit) : amount_none(unit);
}

/* Their object in JSON. */
static const char lifetimes[] = "lifetimes";

static const struct table_column class_columns[] = {
    {"samples", "samples", 8, TABLE_DIGITS, TABLE_SAMPLED_TEXT | TABLE_SAMPLED_JSON, class_samples,
     NULL},
    {"allocated_objects", "allocated", 12, TABLE_RANGE, TABLE_EVERYWHERE, class_allocated_objects,
     NULL},
    {"allocated_bytes", "bytes", 14, TABLE_RANGE, TABLE_EVERYWHERE, class_allocated_bytes, NULL},
    {"existing_objects", NULL, 0, TABLE_DIGITS, TABLE_JSON, class_existing_objects, NULL},
    {"existing_bytes", NULL, 0, TABLE_DIGITS, TABLE_JSON, class_existing_bytes, NULL},
    {"freed_samples", NULL, 0, TABLE_DIGITS, TABLE_SAMPLED_JSON, class_freed_samples, NULL},
    {"freed_objects", "freed", 12, TABLE_DIGITS, TABLE_EVERYWHERE, class_freed_objects, NULL},
    {"freed_bytes", "bytes", 14, TABLE_DIGITS, TABLE_TEXT | TABLE_BOTH_JSONS, class_freed_bytes,
     NULL},
    {"live_objects", "at end", 10, TABLE_DIGITS, TABLE_EVERYWHERE, class_live_objects, NULL},
    {"live_bytes", "bytes", 12, TABLE_DIGITS, TABLE_TEXT | TABLE_BOTH_JSONS, class_live_bytes,
     NULL},
    {"count", NULL, 0, TABLE_DIGITS, TABLE_JSON, lifetime_count, lifetimes},
    {"mean", "mean life", 10, TABLE_SCALED, TABLE_TEXT | TABLE_JSON, lifetime_mean, lifetimes},
    {"p50", "median <", 10, TABLE_SCALED, TABLE_TEXT | TABLE_JSON, lifetime_p50, lifetimes},
    {"p90", NULL, 0, TABLE_SCALED, TABLE_JSON, lifetime_p90, lifetimes},
    {"p99", NULL, 0, TABLE_SCALED, TABLE_JSON, lifetime_p99, lifetimes},
    {"most", NULL, 0, TABLE_SCALED, TABLE_JSON, lifetime_most, lifetimes},
    {"mean_lifetime_ns", "mean life", 10, TABLE_SCALED, TABLE_SAMPLED_TEXT | TABLE_SAMPLED_JSON,
     lifetime_of_samples, NULL},
};

/* ---- threads ---- */

static const struct thread_totals *thread_of(const void *user)
{
    return ((const struct table_row *) user)->totals;
}

static struct amount time_in(const void *user, uint64_t time, bool is_known)
{
    enum amount_unit unit =
        amount_unit_of_times(((const struct table_row *) user)->statistics->unit);
    return is_known ? amount_exact(time, unit) : amount_none(unit);
}

static struct amount thread_start(const void *user)
{
    return time_in(user, thread_of(user)->start_ns, thread_of(user)->has_start);
}

static struct amount thread_end(const void *user)
{
    return time_in(user, thread_of(user)->end_ns, thread_of(user)->has_end);
}

static struct amount of_births(const struct table_row *row, struct amount amount)
{
    return is_recorded(row, EVENT_OBJECT_ALLOC) ? amount : amount_not_recorded(amount);
}

static struct amount thread_allocated_objects(const void *user)
{
    const struct table_row *row = user;
    return of_births(row, amount_of_objects(thread_of(row)->allocated_objects,
                                            samples_of(row, &row->sampled.allocated)));
}

static struct amount thread_allocated_bytes(const void *user)
{
    const struct table_row *row = user;
    return of_births(row, amount_of_bytes(thread_of(row)->allocated_bytes,
                                          samples_of(row, &row->sampled.allocated)));
}

static struct amount thread_calls(const void *user)
{
    struct amount calls = amount_exact(thread_of(user)->calls, AMOUNT_OBJECTS);
    return is_recorded(user, EVENT_METHOD_ENTRY) ? calls : amount_not_recorded(calls);
}

static const struct table_column thread_columns[] = {
    {"start_ns", NULL, 0, TABLE_SCALED, TABLE_JSON, thread_start, NULL},
    {"end_ns", NULL, 0, TABLE_SCALED, TABLE_JSON, thread_end, NULL},
    {"samples", "samples", 8, TABLE_DIGITS, TABLE_SAMPLED_TEXT | TABLE_SAMPLED_JSON, class_samples,
     NULL},
    {"allocated_objects", "allocated", 12, TABLE_RANGE, TABLE_EVERYWHERE, thread_allocated_objects,
     NULL},
    {"allocated_bytes", "bytes", 14, TABLE_RANGE, TABLE_EVERYWHERE, thread_allocated_bytes, NULL},
    {"calls", "calls", 12, TABLE_DIGITS, TABLE_TEXT | TABLE_JSON, thread_calls, NULL},
    {NULL, "start", 10, TABLE_SCALED, TABLE_TEXT, thread_start, NULL},
    {NULL, "end", 10, TABLE_SCALED, TABLE_TEXT, thread_end, NULL},
};

/* ---- methods ---- */

static const struct method_totals *method_of(const void *user)
{
    return ((const struct table_row *) user)->totals;
}

static struct amount method_calls(const void *user)
{
    return amount_exact(method_of(user)->calls, AMOUNT_OBJECTS);
}

static struct amount method_exceptions(const void *user)
{
    return amount_exact(method_of(user)->exceptions, AMOUNT_OBJECTS);
}

static bool has_clock(const void *user)
{
    return ((const struct table_row *) user)->statistics->unit != TIME_STEPS;
}

static struct amount method_exclusive(const void *user)
{
    return time_in(user, method_of(user)->exclusive_ns, has_clock(user));
}

static struct amount method_inclusive(const void *user)
{
    return time_in(user, method_of(user)->inclusive_ns, has_clock(user));
}

static const struct table_column method_columns[] = {
    {"calls", "calls", 12, TABLE_DIGITS, TABLE_EVERYWHERE, method_calls, NULL},
    {"exceptions", "exceptions", 10, TABLE_DIGITS, TABLE_EVERYWHERE, method_exceptions, NULL},
    {"exclusive_ns", "itself", 10, TABLE_SCALED, TABLE_EVERYWHERE, method_exclusive, NULL},
    {"inclusive_ns", "with inner", 10, TABLE_SCALED, TABLE_EVERYWHERE, method_inclusive, NULL},
};

/* ---- names ---- */

static void print_class_name(const struct statistics *statistics, uint32_t id)
{
    print_shown(trace_class_of(statistics->names, id)->name, stdout);
}

static void print_thread_name(const struct statistics *statistics, uint32_t id)
{
    const struct trace_thread *thread = trace_thread_of(statistics->names, id);
    printf("%" PRIu64 " ", id == 0 ? 0 : thread->number);
    if (id == 0)
        printf("(the VM, or not known)");
    else
        print_shown(thread->name, stdout);
}

static void print_method_name(const struct statistics *statistics, uint32_t id)
{
    const struct trace_method *method = trace_method_of(statistics->names, id);
    print_class_name(statistics, method->class_id);
    putchar('.');
    print_shown(method->name, stdout);
    print_shown(method->descriptor, stdout);
}

static void put_class_name(struct json_output *json, const struct statistics *statistics,
                           uint32_t id)
{
    json_bytes(json, "name", trace_class_of(statistics->names, id)->name);
    json_number(json, "loader", trace_class_of(statistics->names, id)->loader);
}

void statistics_put_thread_name(struct json_output *json, const struct statistics *statistics,
                                uint32_t id)
{
    const struct trace_thread *names = trace_thread_of(statistics->names, id);
    json_number(json, "thread", id == 0 ? 0 : names->number);
    json_bytes(json, "name", names->name);
}

static void put_thread_name(struct json_output *json, const struct statistics *statistics,
                            uint32_t id)
{
    const struct trace_thread *names = trace_thread_of(statistics->names, id);
    statistics_put_thread_name(json, statistics, id);
    if (statistics->weights.interval_bytes != 0)
        return;
    json_bool(json, "daemon", (names->flags & TRACE_THREAD_DAEMON) != 0);
    json_bool(json, "virtual", (names->flags & TRACE_THREAD_VIRTUAL) != 0);
}

static void put_method_name(struct json_output *json, const struct statistics *statistics,
                            uint32_t id)
{
    const struct trace_method *method = trace_method_of(statistics->names, id);
    json_bytes(json, "class", trace_class_of(statistics->names, method->class_id)->name);
    json_bytes(json, "method", method->name);
    json_bytes(json, "descriptor", method->descriptor);
}

/* ---- rows ---- */

static struct table_row class_row(const struct statistics *statistics, uint32_t id,
                                  const void *totals)
{
    const struct class_totals *class = totals;
    struct step_bytes name = trace_class_of(statistics->names, id)->name;
    struct table_row row = {statistics, id, totals, class->sampled};
    row.sampled.allocated = sample_sums_of_class(row.sampled.allocated, name);
    row.sampled.freed = sample_sums_of_class(row.sampled.freed, name);
    row.sampled.live = sample_sums_of_class(row.sampled.live, name);
    return row;
}

static struct table_row thread_row(const struct statistics *statistics, uint32_t id,
                                   const void *totals)
{
    const struct thread_totals *thread = totals;
    return (struct table_row){statistics, id, totals, {.allocated = thread->sampled}};
}

static struct table_row method_row(const struct statistics *statistics, uint32_t id,
                                   const void *totals)
{
    return (struct table_row){.statistics = statistics, .id = id, .totals = totals};
}

/* ---- which rows, and their order ---- */

static int compare_ranks(const void *left, const void *right)
{
    const struct ranked_id *a = left;
    const struct ranked_id *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint64_t sampled_key(enum statistics_order order, const struct sampled_totals *totals)
{
    struct sample_sums live = sampled_totals_live(totals);
    double key = order == ORDER_LIVE    ? live.bytes
                 : order == ORDER_BYTES ? totals->allocated.bytes
                                        : totals->allocated.objects;
    return key < 1e18 ? (uint64_t) key : UINT64_C(1000000000000000000);
}

static bool class_key(const struct statistics_report *report, const void *entry,
                      struct ranked_id *row)
{
    const struct class_totals *class = entry;
    const struct object_totals *totals = &class->objects;
    if (report->statistics->weights.interval_bytes != 0) {
        row->key = sampled_key(report->order, &class->sampled);
        return object_totals_have_objects(totals) || totals->freed_objects > 0;
    }
    bool has_sizes = object_totals_have_sizes(&report->statistics->all.objects);
    if (report->order == ORDER_LIVE)
        row->key = has_sizes ? live_bytes_of(totals) : live_objects_of(totals);
    else if (report->order == ORDER_BYTES && has_sizes)
        row->key = totals->allocated_bytes;
    else
        row->key = totals->allocated_objects;
    return object_totals_have_objects(totals) || totals->freed_objects > 0;
}

/* An estimate of a hostile trace may be more than any number has room for. */
#define BEYOND_ALL 18446744073709551616.0

static bool thread_key(const struct statistics_report *report, const void *entry,
                       struct ranked_id *row)
{
    const struct thread_totals *totals = entry;
    row->key =
        report->order == ORDER_BYTES && object_totals_have_sizes(&report->statistics->all.objects)
            ? totals->allocated_bytes
            : totals->allocated_objects;
    if (report->statistics->weights.interval_bytes != 0)
        row->key =
            totals->sampled.bytes < BEYOND_ALL ? (uint64_t) totals->sampled.bytes : UINT64_MAX;
    if (!object_totals_have_objects(&report->statistics->all.objects))
        row->key = totals->calls;
    return totals->is_used;
}

static bool method_key(const struct statistics_report *report, const void *entry,
                       struct ranked_id *row)
{
    (void) report;
    const struct method_totals *totals = entry;
    row->key = totals->exclusive_ns;
    row->calls = totals->calls;
    return totals->calls > 0;
}

#define COLUMNS(of) of, sizeof(of) / sizeof(of)[0]

/* The id_table of each axis, the key of its rows (false: the row is not shown), and what is shown.
 */
static const struct {
    const char *name, *name_title;
    size_t table;
    bool (*key_of)(const struct statistics_report *report, const void *entry,
                   struct ranked_id *row);
    struct table_row (*row_of)(const struct statistics *statistics, uint32_t id,
                               const void *totals);
    const struct table_column *columns;
    size_t column_count;
    void (*print_name)(const struct statistics *statistics, uint32_t id);
    void (*put_name)(struct json_output *json, const struct statistics *statistics, uint32_t id);
} axes[] = {
    [BY_CLASS] = {"classes", "class", offsetof(struct statistics, classes), class_key, class_row,
                  COLUMNS(class_columns), print_class_name, put_class_name},
    [BY_THREAD] = {"threads", "thread", offsetof(struct statistics, threads), thread_key,
                   thread_row, COLUMNS(thread_columns), print_thread_name, put_thread_name},
    [BY_METHOD] = {"methods", "method", offsetof(struct statistics, methods), method_key,
                   method_row, COLUMNS(method_columns), print_method_name, put_method_name},
};

static const struct id_table *totals_by(const struct statistics *statistics,
                                        enum statistics_axis axis)
{
    return (const void *) ((const char *) statistics + axes[axis].table);
}

bool statistics_rank(const struct statistics_report *report, enum statistics_axis axis,
                     struct ranking *ranking)
{
    const struct id_table *table = totals_by(report->statistics, axis);
    const void *entry;
    size_t most = 1;
    for (uint32_t i = 0; id_table_next(table, &i); i++)
        most++;
    *ranking = (struct ranking){.rows = calloc(most, sizeof *ranking->rows)};
    if (ranking->rows == NULL)
        return false;
    for (uint32_t i = 0; (entry = id_table_next(table, &i)) != NULL; i++) {
        struct ranked_id *row = &ranking->rows[ranking->count];
        *row = (struct ranked_id){.id = i};
        ranking->count += axes[axis].key_of(report, entry, row);
    }
    if (ranking->count > 0)
        qsort(ranking->rows, ranking->count, sizeof *ranking->rows, compare_ranks);
    ranking->shown = table_shown(report->top, ranking->count);
    return true;
}

/* ---- printing ---- */

static struct report_table table_by(const struct statistics *statistics, enum statistics_axis axis)
{
    bool is_sampled = statistics->weights.interval_bytes != 0;
    return (struct report_table){
        .columns = axes[axis].columns,
        .count = axes[axis].column_count,
        .is_sampled = is_sampled,
        .of_range = is_sampled ? estimate_range_title(statistics->weights.sampling) : NULL};
}

static struct table_row row_by(const struct statistics *statistics, enum statistics_axis axis,
                               uint32_t id)
{
    return axes[axis].row_of(statistics, id, id_table_find(totals_by(statistics, axis), id));
}

bool statistics_print_table(const struct statistics_report *report, enum statistics_axis axis)
{
    const struct report_table table = table_by(report->statistics, axis);
    struct ranking ranking;
    if (!statistics_rank(report, axis, &ranking))
        return false;
    if (ranking.count > 0) {
        putchar('\n');
        report_table_print_head(&table, stdout);
        printf(" %s\n", axes[axis].name_title);
    }
    for (size_t i = 0; i < ranking.shown; i++) {
        const struct table_row row = row_by(report->statistics, axis, ranking.rows[i].id);
        report_table_print_row(&table, &row, stdout);
        putchar(' ');
        axes[axis].print_name(row.statistics, row.id);
        putchar('\n');
    }
    table_print_rest(ranking.shown, ranking.count, axes[axis].name);
    free(ranking.rows);
    return true;
}

bool statistics_put_table(const struct statistics_report *report, enum statistics_axis axis,
                          struct json_output *json)
{
    const struct report_table table = table_by(report->statistics, axis);
    struct ranking ranking;
    if (!statistics_rank(report, axis, &ranking))
        return false;
    json_begin_array(json, axes[axis].name);
    for (size_t i = 0; i < ranking.shown; i++) {
        const struct table_row row = row_by(report->statistics, axis, ranking.rows[i].id);
        json_begin_object(json, NULL);
        axes[axis].put_name(json, row.statistics, row.id);
        report_table_put_row(&table, &row, json);
        json_end_object(json);
    }
    json_end_array(json);
    free(ranking.rows);
    return true;
}

void statistics_put_totals(const struct statistics *statistics, struct json_output *json)
{
    const struct report_table table = table_by(statistics, BY_CLASS);
    const struct table_row all = {
        .statistics = statistics, .totals = &statistics->all, .sampled = statistics->all.sampled};
    report_table_put_row(&table, &all, json);
}
