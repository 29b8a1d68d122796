/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the results of a heap tracker and of the call statistics under stable names. */
#include "converter/statistics/measure_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/numbers/quantity.h"
#include "converter/statistics/lasting_names.h"

static void measure_trace_add(struct measures *measures, enum measure_axis axis, uint32_t row,
                              const struct heap_row *row_of_heap)
{
    const struct heap_amount *live = &row_of_heap->live;
    double *variances = measures_variances(measures, axis, row, measures->run_count);
    uint64_t *sums = measures_sums(measures, axis, row, measures->run_count);
    sums[SUM_ALIVE_BYTES] += live->bytes;
    sums[SUM_ALIVE_OBJECTS] += live->objects;
    if (row_of_heap->samples == NULL || variances == NULL)
        return;
    variances[SUM_ALIVE_BYTES] += row_of_heap->samples->live.bytes_variance;
    variances[SUM_ALIVE_OBJECTS] += row_of_heap->samples->live.objects_variance;
}

static double widest_interval(const struct heap_snapshot *snapshot)
{
    double interval = (double) sampling_interval(snapshot->sampling);
    interval = sample_sums_interval(&snapshot->all_samples.allocated, interval);
    return sample_sums_interval(&snapshot->all_samples.live, interval);
}

bool measure_heap(struct measures *measures, const struct heap_sites *sites,
                  const struct heap_snapshot *snapshot, enum measure_side side)
{
    uint32_t *site_rows = measure_sites(measures, sites);
    bool ok =
        site_rows != NULL && (snapshot->samples == NULL || measures_expect_estimates(measures));
    for (size_t i = 0; ok && i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        uint32_t class_row = measure_class_row(measures, sites->names, row->key.class_id);
        uint32_t thread = measure_thread_row(measures, sites->names, row->key.thread_id);
        ok = class_row != 0 && thread != 0;
        if (!ok)
            break;
        measure_trace_add(measures, AXIS_PROGRAM, 1, row);
        measure_trace_add(measures, AXIS_CLASS, class_row, row);
        measure_trace_add(measures, AXIS_THREAD, thread, row);
        measure_trace_add(measures, AXIS_SITE, site_rows[row->key.site], row);
    }
    free(site_rows);
    if (snapshot->deaths.are_missing)
        measures->lacks_kinds |= TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    measures->lacks_sizes |= snapshot->lacks_sizes || !snapshot->has_sizes;
    if (ok)
        measures->runs[measures->run_count++] =
            (struct measure_run){.side = side,
                                 .samples = snapshot->all_samples.live.samples,
                                 .sampling = snapshot->sampling,
                                 .widest_interval_bytes = widest_interval(snapshot)};
    return ok;
}

enum { PEAK, END };

/* ---- the pass ---- */

static enum step_status measure_trace_receive(void *user, struct heap_snapshot *snapshot,
                                              struct step_error *error)
{
    struct trace_measure *measure = user;
    (void) error;
    size_t which = snapshot->moment.kind == HEAP_AT_PEAK ? PEAK : END;
    heap_snapshot_reset(&measure->snapshots[which]);
    measure->snapshots[which] = *snapshot;
    return STEP_STATUS_OK;
}

bool trace_measure_init(struct trace_measure *measure, const struct event_source *source)
{
    const struct trace_names *names = &source->names;
    uint64_t interval_bytes = event_source_sample_interval(source);
    *measure = (struct trace_measure){.names = names,
                                      .curve = malloc(sizeof *measure->curve),
                                      .moments = {{.kind = HEAP_AT_END}, {.kind = HEAP_AT_PEAK}}};
    const struct heap_tracker_options options = {.by_thread = true,
                                                 .moments = measure->moments,
                                                 .moment_count = interval_bytes == 0 ? 2 : 1,
                                                 .receive = measure_trace_receive,
                                                 .user = measure,
                                                 .curve = measure->curve};
    bool ok = heap_tracker_init(&measure->heap, source, &options);
    statistics_init(&measure->calls, names, false);
    if (measure->curve != NULL)
        level_curve_init(measure->curve);
    return ok && measure->curve != NULL;
}

void trace_measure_reset(struct trace_measure *measure)
{
    heap_snapshot_reset(&measure->snapshots[PEAK]);
    heap_snapshot_reset(&measure->snapshots[END]);
    heap_tracker_reset(&measure->heap);
    statistics_reset(&measure->calls);
    free(measure->curve);
    measure->curve = NULL;
}

static enum step_status put_selected(struct trace_measure *measure,
                                     const struct trace_event *events, size_t count,
                                     struct step_error *error)
{
    for (size_t i = 0; i < count; i++)
        measure->kinds |= TRACE_KIND_BIT(events[i].kind);
    if (!measure->has_begun)
        measure->first_ns = events[0].time_ns;
    measure->has_begun = true;
    enum step_status status = heap_tracker_put(&measure->heap, events, count, error);
    if (events[count - 1].time_ns > measure->last_ns)
        measure->last_ns = events[count - 1].time_ns;
    return status;
}

