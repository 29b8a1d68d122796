/* SPDX-License-Identifier: Apache-2.0 */
/* Stores rows by name, computes medians over runs, and maps names of traces to rows. */
#include "converter/statistics/measures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/numbers/estimate_text.h"
#include "format/core/grow.h"

/* What a metric needs.  Without deaths all objects would count as alive. */
#define BIRTHS TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)
#define LIVES (BIRTHS | TRACE_KIND_BIT(EVENT_OBJECT_FREE))
#define CALLS TRACE_KIND_BIT(EVENT_METHOD_ENTRY)

/* Whose rows have a metric: those to which measure_trace.c, measure_heap() and leak_rows_measure()
 * add.
 */
#define OF_PROGRAM (1u << AXIS_PROGRAM)
#define OF_METHODS (1u << AXIS_METHOD)
#define OF_CALLS (OF_PROGRAM | OF_METHODS | 1u << AXIS_THREAD)
#define OF_LEAKS (OF_PROGRAM | 1u << AXIS_CLASS | 1u << AXIS_SITE)
#define OF_OBJECTS (OF_LEAKS | 1u << AXIS_THREAD)

const struct metric metrics[] = {
    {"allocated", "allocated", UNIT_BYTES, SUM_ALLOCATED_BYTES, METRICS_OF_TRACES, OF_OBJECTS, true,
     BIRTHS},
    {"allocated_objects", "objects", UNIT_COUNT, SUM_ALLOCATED_OBJECTS, METRICS_OF_TRACES,
     OF_OBJECTS, true, BIRTHS},
    {"freed", "freed", UNIT_BYTES, SUM_FREED_BYTES, METRICS_OF_TRACES, OF_OBJECTS, true, LIVES},
    {"freed_objects", "freed objects", UNIT_COUNT, SUM_FREED_OBJECTS, METRICS_OF_TRACES, OF_OBJECTS,
     true, LIVES},
    {"alive_at_peak", "at peak", UNIT_BYTES, SUM_PEAK_BYTES, METRICS_OF_TRACES, OF_OBJECTS, false,
     LIVES},
    {"alive_at_peak_objects", "objects at peak", UNIT_COUNT, SUM_PEAK_OBJECTS, METRICS_OF_TRACES,
     OF_OBJECTS, false, LIVES},
    {"alive_at_end", "at end", UNIT_BYTES, SUM_END_BYTES, METRICS_OF_TRACES, OF_OBJECTS, true,
     LIVES},
    {"alive_at_end_objects", "objects at end", UNIT_COUNT, SUM_END_OBJECTS, METRICS_OF_TRACES,
     OF_OBJECTS, true, LIVES},
    {"lifetime", "mean life", UNIT_TIME, SUM_LIVED_US, METRICS_OF_TRACES, OF_OBJECTS, false, LIVES},
    {"calls", "calls", UNIT_COUNT, SUM_CALLS, METRICS_OF_TRACES, OF_CALLS, false, CALLS},
    {"exceptions", "exceptions", UNIT_COUNT, SUM_EXCEPTIONS, METRICS_OF_TRACES,
     OF_PROGRAM | OF_METHODS, false, CALLS},
    {"own_time", "itself", UNIT_TIME, SUM_OWN_NS, METRICS_OF_TRACES, OF_PROGRAM | OF_METHODS, false,
     CALLS},
    {"time", "with inner", UNIT_TIME, SUM_TIME_NS, METRICS_OF_TRACES, OF_METHODS, false, CALLS},
    {"collections", "collections", UNIT_COUNT, SUM_COLLECTIONS, METRICS_OF_TRACES, OF_PROGRAM,
     false, TRACE_KIND_BIT(EVENT_OBJECT_FREE)},
    {"duration", "duration", UNIT_TIME, SUM_DURATION_NS, METRICS_OF_TRACES, OF_PROGRAM, true, 0},
    {"leaked", "leaked", UNIT_BYTES, SUM_LEAKED_BYTES, METRICS_OF_LEAKS, OF_LEAKS, true, LIVES},
    {"leaked_objects", "leaked objects", UNIT_COUNT, SUM_LEAKED_OBJECTS, METRICS_OF_LEAKS, OF_LEAKS,
     true, LIVES},
    {"growth", "growth", UNIT_BYTES, SUM_GROWTH_BYTES, METRICS_OF_LEAKS, OF_LEAKS, true, LIVES},
    {"alive", "alive", UNIT_BYTES, SUM_ALIVE_BYTES, METRICS_OF_HEAPS, OF_OBJECTS, true, LIVES},
    {"alive_objects", "alive objects", UNIT_COUNT, SUM_ALIVE_OBJECTS, METRICS_OF_HEAPS, OF_OBJECTS,
     true, LIVES},
};
const size_t metric_count = sizeof metrics / sizeof metrics[0];

