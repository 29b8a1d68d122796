/* SPDX-License-Identifier: Apache-2.0 */
/* Collects everything that a report needs in one pass. */
#include "analyses/report/report_model.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/heap/heap_sites.h"
#include "converter/numbers/quantity.h"
#include "format/core/grow.h"

/* ---- the longest calls, in a heap whose first element is the next to be replaced ---- */

static enum step_status report_model_note(void *user, const struct call_event *event,
                                          struct step_error *error);

/* Returns false if memory runs out; reset is allowed then. */
static bool report_calls_init(struct report_calls *calls)
{
    *calls = (struct report_calls){.longest = malloc(REPORT_CALLS * sizeof *calls->longest)};
    call_events_init(&calls->calls, 0, report_model_note, calls);
    return calls->longest != NULL;
}

static void report_calls_reset(struct report_calls *calls)
{
    call_events_reset(&calls->calls);
    free(calls->longest);
    calls->longest = NULL;
}

static void sink(struct report_calls *calls, size_t at)
{
    struct report_call moved = calls->longest[at];
    for (size_t child; (child = 2 * at + 1) < calls->count; at = child) {
        if (child + 1 < calls->count &&
            calls->longest[child + 1].length_ns < calls->longest[child].length_ns)
            child++;
        if (calls->longest[child].length_ns >= moved.length_ns)
            break;
        calls->longest[at] = calls->longest[child];
    }
    calls->longest[at] = moved;
}

static void offer(struct report_calls *calls, const struct report_call *call)
{
    calls->seen++;
    if (calls->count == REPORT_CALLS) {
        if (calls->longest[0].length_ns >= call->length_ns)
            return;
        calls->longest[0] = *call;
        sink(calls, 0);
        return;
    }
    calls->longest[calls->count++] = *call;
    if (calls->count == REPORT_CALLS)
        for (size_t i = REPORT_CALLS / 2; i-- > 0;)
            sink(calls, i);
}

static enum step_status report_model_note(void *user, const struct call_event *event,
                                          struct step_error *error)
{
    (void) error;
    if (event->change != CALL_OPENS)
        offer(user,
              &(struct report_call){event->frame->entered_ns, event->took_ns, event->thread_id,
                                    event->frame->method_id, (uint32_t) event->depth});
    return STEP_STATUS_OK;
}

static enum step_status report_calls_put(struct report_calls *calls,
                                         const struct trace_event *events, size_t count,
                                         struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        bool is_object =
            events[i].kind == EVENT_OBJECT_ALLOC || events[i].kind == EVENT_OBJECT_FREE;
        if (!is_object)
            status = call_events_put(&calls->calls, &events[i], error);
    }
    return status;
}