enum step_status trace_measure_put(void *user, const struct trace_event *events, size_t count,
                                   struct step_error *error)
{
    struct trace_measure *measure = user;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        bool is_object =
            events[i].kind == EVENT_OBJECT_ALLOC || events[i].kind == EVENT_OBJECT_FREE;
        if (!is_object && !statistics_put(&measure->calls, &events[i], 1))
            return no_memory(error);
    }
    for (size_t at = 0, length;
         status == STEP_STATUS_OK && (length = trace_next_selected(events, count, &at)) > 0;
         at += length)
        status = put_selected(measure, events + at, length, error);
    return status;
}

/* ---- the names ---- */

struct folding {
    struct trace_measure *measure;
    struct measures *measures;
    size_t run;
    struct id_table classes; /* uint32_t: the row */
    struct id_table threads; /* the same */
    uint32_t *sites;         /* by site number of the tracker */
};

typedef uint32_t row_maker(struct measures *measures, const struct trace_names *names, uint32_t id);

/* Returns the row of a class or thread, which `rows` keeps. */
static uint32_t measure_trace_row_of(struct folding *folding, struct id_table *rows,
                                     row_maker *make, uint32_t id)
{
    uint32_t *row = id_table_get(rows, id);
    if (row != NULL && *row == 0)
        *row = make(folding->measures, folding->measure->names, id);
    return row != NULL ? *row : 0;
}

/* ---- the sums ---- */

static void measure_trace_add_row(uint64_t *sums, const struct heap_row *row, size_t moment)
{
    if (moment == PEAK) {
        sums[SUM_PEAK_BYTES] += row->live.bytes;
        sums[SUM_PEAK_OBJECTS] += row->live.objects;
        return;
    }
    sums[SUM_ALLOCATED_BYTES] += row->allocated.bytes;
    sums[SUM_ALLOCATED_OBJECTS] += row->allocated.objects;
    struct heap_amount dead = heap_row_dead(row);
    sums[SUM_FREED_BYTES] += dead.bytes;
    sums[SUM_FREED_OBJECTS] += dead.objects;
    sums[SUM_LIVED_US] += dead.ages_us;
    sums[SUM_END_BYTES] += row->live.bytes;
    sums[SUM_END_OBJECTS] += row->live.objects;
}

static void add_variances(double *variances, const struct heap_samples *samples)
{
    struct sample_sums freed = sample_sums_without(&samples->allocated, &samples->live);
    variances[SUM_ALLOCATED_BYTES] += samples->allocated.bytes_variance;
    variances[SUM_ALLOCATED_OBJECTS] += samples->allocated.objects_variance;
    variances[SUM_FREED_BYTES] += freed.bytes_variance;
    variances[SUM_FREED_OBJECTS] += freed.objects_variance;
    variances[SUM_END_BYTES] += samples->live.bytes_variance;
    variances[SUM_END_OBJECTS] += samples->live.objects_variance;
}

static bool fold_snapshot(struct folding *folding, size_t moment)
{
    const struct heap_snapshot *snapshot = &folding->measure->snapshots[moment];
    struct measures *measures = folding->measures;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        const uint32_t rows[] = {
            [AXIS_PROGRAM] = 1,
            [AXIS_CLASS] = measure_trace_row_of(folding, &folding->classes, measure_class_row,
                                                row->key.class_id),
            [AXIS_SITE] = folding->sites[row->key.site],
            [AXIS_THREAD] = measure_trace_row_of(folding, &folding->threads, measure_thread_row,
                                                 row->key.thread_id)};
        for (unsigned axis = AXIS_PROGRAM; axis <= AXIS_THREAD; axis++) {
            if (rows[axis] == 0)
                return false;
            measure_trace_add_row(measures_sums(measures, axis, rows[axis], folding->run), row,
                                  moment);
            if (row->samples != NULL)
                add_variances(measures_variances(measures, axis, rows[axis], folding->run),
                              row->samples);
        }
    }
    return true;
}

static void put_known(const struct folding *folding, enum measure_axis axis, uint32_t row,
                      const struct sample_known *known)
{
    uint64_t *sums = measures_sums(folding->measures, axis, row, folding->run);
    double *variances = measures_variances(folding->measures, axis, row, folding->run);
    if (known->rest_of_bytes.samples == 0 && known->room_of_bytes <= 0) {
        sums[SUM_ALLOCATED_BYTES] = estimate_whole(known->bytes);
        variances[SUM_ALLOCATED_BYTES] = SUM_IS_KNOWN;
    }
    if (known->rest.samples == 0 && known->room <= 0) {
        sums[SUM_ALLOCATED_OBJECTS] = estimate_whole(known->objects);
        variances[SUM_ALLOCATED_OBJECTS] = SUM_IS_KNOWN;
    }
}