const struct metric *metric_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < metric_count; i++)
        if (strlen(metrics[i].name) == length && memcmp(metrics[i].name, name, length) == 0)
            return &metrics[i];
    return NULL;
}

/* Computes a metric from the sums of a row, or of several rows added up.  Where a run has no clock,
 * nobody asks for times (measures_have()). */
static double metric_value(const struct metric *metric, const uint64_t sums[SUM_COUNT])
{
    if (metric->sum != SUM_LIVED_US)
        return (double) sums[metric->sum];
    return sums[SUM_FREED_OBJECTS] > 0
               ? time_of_age((double) sums[metric->sum] / (double) sums[SUM_FREED_OBJECTS], TIME_NS)
               : 0;
}

struct quantity metric_quantity(const struct metric *metric, double value)
{
    switch (metric->unit) {
    case UNIT_BYTES:
        return quantity_of_bytes(value);
    case UNIT_TIME:
        return quantity_of_ns(value);
    default:
        return quantity_of_count((uint64_t) (value + 0.5));
    }
}

struct quantity metric_change(const struct metric *metric, double value)
{
    struct quantity size = metric_quantity(metric, fabs(value)), out;
    snprintf(out.text, sizeof out.text, "%s%.30s",
             value > 0   ? "+"
             : value < 0 ? "-"
                         : "",
             size.text);
    return out;
}

const char *const axis_names[AXIS_COUNT] = {"program", "class", "site", "thread", "method"};
const char *const axis_plurals[AXIS_COUNT] = {"programs", "classes", "sites", "threads", "methods"};

bool measures_init(struct measures *measures, size_t run_capacity)
{
    static const struct step_bytes all = {(const uint8_t *) "program", 7};
    *measures = (struct measures){.run_capacity = run_capacity};
    measures->runs = calloc(run_capacity, sizeof *measures->runs);
    return measures->runs != NULL && measures_row(measures, AXIS_PROGRAM, 0, all) == 1;
}

void measures_reset(struct measures *measures)
{
    for (unsigned i = 0; i < AXIS_COUNT; i++) {
        name_index_reset(&measures->tables[i].index);
        name_index_reset(&measures->known[i]);
        free(measures->tables[i].sums);
        free(measures->tables[i].variances);
    }
    for (size_t i = 0; i < measures->run_count; i++)
        free(measures->runs[i].curve);
    free(measures->runs);
    *measures = (struct measures){.runs = NULL};
}

/* Makes room for the sums of all rows.  Returns false if memory runs out. */
static bool measures_make_room(const struct measures *measures, struct measure_table *table)
{
    size_t need = (table->index.count + 1) * measures->run_capacity * SUM_COUNT;
    return STEP_MAKE_ZEROED_ROOM(table->sums, table->sum_capacity, need) &&
           (!measures->has_estimates ||
            STEP_MAKE_ZEROED_ROOM(table->variances, table->variance_capacity, need));
}

void measures_report_mixture(const struct measure_run *first, const struct measure_run *second)
{
    bool is_first = first->sampling != NULL, is_second = second->sampling != NULL;
    if (is_first != is_second)
        report_line("%s has estimates from a sample of the new objects, %s all objects, with those "
                    "that existed before",
                    is_first ? first->path : second->path, is_first ? second->path : first->path);
}

