/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a sample after each collection. */
#include "analyses/leaks/leak_rows.h"

#include <stdlib.h>

#include "converter/numbers/estimates.h"
#include "converter/numbers/quantity.h"
#include "format/core/grow.h"

void leak_tracker_reset(struct leak_tracker *tracker)
{
    for (size_t i = 0; i < tracker->sample_count; i++)
        free(tracker->samples[i].bytes);
    free(tracker->times_ns);
    heap_tracker_reset(&tracker->heap);
    tracker->sample_count = 0;
    tracker->times_ns = NULL;
}

/* ---- samples ---- */

static void add_bytes(void *user, const struct live_object *object, double weight)
{
    double *bytes = user;
    bytes[object->class_id] += weight * (double) object->size;
}

/* Estimates the live bytes by cell.  Returns false if memory runs out. */
static bool estimate_bytes_of_cells(struct heap_tracker *heap, uint64_t *bytes)
{
    double *estimates = calloc(heap->cells.count + 1, sizeof *estimates);
    if (estimates == NULL)
        return false;
    heap_samples_each_live(heap, add_bytes, estimates);
    for (size_t i = 0; i < heap->cells.count; i++)
        bytes[i] = estimate_whole(estimates[i]);
    free(estimates);
    return true;
}

static bool add_sample(struct leak_tracker *tracker)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    bool has_sizes = heap_sums_have_sizes(&cells->all);
    uint64_t *bytes = malloc((cells->count + 1) * sizeof *bytes);
    if (bytes == NULL)
        return false;
    for (size_t i = 0; i < cells->count; i++)
        bytes[i] = has_sizes ? cells->items[i].now.bytes : cells->items[i].now.objects;
    if (cell_samples_are_counted(&tracker->heap.samples) &&
        !estimate_bytes_of_cells(&tracker->heap, bytes)) {
        free(bytes);
        return false;
    }
    tracker->samples[tracker->sample_count++] = (struct leak_sample){
        .collection = tracker->time_count, .bytes = bytes, .cell_count = cells->count};
    return true;
}

/* Keeps every second sample, starting with the second. */
static void thin_out(struct leak_tracker *tracker)
{
    for (size_t i = 0; i < LEAK_SAMPLES / 2; i++) {
        free(tracker->samples[2 * i].bytes);
        tracker->samples[i] = tracker->samples[2 * i + 1];
    }
    tracker->sample_count = LEAK_SAMPLES / 2;
    tracker->stride *= 2;
}

static bool leak_tracker_end_collection(void *user, const struct collection *over)
{
    struct leak_tracker *tracker = user;
    if (!STEP_MAKE_ROOM(tracker->times_ns, tracker->time_capacity, tracker->time_count + 1))
        return false;
    tracker->times_ns[tracker->time_count++] = over->time;
    if (tracker->time_count % tracker->stride != 0)
        return true;
    if (tracker->sample_count == LEAK_SAMPLES) {
        thin_out(tracker);
        if (tracker->time_count % tracker->stride != 0)
            return true;
    }
    return add_sample(tracker);
}

bool leak_tracker_init(struct leak_tracker *tracker, const struct event_source *source,
                       bool with_existing, const struct event_selection *selected)
{
    const struct heap_tracker_options options = {.selected = selected,
                                                 .without_existing = !with_existing,
                                                 .collected = leak_tracker_end_collection,
                                                 .user = tracker};
    *tracker = (struct leak_tracker){.stride = 1};
    bool ok = heap_tracker_init(&tracker->heap, source, &options);
    tracker->heap.samples.keeps_deaths = true;
    return ok;
}

enum step_status leak_tracker_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error)
{
    return heap_tracker_put(&((struct leak_tracker *) user)->heap, events, count, error);
}

uint64_t leak_tracker_survived(const struct leak_tracker *tracker, uint64_t born_ns)
{
    size_t low = 0, high = tracker->time_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tracker->times_ns[middle] >= born_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return tracker->time_count - low;
}

size_t leak_tracker_sample_after(const struct leak_tracker *tracker, uint64_t born_ns)
{
    uint64_t before = tracker->time_count - leak_tracker_survived(tracker, born_ns);
    size_t i = 0;
    while (i < tracker->sample_count && tracker->samples[i].collection <= before)
        i++;
    return i;
}

#define LEAST_POINTS ((size_t) 4)

size_t leak_tracker_line_first(const struct leak_tracker *tracker)
{
    size_t count = tracker->sample_count / 2;
    count = count < LEAST_POINTS ? LEAST_POINTS : count;
    return count > tracker->sample_count ? 0 : tracker->sample_count - count;
}

size_t leak_tracker_first_cell(const struct leak_tracker *tracker)
{
    return tracker->heap.selects ? HEAP_HIDDEN_CELL + 1 : 0;
}

struct live_sum {
    const struct leak_tracker *tracker;
    struct sample_sums *samples;
};

static void leak_tracker_add_live(void *user, const struct live_object *object, double weight)
{
    struct live_sum *sum = user;
    if (object->class_id >= leak_tracker_first_cell(sum->tracker))
        sample_weights_add(&sum->tracker->heap.samples.weights, sum->samples, object->object,
                           object->size, weight);
}

static struct heap_amount live_samples(const struct leak_tracker *tracker,
                                       struct sample_sums *samples)
{
    struct live_sum sum = {tracker, samples};
    heap_samples_each_live(&tracker->heap, leak_tracker_add_live, &sum);
    return (struct heap_amount){estimate_whole(samples->objects), estimate_whole(samples->bytes),
                                0};
}

struct heap_amount leak_tracker_live(const struct leak_tracker *tracker,
                                     struct sample_sums *samples)
{
    const struct heap_cells *cells = &tracker->heap.cells;
    struct heap_amount live = {cells->all.objects, cells->all.bytes, 0};
    if (cell_samples_are_counted(&tracker->heap.samples))
        return live_samples(tracker, samples);
    if (tracker->heap.selects) {
        live.objects -= cells->items[HEAP_HIDDEN_CELL].now.objects;
        live.bytes -= cells->items[HEAP_HIDDEN_CELL].now.bytes;
    }
    return live;
}