/* What totals= has found takes the place of what samples say. */
static bool fold_totals(struct folding *folding)
{
    const struct statistics *found = &folding->measure->calls;
    const struct sample_totals *totals = folding->measure->heap.samples.weights.totals;
    const struct class_totals *class;
    if (totals == NULL || folding->measure->snapshots[END].samples == NULL)
        return true;
    put_known(folding, AXIS_PROGRAM, 1, &totals->all);
    for (uint32_t i = 0; (class = id_table_next(&found->classes, &i)) != NULL; i++) {
        struct step_bytes name = trace_class_of(folding->measure->names, i)->name;
        const struct sample_known *known = sample_totals_of(totals, name);
        uint32_t row = class->objects.allocated_objects > 0 && known != NULL
                           ? measure_trace_row_of(folding, &folding->classes, measure_class_row, i)
                           : 0;
        if (row != 0)
            put_known(folding, AXIS_CLASS, row, known);
    }
    return true;
}

/* What engine=walk has found: of the program all that the JVM has counted, of classes what is known
 * of them. */
static bool fold_eden(struct folding *folding)
{
    const struct statistics *found = &folding->measure->calls;
    const struct class_totals *class;
    if (found->eden.walks + found->eden.readings == 0)
        return true;
    if (folding->measure->heap.samples.weights.interval_bytes != 0)
        return fold_totals(folding);
    uint64_t *all = measures_sums(folding->measures, AXIS_PROGRAM, 1, folding->run);
    all[SUM_ALLOCATED_BYTES] += found->all.objects.allocated_bytes;
    all[SUM_ALLOCATED_OBJECTS] += found->all.objects.allocated_objects;
    for (uint32_t i = 0; (class = id_table_next(&found->classes, &i)) != NULL; i++) {
        uint32_t row = measure_trace_row_of(folding, &folding->classes, measure_class_row, i);
        if (row == 0)
            return false;
        uint64_t *sums = measures_sums(folding->measures, AXIS_CLASS, row, folding->run);
        sums[SUM_ALLOCATED_BYTES] += class->objects.allocated_bytes;
        sums[SUM_ALLOCATED_OBJECTS] += class->objects.allocated_objects;
    }
    return true;
}

/* The totals of a walk cannot be divided. */
static enum step_status check_selection(const struct event_source *source, const char *path,
                                        struct step_error *error)
{
    const char *engine = event_source_property(source, "engine").unshown;
    if (engine == NULL || strcmp(engine, "walk") != 0)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                          "it has totals of classes (engine=walk), and none of a selection");
}

/* Totals that lack collections are no totals. What has no class lacks objects alone. */
static enum step_status check_eden(const struct eden_totals *eden, const char *path,
                                   struct step_error *error)
{
    if (eden->not_seen != 0)
        return step_error_set(error, STEP_STATUS_CORRUPT, path, STEP_NO_OFFSET,
                              "%llu of its %llu collections were left out (%s), so its totals are "
                              "partial%s",
                              (unsigned long long) eden->not_seen, (unsigned long long) eden->walks,
                              eden_totals_why(eden),
                              eden->left_out != 0 ? "; share=100 leaves none out" : "");
    if (eden->not_known != 0)
        report_line("%s: %s are of no known class: its bytes are all, numbers of objects and of "
                    "classes are partial",
                    path, quantity_of_bytes((double) eden->not_known).text);
    return STEP_STATUS_OK;
}

static bool fold_calls(struct folding *folding)
{
    const struct statistics *calls = &folding->measure->calls;
    uint64_t *all = measures_sums(folding->measures, AXIS_PROGRAM, 1, folding->run);
    const struct method_totals *method;
    for (uint32_t i = 0; (method = id_table_next(&calls->methods, &i)) != NULL; i++) {
        if (method->calls == 0)
            continue;
        uint32_t row = measure_method_row(folding->measures, folding->measure->names, i);
        if (row == 0)
            return false;
        uint64_t *sums = measures_sums(folding->measures, AXIS_METHOD, row, folding->run);
        sums[SUM_CALLS] += method->calls;
        sums[SUM_EXCEPTIONS] += method->exceptions;
        sums[SUM_OWN_NS] += method->exclusive_ns;
        sums[SUM_TIME_NS] += method->inclusive_ns;
        all[SUM_CALLS] += method->calls;
        all[SUM_EXCEPTIONS] += method->exceptions;
        all[SUM_OWN_NS] += method->exclusive_ns;
    }
    const struct thread_totals *thread;
    for (uint32_t i = 0; (thread = id_table_next(&calls->threads, &i)) != NULL; i++) {
        if (thread->calls == 0)
            continue;
        uint32_t row = measure_trace_row_of(folding, &folding->threads, measure_thread_row, i);
        if (row == 0)
            return false;
        measures_sums(folding->measures, AXIS_THREAD, row, folding->run)[SUM_CALLS] +=
            thread->calls;
    }
    return true;
}