bool measures_expect_estimates(struct measures *measures)
{
    bool ok = true;
    measures->has_estimates = true;
    for (unsigned i = 0; ok && i < AXIS_COUNT; i++)
        ok = measures_make_room(measures, &measures->tables[i]);
    return ok;
}

static struct step_bytes measures_site_of(const void *frames, uint64_t *row, char room[FRAME_TEXT])
{
    const struct measures *measures = frames;
    struct step_bytes text = measures_text(measures, AXIS_SITE, (uint32_t) *row);
    (void) room;
    *row = measures_parent(measures, (uint32_t) *row);
    return text;
}

static struct step_bytes measures_text_of(const void *table, uint64_t *row, char room[FRAME_TEXT])
{
    const struct measure_table *rows = table;
    struct step_bytes text = rows->index.entries[*row].text;
    (void) room;
    *row = 0;
    return text;
}

struct stack_text measures_name(const struct measures *measures, enum measure_axis axis,
                                uint32_t row, uint64_t depth)
{
    return axis == AXIS_SITE
               ? (struct stack_text){measures_site_of, measures, row, depth}
               : (struct stack_text){measures_text_of, &measures->tables[axis], row, 0};
}

void measures_put_name(const struct measures *measures, enum measure_axis axis, uint32_t row,
                       struct json_output *json)
{
    if (axis == AXIS_SITE)
        stack_put_json(measures_name(measures, axis, row, 0), json, axis_names[axis]);
    else
        json_bytes(json, axis_names[axis], measures_text(measures, axis, row));
}

uint32_t measures_row(struct measures *measures, enum measure_axis axis, uint32_t parent,
                      struct step_bytes text)
{
    struct measure_table *table = &measures->tables[axis];
    bool is_new = false;
    uint32_t row = name_index_put(&table->index, parent, text, &is_new);
    if (!is_new)
        return row;
    return measures_make_room(measures, table) ? row : 0;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *) left, b = *(const double *) right;
    return a < b ? -1 : a > b;
}

struct measured measured_of(double *values, size_t count)
{
    if (count == 0)
        return (struct measured){0};
    qsort(values, count, sizeof *values, by_value);
    double median =
        count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    return (struct measured){
        .runs = count, .median = median, .least = values[0], .most = values[count - 1]};
}

/* What an object that was not sampled adds to a number of objects. */
static double unseen(const struct metric *metric, const uint64_t *sums,
                     const struct sums_spread *spread, const struct measure_run *run)
{
    double size = spread->is_one_size ? (double) sums[metric->sum - 1] / (double) sums[metric->sum]
                                      : OBJECT_BYTES_LEAST;
    return estimate_unseen(size, run->widest_interval_bytes);
}

static struct estimate estimate_of_run(const struct metric *metric, const uint64_t *sums,
                                       const struct sums_spread *spread,
                                       const struct measure_run *run)
{
    double value = metric_value(metric, sums);
    if (run->sampling == NULL || spread->variances == NULL || metric->unit == UNIT_TIME)
        return estimate_exactly(value);
    if (value == 0 && metric->unit == UNIT_BYTES)
        return estimate_no_bytes(sampling_interval(run->sampling));
    return estimate_of(value, spread->variances[metric->sum], value > 0,
                       metric->unit == UNIT_COUNT ? unseen(metric, sums, spread, run) : 0,
                       run->sampling);
}

bool measures_row_has_one_size(const struct measures *measures, enum measure_axis axis,
                               uint32_t row)
{
    return axis == AXIS_CLASS && class_has_one_size(measures_text(measures, axis, row));
}

static bool is_run_biased(const struct measure_run *run)
{
    return run->sampling != NULL && run->sampling->is_biased;
}

bool measures_are_biased(const struct measures *measures)
{
    bool is_biased = false;
    for (size_t i = 0; i < measures->run_count; i++)
        is_biased |= is_run_biased(&measures->runs[i]);
    return is_biased;
}