static int by_start(const void *left, const void *right)
{
    const struct report_call *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

/* ---- bins: the differences of the tracker's running sums between their ends ---- */

#define FIRST_STEP_NS UINT64_C(1000)

static void report_bins_reset(struct report_bins *bins)
{
    for (size_t i = 0; i < bins->count; i++)
        free(bins->bins[i].changes);
    free(bins->before);
    bins->count = 0;
    bins->before = NULL;
}

/* ---- merging bins ---- */

static bool report_model_merge(struct report_bin *a, struct report_bin *b, struct report_bin *out)
{
    size_t i = 0, k = 0;
    out->count = 0;
    out->changes = malloc((a->count + b->count + 1) * sizeof *out->changes);
    if (out->changes == NULL)
        return false;
    while (i < a->count || k < b->count) {
        bool has_a = i < a->count && (k == b->count || a->changes[i].cell <= b->changes[k].cell);
        bool has_b = k < b->count && (i == a->count || b->changes[k].cell <= a->changes[i].cell);
        struct bin_change *to = &out->changes[out->count++];
        *to = has_a ? a->changes[i] : b->changes[k];
        if (has_a && has_b) {
            to->objects += b->changes[k].objects;
            to->bytes += b->changes[k].bytes;
            to->grown_objects += b->changes[k].grown_objects;
            to->grown_bytes += b->changes[k].grown_bytes;
        }
        i += has_a;
        k += has_b;
    }
    return true;
}

static bool report_model_fold(struct report_bins *bins)
{
    for (size_t i = 0; i < REPORT_BINS / 2; i++) {
        struct report_bin both, *first = &bins->bins[2 * i], *second = first + 1;
        if (!report_model_merge(first, second, &both))
            return false;
        free(first->changes);
        free(second->changes);
        *first = *second = (struct report_bin){.changes = NULL};
        bins->bins[i] = both;
    }
    bins->count = REPORT_BINS / 2;
    bins->step_ns *= 2;
    return true;
}

/* ---- the end of a bin ---- */

/* Returns the totals of a cell. */
static struct bin_change totals_of(uint32_t cell, const struct heap_sums *now)
{
    return (struct bin_change){cell, now->allocated_objects, now->allocated_bytes, now->objects,
                               now->bytes};
}

static bool has_changed(const struct bin_change *totals, const struct bin_change *before)
{
    return totals->objects != before->objects || totals->grown_objects != before->grown_objects;
}

static bool close_bin(struct report_bins *bins, const struct heap_tracker *tracker)
{
    const struct heap_cells *cells = &tracker->cells;
    struct report_bin *bin = &bins->bins[bins->count];
    size_t changed = 0;
    if (!STEP_MAKE_ZEROED_ROOM(bins->before, bins->before_count, cells->count))
        return false;
    for (size_t i = 0; i < cells->count; i++) {
        struct bin_change totals = totals_of((uint32_t) i, &cells->items[i].now);
        changed += has_changed(&totals, &bins->before[i]);
    }
    *bin = (struct report_bin){.changes = malloc((changed + 1) * sizeof *bin->changes)};
    if (bin->changes == NULL)
        return false;
    bins->count++;
    for (size_t i = 0; i < cells->count && changed > 0; i++) {
        struct bin_change *before = &bins->before[i];
        struct bin_change totals = totals_of((uint32_t) i, &cells->items[i].now);
        if (!has_changed(&totals, before))
            continue;
        bin->changes[bin->count++] = (struct bin_change){
            (uint32_t) i, totals.objects - before->objects, totals.bytes - before->bytes,
            totals.grown_objects - before->grown_objects, totals.grown_bytes - before->grown_bytes};
        *before = totals;
    }
    return true;
}

static bool report_model_advance(struct report_bins *bins, const struct heap_tracker *tracker,
                                 uint64_t time_ns)
{
    while (time_ns >= bins->end_ns && bins->end_ns != UINT64_MAX) {
        if (!close_bin(bins, tracker) || (bins->count == REPORT_BINS && !report_model_fold(bins)))
            return false;
        uint64_t length;
        if (__builtin_mul_overflow(bins->count + 1, bins->step_ns, &length) ||
            __builtin_add_overflow(bins->start_ns, length, &bins->end_ns))
            bins->end_ns = UINT64_MAX;
    }
    return true;
}

/* Passes events to the tracker, and closes bins between them. */
static enum step_status report_bins_put(struct report_bins *bins, struct heap_tracker *tracker,
                                        const struct trace_event *events, size_t count,
                                        struct step_error *error)
{
    size_t first = 0;
    enum step_status status = STEP_STATUS_OK;
    if (count > 0 && !bins->has_begun) {
        bins->has_begun = true;
        bins->start_ns = events[0].time_ns;
        bins->end_ns = bins->start_ns + bins->step_ns;
    }
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        if (events[i].time_ns < bins->end_ns || bins->end_ns == UINT64_MAX)
            continue;
        status = heap_tracker_put(tracker, events + first, i - first, error);
        first = i;
        if (status == STEP_STATUS_OK && !report_model_advance(bins, tracker, events[i].time_ns))
            status = no_memory(error);
    }
    if (status == STEP_STATUS_OK)
        status = heap_tracker_put(tracker, events + first, count - first, error);
    return status;
}

#define YOUNG_FIRST (UINT64_C(1) << 20)

/* NULL: not simulated, since a part of the trace was selected.  Returns false if out of memory. */
static bool report_collectors_begin(struct simulation **simulation,
                                    const struct event_source *source)
{
    struct simulation_options options = SIMULATION_OPTIONS_DEFAULT;
    simulation_options_add_young(&options, YOUNG_FIRST);
    *simulation = malloc(sizeof **simulation);
    if (*simulation == NULL)
        return false;
    bool ok = simulation_init(*simulation, &options);
    (*simulation)->path = source->path;
    (*simulation)->frees_are_exact = source->content == TRACE_OF_ALLOCATIONS;
    return ok;
}

