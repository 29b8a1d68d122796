/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the results of a heap tracker and of the call statistics under stable names. */
#include "converter/statistics/measure_trace.h"

#include "converter/trace/unmatched.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "converter/cli/rotated_names.h"
#include "converter/containers/no_memory.h"
#include "converter/files/joined_files.h"

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

static uint32_t method_row(struct folding *folding, uint32_t method_id)
{
    char text[2 * LASTING_NAME_MOST];
    struct step_bytes descriptor = trace_method_of(folding->measure->names, method_id)->descriptor;
    size_t used = measure_method_text(folding->measures, folding->measure->names, method_id, text,
                                      LASTING_NAME_MOST);
    size_t length = descriptor.length < sizeof text - used ? descriptor.length : sizeof text - used;
    if (length > 0)
        memcpy(text + used, descriptor.data, length);
    return measures_row(folding->measures, AXIS_METHOD, 0,
                        (struct step_bytes){(const uint8_t *) text, used + length});
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

static bool fold_calls(struct folding *folding)
{
    const struct statistics *calls = &folding->measure->calls;
    uint64_t *all = measures_sums(folding->measures, AXIS_PROGRAM, 1, folding->run);
    const struct method_totals *method;
    for (uint32_t i = 0; (method = id_table_next(&calls->methods, &i)) != NULL; i++) {
        if (method->calls == 0)
            continue;
        uint32_t row = method_row(folding, i);
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

static void note_run(struct folding *folding, const struct event_source *source, const char *path,
                     enum measure_side side)
{
    struct trace_measure *measure = folding->measure;
    struct measure_run *run = &folding->measures->runs[folding->run];
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
                                .kinds = recorded_kinds(source, measure->kinds),
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
        event_source_not_recorded(source) |
        (~run->kinds & (TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_METHOD_ENTRY)));
    uint64_t *all = measures_sums(folding->measures, AXIS_PROGRAM, 1, folding->run);
    all[SUM_COLLECTIONS] = measure->heap.collections;
    all[SUM_DURATION_NS] = measure->last_ns - measure->first_ns;
}

static bool note_name(struct measures *measures, enum measure_axis axis, struct step_bytes text)
{
    bool is_new;
    return name_index_put(&measures->known[axis], 0, text, &is_new) != 0;
}

/* With its name, and with the one that a row would have. */
static bool note_thread(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[LASTING_NAME_MOST];
    struct step_bytes name = trace_thread_of(names, id)->name;
    size_t length = lasting_thread_name(name, text, sizeof text);
    return note_name(measures, AXIS_THREAD, name) &&
           note_name(measures, AXIS_THREAD, (struct step_bytes){(const uint8_t *) text, length});
}

/* Rules may name what has no rows: a class without objects, a method without calls. */
static bool note_names(struct measures *measures, const struct input *input)
{
    const struct event_source *source = input->source;
    const struct trace_names *names = &source->names;
    char text[2 * LASTING_NAME_MOST];
    bool ok = true;
    for (uint32_t id = 0; ok && id_table_next(&names->classes, &id); id++)
        ok = !trace_class_of(names, id)->known ||
             note_name(measures, AXIS_CLASS, trace_class_of(names, id)->name);
    for (uint32_t id = 0; ok && id_table_next(&names->threads, &id); id++)
        ok = !trace_thread_of(names, id)->known || note_thread(measures, names, id);
    for (uint32_t id = 0; ok && id_table_next(&names->methods, &id); id++) {
        const struct trace_method *method = trace_method_of(names, id);
        struct step_bytes class = trace_class_of(names, method->class_id)->name;
        int length =
            snprintf(text, sizeof text, "%.*s.%.*s", (int) class.length, (const char *) class.data,
                     (int) method->name.length, (const char *) method->name.data);
        if (method->known && length > 0 && (size_t) length < sizeof text)
            ok = note_name(measures, AXIS_METHOD,
                           (struct step_bytes){(const uint8_t *) text, (size_t) length});
    }
    measures->is_unmatched =
        (measures->run_count == 0 || measures->is_unmatched) &&
        !selection_is_matched(names, &source->filter.selected, input->events == 0);
    return ok;
}

enum step_status trace_measure_finish(struct trace_measure *measure, struct measures *measures,
                                      struct input *input, const char *path, enum measure_side side,
                                      struct step_error *error)
{
    struct folding folding = {.measure = measure, .measures = measures, .run = measures->run_count};
    enum step_status status = heap_tracker_finish(&measure->heap, error);
    if (status == STEP_STATUS_OK && event_selection_is_all(&input->source->filter.selected))
        status = event_source_facts(input->source, statistics_put_fact, &measure->calls, error);
    if (status != STEP_STATUS_OK)
        return status;
    statistics_finish(&measure->calls);
    id_table_init(&folding.classes, sizeof(uint32_t));
    id_table_init(&folding.threads, sizeof(uint32_t));
    folding.sites = measure_sites(measures, &measure->heap.sites);
    bool ok = folding.sites != NULL &&
              (measure->snapshots[END].samples == NULL || measures_expect_estimates(measures)) &&
              fold_snapshot(&folding, END) && fold_snapshot(&folding, PEAK) &&
              fold_calls(&folding) && note_names(measures, input);
    if (ok) {
        note_run(&folding, input->source, path, side);
        measures->run_count++;
    }
    free(folding.sites);
    id_table_reset(&folding.classes);
    id_table_reset(&folding.threads);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static enum step_status measure_trace_go_through(struct measures *measures, struct input *input,
                                                 const char *path, enum measure_side side)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct trace_measure measure;
    enum step_status status = STEP_STATUS_OK;
    if (!trace_measure_init(&measure, input->source))
        status = report_error((no_memory(&error), &error));
    if (status == STEP_STATUS_OK &&
        heap_tracker_weigh(&measure.heap, input->source, &error) != STEP_STATUS_OK)
        status = report_error(&error);
    if (status == STEP_STATUS_OK)
        status = input_each(input, trace_measure_put, &measure);
    bool has_partial = status == STEP_STATUS_CORRUPT && measure.has_begun;
    if (status == STEP_STATUS_OK || has_partial) {
        enum step_status finished =
            trace_measure_finish(&measure, measures, input, path, side, &error);
        if (finished != STEP_STATUS_OK)
            status = report_error(&error);
    }
    trace_measure_reset(&measure);
    return status;
}

/* Reads a trace and adds it as a run.  Reports errors and damage.  After CORRUPT, the intact part
 * was added unless the run count is unchanged. */
static enum step_status measure_trace(struct measures *measures, const char *path,
                                      enum measure_side side,
                                      const struct event_selection *selected)
{
    struct event_selection plain = *selected;
    struct input input;
    plain.untracked = true; /* the tracker follows live objects itself */
    plain.derives_stacks = true;
    plain.follows_calls = true;
    plain.objects = NULL;
    enum step_status status = input_open(&input, path, NULL, &plain);
    if (status != STEP_STATUS_OK)
        return status;
    status = measure_trace_go_through(measures, &input, path, side);
    enum step_status damage = input_report_damage(&input);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}

/* ---- the traces of several runs ---- */

static enum step_status add_trace(struct trace_set *set, const char *directory, const char *name,
                                  size_t length)
{
    if (set->count == MEASURE_RUNS_MOST) {
        report_line("there are more than %u traces on one side", MEASURE_RUNS_MOST);
        return STEP_STATUS_INVALID;
    }
    int made = asprintf(&set->paths[set->count], "%s%s%.*s", directory, directory[0] ? "/" : "",
                        (int) length, name);
    if (made < 0)
        return STEP_STATUS_NO_MEMORY;
    set->count++;
    return STEP_STATUS_OK;
}

static int is_trace(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".step") == 0;
}

static bool is_last_path(const struct trace_set *set, const char *path)
{
    return set->count > 0 && strcmp(set->paths[set->count - 1], path) == 0;
}

/* Files of rotate= are one trace, which has their name without numbers. */
static enum step_status measure_trace_add_entry(struct trace_set *set, const char *directory,
                                                const char *name)
{
    uint64_t number;
    char *file = NULL, *joined = NULL;
    size_t length = rotated_file_name(name, &number);
    if (length == 0)
        return add_trace(set, directory, name, strlen(name));
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (asprintf(&file, "%s/%s", directory, name) >= 0 &&
        asprintf(&joined, "%s/%.*s.step", directory, (int) length, name) >= 0)
        status = is_last_path(set, joined) ? STEP_STATUS_OK
                 : rotated_file_is(file)   ? add_trace(set, "", joined, strlen(joined))
                                           : add_trace(set, directory, name, strlen(name));
    free(file);
    free(joined);
    return status;
}

static enum step_status find_in_directory(const char *path, struct trace_set *set)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_trace, alphasort);
    if (count < 0) {
        report_line("%s: %s", path, strerror(errno));
        return STEP_STATUS_IO;
    }
    enum step_status status = STEP_STATUS_OK;
    for (int i = 0; i < count; i++) {
        if (status == STEP_STATUS_OK)
            status = measure_trace_add_entry(set, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (status == STEP_STATUS_OK && set->count == 0) {
        report_line("%s: the directory has no trace (.step)", path);
        status = STEP_STATUS_CORRUPT;
    }
    return status;
}

/* Files of one recording are no runs. */
static enum step_status refuse_files(const struct trace_set *set)
{
    for (size_t i = 1; i < set->count; i++) {
        const char *one = set->paths[i - 1], *other = set->paths[i];
        size_t length = rotated_names_share(one, other);
        if (length != 0) {
            report_line("%s and %s are files of one recording: %.*s.step stands for all of them",
                        one, other, (int) length, one);
            return STEP_STATUS_INVALID;
        }
    }
    return STEP_STATUS_OK;
}

enum step_status trace_set_find(const char *operand, struct trace_set *set)
{
    struct stat found;
    set->count = 0;
    bool is_there = stat(operand, &found) == 0;
    if (is_there && S_ISDIR(found.st_mode))
        return find_in_directory(operand, set);
    if (is_there || strchr(operand, ',') == NULL)
        return add_trace(set, "", operand, strlen(operand));
    enum step_status status = STEP_STATUS_OK;
    for (const char *at = operand; status == STEP_STATUS_OK;) {
        size_t length = strcspn(at, ",");
        if (length > 0)
            status = add_trace(set, "", at, length);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return status == STEP_STATUS_OK ? refuse_files(set) : status;
}

void trace_set_reset(struct trace_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->paths[i]);
    set->count = 0;
}

enum step_status trace_set_measure(const struct trace_set *set, enum measure_side side,
                                   const struct event_selection *selected,
                                   struct measures *measures)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < set->count; i++) {
        size_t before = measures->run_count;
        enum step_status one = measure_trace(measures, set->paths[i], side, selected);
        if (one != STEP_STATUS_OK)
            status = one;
        if (measures->run_count == before)
            return status;
    }
    return status;
}