struct measured measured_of_runs(const struct measures *measures, const struct metric *metric,
                                 enum measure_side side, measured_sums sums_of, const void *user)
{
    double values[MEASURE_RUNS_MOST], least = INFINITY, most = 0, scale = 0;
    size_t count = 0;
    bool is_estimate = false, is_biased = false;
    for (size_t i = 0; i < measures->run_count && count < MEASURE_RUNS_MOST; i++) {
        const struct measure_run *run = &measures->runs[i];
        struct sums_spread spread = {.variances = NULL};
        if (run->side != side)
            continue;
        const uint64_t *sums = sums_of(user, i, &spread);
        struct estimate estimate = estimate_of_run(metric, sums, &spread, run);
        values[count++] = estimate.value;
        is_estimate |= run->sampling != NULL;
        is_biased |= is_run_biased(run);
        least = fmin(least, estimate.low);
        most = fmax(most, estimate.high);
        scale = fmax(scale, estimate.scale);
    }
    struct measured measured = measured_of(values, count);
    if (is_estimate) {
        measured.is_estimate = true;
        measured.is_biased = is_biased;
        measured.least = least;
        measured.most = most;
        measured.scale = scale;
    }
    return measured;
}

struct row_sums {
    const struct measures *measures;
    enum measure_axis axis;
    uint32_t row;
};

static const uint64_t *sums_of_row(const void *user, size_t run, struct sums_spread *spread)
{
    const struct row_sums *row = user;
    spread->variances = measures_variances(row->measures, row->axis, row->row, run);
    spread->is_one_size = measures_row_has_one_size(row->measures, row->axis, row->row);
    return measures_sums(row->measures, row->axis, row->row, run);
}

struct measured measures_get(const struct measures *measures, enum measure_axis axis, uint32_t row,
                             const struct metric *metric, enum measure_side side)
{
    const struct row_sums user = {measures, axis, row};
    return measured_of_runs(measures, metric, side, sums_of_row, &user);
}

struct measured_pair measures_pair(const struct measures *measures, enum measure_axis axis,
                                   uint32_t row, const struct metric *metric)
{
    struct measured before = measures_get(measures, axis, row, metric, SIDE_BEFORE);
    struct measured after = measures_get(measures, axis, row, metric, SIDE_AFTER);
    return (struct measured_pair){before, after, after.median - before.median};
}

/* ---- changes ---- */

struct estimate measured_estimate(const struct measured *measured)
{
    return (struct estimate){measured->median, measured->least, measured->most, measured->scale};
}

struct estimate measured_change(const struct measured *before, const struct measured *after)
{
    return estimate_difference(measured_estimate(after), measured_estimate(before));
}

bool measured_is_noise(const struct measured *before, const struct measured *after)
{
    if (before->is_estimate || after->is_estimate)
        return estimate_contains(measured_change(before, after), 0);
    return (before->runs > 1 || after->runs > 1) && before->least <= after->most &&
           after->least <= before->most;
}

void measured_print_range(const struct metric *metric, const struct measured *measured, FILE *out)
{
    if (measured->is_estimate && isinf(measured->most)) {
        fputs(" (no sample)", out);
        return;
    }
    if (measured->runs <= 1 && !measured->is_estimate)
        return;
    fprintf(out, " (%s to %s", metric_quantity(metric, measured->least).text,
            metric_quantity(metric, measured->most).text);
    if (measured->runs > 1)
        fprintf(out, " in %zu runs", measured->runs);
    if (measured->is_estimate)
        fputs(measured->is_biased ? ", biased" : " at 95 %", out);
    fputc(')', out);
}

void measured_print_change(const struct metric *metric, const struct measured *before,
                           const struct measured *after, FILE *out)
{
    struct estimate change = measured_change(before, after);
    if (isinf(change.low) || isinf(change.high))
        fputs(" (no sample)", out);
    else
        fprintf(out, " (%s to %s%s)", metric_change(metric, change.low).text,
                metric_change(metric, change.high).text,
                before->is_biased || after->is_biased ? ", biased" : " at 95 %");
}