static void report_collectors_end(struct simulation *simulation)
{
    if (simulation != NULL)
        simulation_reset(simulation);
    free(simulation);
}

/* Sizes that add up to more than the models can count end the simulation, not the report. */
static enum step_status report_collectors_put(struct simulation **simulation,
                                              const struct trace_event *events, size_t count,
                                              struct step_error *error)
{
    enum step_status status =
        *simulation != NULL ? simulation_put(*simulation, events, count, error) : STEP_STATUS_OK;
    if (status != STEP_STATUS_CORRUPT)
        return status;
    report_collectors_end(*simulation);
    *simulation = NULL;
    return STEP_STATUS_OK;
}

static void report_advice_init(struct report_advice *advice, const struct event_source *source,
                               bool is_whole)
{
    *advice = (struct report_advice){.is_known = is_whole};
    site_lives_init(&advice->lives);
    advice->lives.path = source->path;
    advice->lives.within = ADVICE_WITHIN_DEFAULT;
    advice->lives.is_native = source->content == TRACE_OF_ALLOCATIONS;
}

static enum step_status report_advice_put(struct report_advice *advice,
                                          const struct trace_event *events, size_t count,
                                          struct step_error *error)
{
    if (!advice->is_known)
        return STEP_STATUS_OK;
    enum step_status status = site_lives_put(&advice->lives, events, count, error);
    if (status != STEP_STATUS_CORRUPT)
        return status;
    advice->is_known = false; /* sizes that cannot be added up: the rest of the page has them */
    *error = (struct step_error){.offset = STEP_NO_OFFSET};
    return STEP_STATUS_OK;
}

enum step_status report_advice_find(struct report_advice *advice, const struct trace_names *names,
                                    struct step_reader *reader, struct step_error *error)
{
    struct advice_options options = {.least_bytes = ADVICE_LEAST_DEFAULT};
    enum step_status status = STEP_STATUS_END;
    advice->is_known = advice->is_known && advice->lives.born.bytes > 0;
    if (!advice->is_known)
        return STEP_STATUS_OK;
    site_lives_finish(&advice->lives);
    if (reader != NULL)
        status = site_stores_count(reader, &advice->lives, error);
    if (status != STEP_STATUS_OK && status != STEP_STATUS_END)
        return status;
    advice->has_references = options.has_references = status == STEP_STATUS_OK;
    return advice_make(&advice->list, &advice->lives, names, &options) ? STEP_STATUS_OK
                                                                       : no_memory(error);
}

/* The snapshot has a copy of its moment, so kind and value identify which of the two it is. */
static enum step_status report_model_receive(void *user, struct heap_snapshot *snapshot,
                                             struct step_error *error)
{
    struct report_model *model = user;
    (void) error;
    for (size_t i = 0; i < 2; i++) {
        const struct heap_moment *wanted = &model->moments[i];
        if (snapshot->moment.kind == wanted->kind && snapshot->moment.value == wanted->value) {
            heap_snapshot_reset(&model->snapshots[i]);
            model->snapshots[i] = *snapshot;
            return STEP_STATUS_OK;
        }
    }
    heap_snapshot_reset(snapshot);
    return STEP_STATUS_OK;
}

bool report_model_init(struct report_model *model, const struct event_source *source,
                       const struct heap_moment *moment, bool has_leaks)
{
    *model = (struct report_model){.source = source, .has_leaks = has_leaks};
    model->is_sampled = event_source_sample_interval(source) != 0;
    model->moments[0] = *moment;
    model->moments[1] = (struct heap_moment){.kind = HEAP_AT_END};
    const struct heap_tracker_options options = {
        .moments = model->moments,
        .moment_count = moment->kind == HEAP_AT_END || model->is_sampled ? 1 : 2,
        .receive = report_model_receive,
        .user = model};
    bool ok = heap_tracker_init(&model->heap, source, &options);
    statistics_init(&model->statistics, &source->names, false);
    model->statistics.snapshot_ns = event_source_number(source, "snapshot-ns", 0);
    model->bins.step_ns = event_source_has_times(source) ? FIRST_STEP_NS : 1;
    ok = report_calls_init(&model->calls) && ok;
    if (has_leaks)
        ok = findings_pass_init(&model->findings, source) && ok;
    if (has_leaks && !model->is_sampled)
        ok = report_collectors_begin(&model->collectors, source) && ok;
    report_advice_init(&model->advice, source, has_leaks && !model->is_sampled);
    return timeline_init(&model->timeline, model->bins.step_ns) && ok;
}