/* Returns the kinds of events that were recorded according to the trace's properties, else those
 * seen.  A selection leaves out some. */
static uint32_t recorded_kinds(const struct event_source *source, uint32_t seen)
{
    bool is_seen = event_source_property(source, "events").unshown == NULL &&
                   event_selection_is_all(&source->filter.selected);
    return is_seen ? seen : TRACE_ALL_KINDS & ~event_source_not_recorded(source);
}

/* Totals of classes stand for the events that they are about. */
static uint32_t kinds_in_eden(const struct trace_measure *measure)
{
    return measure->calls.eden.walks != 0 ? TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) : 0;
}

static void note_run(struct folding *folding, const struct event_source *source, const char *path,
                     enum measure_side side)
{
    struct trace_measure *measure = folding->measure;
    struct measure_run *run = &folding->measures->runs[folding->run];
    measures_note_lack(folding->measures, measures_find_lack(source, &source->filter.selected));
    const char *program = event_source_property(source, "java-command").unshown;
    if (program == NULL && event_source_property(source, "java-vm-name").unshown == NULL)
        program = event_source_property(source, "command-line").unshown; /* of a native program */
    *run = (struct measure_run){.path = path,
                                .side = side,
                                .curve = measure->curve,
                                .first_ns = measure->first_ns,
                                .last_ns = measure->last_ns,
                                .has_sizes = measure->snapshots[END].has_sizes,
                                .unit = event_source_time_unit(source),
                                .deaths = measure->heap.deaths,
                                .resolution_ns = trace_summary_of(&source->about).resolution_ns,
                                .kinds =
                                    recorded_kinds(source, measure->kinds) | kinds_in_eden(measure),
                                .samples = measure->snapshots[END].all_samples.allocated.samples,
                                .sampling = measure->heap.samples.weights.sampling,
                                .widest_interval_bytes = widest_interval(&measure->snapshots[END]),
                                .stack_depth = event_source_number(source, "stack", 0)};
    snprintf(run->program, sizeof run->program, "%s", program != NULL ? program : "");
    measure->curve = NULL;
    folding->measures->lacks_times |= run->unit == TIME_STEPS;
    folding->measures->lacks_sizes |= measure->heap.lacks_sizes || !run->has_sizes;
    /* a program in which nothing died has no deaths, either */
    folding->measures->lacks_kinds |=
        (event_source_not_recorded(source) & ~kinds_in_eden(measure)) |
        (~run->kinds & (TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_METHOD_ENTRY)));
    uint64_t *all = measures_sums(folding->measures, AXIS_PROGRAM, 1, folding->run);
    all[SUM_COLLECTIONS] = measure->heap.collections;
    all[SUM_DURATION_NS] = measure->last_ns - measure->first_ns;
}

enum step_status trace_measure_finish(struct trace_measure *measure, struct measures *measures,
                                      struct input *input, const char *path, enum measure_side side,
                                      struct step_error *error)
{
    struct folding folding = {.measure = measure, .measures = measures, .run = measures->run_count};
    enum step_status status = heap_tracker_finish(&measure->heap, error);
    if (status == STEP_STATUS_OK)
        status =
            event_selection_is_all(&input->source->filter.selected)
                ? event_source_facts(input->source, statistics_put_fact, &measure->calls, error)
                : check_selection(input->source, path, error);
    if (status == STEP_STATUS_OK && measure->heap.samples.weights.interval_bytes == 0)
        status = check_eden(&measure->calls.eden, path, error);
    if (status != STEP_STATUS_OK)
        return status;
    statistics_finish(&measure->calls);
    id_table_init(&folding.classes, sizeof(uint32_t));
    id_table_init(&folding.threads, sizeof(uint32_t));
    folding.sites = measure_sites(measures, &measure->heap.sites);
    bool ok = folding.sites != NULL &&
              (measure->snapshots[END].samples == NULL || measures_expect_estimates(measures)) &&
              fold_snapshot(&folding, END) && fold_snapshot(&folding, PEAK) &&
              fold_calls(&folding) && fold_eden(&folding) &&
              measures_note_names(measures, &input->source->names, &input->source->filter.selected,
                                  input->events == 0);
    if (ok) {
        note_run(&folding, input->source, path, side);
        measures->run_count++;
    }
    free(folding.sites);
    id_table_reset(&folding.classes);
    id_table_reset(&folding.threads);
    return ok ? STEP_STATUS_OK : no_memory(error);
}