#define DIGITS "0123456789"
#define HEX DIGITS "abcdef"
#define WORD DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* After `mark`, characters of `varying` are replaced by `instead`. */
static const struct rule {
    const char *mark;
    const char *varying;
    const char *instead;
} rules[] = {
    {".0x", HEX, NULL}, /* hidden classes with their address: removed */
    {"+0x", HEX, NULL},
    {"/0x", HEX, NULL},
    {"$$Lambda$", DIGITS "/", NULL},
    {"$$Lambda/", HEX "x", NULL},
    {"$Proxy", DIGITS, "#"},
    {"jdk/proxy", DIGITS, "#"},
    {"GeneratedMethodAccessor", DIGITS, "#"},
    {"GeneratedConstructorAccessor", DIGITS, "#"},
    {"GeneratedSerializationConstructorAccessor", DIGITS, "#"},
    {"CGLIB$$", HEX, "#"},
    {"$ByteBuddy$", WORD, "#"},
    {"$MockitoMock$", WORD, "#"},
    {"$HibernateProxy$", WORD, "#"},
    {"$auxiliary$", WORD, "#"},
};

/* Returns the rule whose mark is at this position, and the length of the varying part after it. */
static const struct rule *rule_at(struct step_bytes name, size_t at, size_t *mark, size_t *varies)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        *mark = strlen(rules[i].mark);
        if (name.length - at <= *mark || memcmp(name.data + at, rules[i].mark, *mark) != 0)
            continue;
        size_t end = at + *mark;
        while (end < name.length && name.data[end] != 0 &&
               strchr(rules[i].varying, name.data[end]) != NULL)
            end++;
        *varies = end - at - *mark;
        if (*varies > 0)
            return &rules[i];
    }
    return NULL;
}

static size_t measures_append(char *out, size_t used, size_t out_size, const void *text,
                              size_t length)
{
    if (length > out_size - used)
        length = out_size - used;
    if (length > 0)
        memcpy(out + used, text, length);
    return used + length;
}

/* Each site asks for the name of its class, and a name may have 65,535 bytes: only the first are
 * looked at, which is more than any result has room for. */
#define CLASS_NAME_READ (2 * LASTING_NAME_MOST)

size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size)
{
    size_t used = 0;
    if (name.length > CLASS_NAME_READ)
        name.length = CLASS_NAME_READ;
    for (size_t at = 0; at < name.length && used < out_size;) {
        size_t mark, varies;
        const struct rule *rule = rule_at(name, at, &mark, &varies);
        if (rule == NULL) {
            used = measures_append(out, used, out_size, name.data + at++, 1);
            continue;
        }
        /* Without a replacement, the separator before the varying part is removed as well. */
        bool is_named = rule->mark[0] == '$';
        if (rule->instead != NULL)
            used = measures_append(out, used, out_size, rule->mark, mark);
        else if (is_named)
            used = measures_append(out, used, out_size, rule->mark, mark - 1);
        if (rule->instead != NULL)
            used = measures_append(out, used, out_size, rule->instead, strlen(rule->instead));
        at += mark + varies;
    }
    return used;
}

size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size)
{
    size_t used = 0;
    for (size_t at = 0; at < name.length && used < out_size; at++) {
        bool is_digit = name.data[at] >= '0' && name.data[at] <= '9';
        if (!is_digit)
            used = measures_append(out, used, out_size, name.data + at, 1);
        else if (at == 0 || name.data[at - 1] < '0' || name.data[at - 1] > '9')
            used = measures_append(out, used, out_size, "#", 1);
    }
    return used;
}

static struct step_bytes name_text(const char *text, size_t length)
{
    return (struct step_bytes){(const uint8_t *) text, length};
}

static size_t class_text(const struct measures *measures, const struct trace_names *names,
                         uint32_t id, char *out, size_t out_size)
{
    struct step_bytes name = trace_class_of(names, id)->name;
    if (!measures->exact_names)
        return lasting_class_name(name, out, out_size);
    return measures_append(out, 0, out_size, name.data, name.length);
}

uint32_t measure_class_row(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[LASTING_NAME_MOST];
    return measures_row(measures, AXIS_CLASS, 0,
                        name_text(text, class_text(measures, names, id, text, sizeof text)));
}