enum step_status report_model_weigh(struct report_model *model, struct event_source *source,
                                    struct step_error *error)
{
    enum step_status status = statistics_sampled_init(&model->statistics, source, error);
    if (status == STEP_STATUS_OK)
        status = heap_tracker_weigh(&model->heap, source, error);
    return status == STEP_STATUS_OK && model->has_leaks
               ? heap_tracker_weigh(&model->findings.leaks.heap, source, error)
               : status;
}

void report_model_reset(struct report_model *model)
{
    if (model->moments[0].kind == HEAP_AT_END) /* one snapshot serves both */
        model->snapshots[1] = (struct heap_snapshot){0};
    heap_snapshot_reset(&model->snapshots[0]);
    heap_snapshot_reset(&model->snapshots[1]);
    statistics_reset(&model->statistics);
    timeline_reset(&model->timeline);
    report_bins_reset(&model->bins);
    report_calls_reset(&model->calls);
    heap_tracker_reset(&model->heap);
    advice_reset(&model->advice.list);
    site_lives_reset(&model->advice.lives);
    if (model->has_leaks)
        findings_pass_reset(&model->findings);
    report_collectors_end(model->collectors);
}

static enum step_status put_selected(struct report_model *model, const struct trace_event *events,
                                     size_t count, struct step_error *error)
{
    if (!model->is_sampled && !timeline_put(&model->timeline, events, count))
        return no_memory(error);
    enum step_status status = model->has_leaks
                                  ? findings_pass_put(&model->findings, events, count, error)
                                  : STEP_STATUS_OK;
    if (status == STEP_STATUS_OK && model->is_sampled)
        return heap_tracker_put(&model->heap, events, count, error);
    if (status == STEP_STATUS_OK)
        status = report_calls_put(&model->calls, events, count, error);
    if (status == STEP_STATUS_OK)
        status = report_collectors_put(&model->collectors, events, count, error);
    if (status == STEP_STATUS_OK)
        status = report_advice_put(&model->advice, events, count, error);
    if (status != STEP_STATUS_OK)
        return status;
    return report_bins_put(&model->bins, &model->heap, events, count, error);
}

enum step_status report_model_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error)
{
    struct report_model *model = user;
    enum step_status status = STEP_STATUS_OK;
    if (!statistics_put(&model->statistics, events, count))
        return no_memory(error);
    for (size_t at = 0, length;
         status == STEP_STATUS_OK && (length = trace_next_selected(events, count, &at)) > 0;
         at += length)
        status = put_selected(model, events + at, length, error);
    return status;
}

enum step_status report_model_finish(struct report_model *model, struct step_error *error)
{
    enum step_status status = heap_tracker_finish(&model->heap, error);
    if (status == STEP_STATUS_OK)
        status = call_events_finish(&model->calls.calls, error);
    qsort(model->calls.longest, model->calls.count, sizeof *model->calls.longest, by_start);
    if (status == STEP_STATUS_OK && model->has_leaks)
        status = findings_pass_finish(&model->findings, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (report_moment(model)->time_ns == UINT64_MAX)
        return heap_moment_missing(STEP_STATUS_INVALID, model->source->path, model->heap.now_ns,
                                   model->heap.unit, model->heap.collections, error);
    statistics_finish(&model->statistics);
    if (model->moments[0].kind == HEAP_AT_END)
        model->snapshots[1] = model->snapshots[0];
    if (model->is_sampled)
        return STEP_STATUS_OK;
    if (model->collectors != NULL)
        simulation_finish(model->collectors);
    timeline_finish(&model->timeline);
    return close_bin(&model->bins, &model->heap) ? STEP_STATUS_OK : no_memory(error);
}