uint32_t measure_thread_row(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[LASTING_NAME_MOST];
    const struct trace_thread *thread = trace_thread_of(names, id);
    size_t length;
    if (id == 0)
        length = (size_t) snprintf(text, sizeof text, "(the VM, or not known)");
    else if (measures->exact_names)
        length =
            (size_t) snprintf(text, sizeof text, "%" PRIu64 " %.*s", thread->number,
                              (int) (thread->name.length < 900 ? thread->name.length : 900),
                              thread->name.data != NULL ? (const char *) thread->name.data : "");
    else
        length = thread->name.length > 0 ? lasting_thread_name(thread->name, text, sizeof text)
                                         : (size_t) snprintf(text, sizeof text, "(no name)");
    return measures_row(measures, AXIS_THREAD, 0, name_text(text, length));
}

size_t measure_method_text(const struct measures *measures, const struct trace_names *names,
                           uint32_t id, char *out, size_t out_size)
{
    const struct trace_method *method = trace_method_of(names, id);
    size_t used = method->class_id != 0
                      ? class_text(measures, names, method->class_id, out, out_size / 2)
                      : 0;
    if (used > 0)
        out[used++] = '.';
    return measures_append(out, used, out_size, method->name.data, method->name.length);
}

uint32_t *measure_sites(struct measures *measures, const struct heap_sites *sites)
{
    static const struct step_bytes nowhere = {(const uint8_t *) "(no stack)", 10};
    char text[LASTING_NAME_MOST];
    uint32_t *rows = calloc(sites->count, sizeof *rows);
    bool ok = rows != NULL;
    for (size_t i = 1; ok && i < sites->count; i++) {
        const struct heap_site *site = &sites->items[i];
        size_t used =
            measure_method_text(measures, sites->names, site->method_id, text, sizeof text - 24);
        if (measures->with_lines)
            used += frame_place_text(
                (struct frame_place){.line = site->line, .bytecode = site->bytecode}, text + used,
                sizeof text - used);
        rows[i] = measures_row(measures, AXIS_SITE, rows[site->parent], name_text(text, used));
        ok = rows[i] != 0;
    }
    if (ok)
        rows[0] = measures_row(measures, AXIS_SITE, 0, nowhere);
    if (ok && rows[0] != 0)
        return rows;
    free(rows);
    return NULL;
}

/* ---- stacks of different depth ---- */

static uint64_t depth_of(const struct measures *measures, uint32_t row)
{
    uint64_t depth = 0;
    for (; row != 0; row = measures_parent(measures, row))
        depth++;
    return depth;
}

/* Returns the row of the site's innermost `depth` frames, or 0 if memory runs out. */
static uint32_t cut_row(struct measures *measures, uint32_t row, uint64_t depth)
{
    uint32_t parent = measures_parent(measures, row), cut_parent = 0;
    if (parent != 0 && depth > 1) {
        cut_parent = cut_row(measures, parent, depth - 1);
        if (cut_parent == 0)
            return 0;
    }
    return measures_row(measures, AXIS_SITE, cut_parent, measures_text(measures, AXIS_SITE, row));
}

static void move_sums(struct measures *measures, uint32_t from, uint32_t to)
{
    for (size_t run = 0; run < measures->run_count; run++) {
        uint64_t *old = measures_sums(measures, AXIS_SITE, from, run);
        uint64_t *sums = measures_sums(measures, AXIS_SITE, to, run);
        double *old_variances = measures_variances(measures, AXIS_SITE, from, run);
        double *variances = measures_variances(measures, AXIS_SITE, to, run);
        for (size_t i = 0; i < SUM_COUNT; i++) {
            sums[i] += old[i];
            old[i] = 0;
        }
        for (size_t i = 0; variances != NULL && i < SUM_COUNT; i++) {
            variances[i] += old_variances[i];
            old_variances[i] = 0;
        }
    }
}

bool measures_cut_sites(struct measures *measures, uint64_t depth)
{
    size_t count = measures_count(measures, AXIS_SITE);
    for (uint32_t row = 1; row <= count; row++) {
        if (depth_of(measures, row) <= depth)
            continue;
        uint32_t cut = cut_row(measures, row, depth);
        if (cut == 0)
            return false;
        move_sums(measures, row, cut);
    }
    return true;
}
