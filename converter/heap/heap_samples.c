/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts samples by cell, and estimates with them.
 *
 * A sample stands for 1 / p objects, where p is the chance that the JVM's sampling picks an object
 * of its size (docs/engine-sampled.md). The tracker counts samples in its cells as if they were all
 * objects; snapshots replace the amounts by estimates.  What lives is weighed at the moment of the
 * snapshot, by a walk over the live samples: an object is known with the least threshold since its
 * birth, so weights change with time.
 */
#include "converter/heap/heap_samples.h"

#include <stdlib.h>
#include <string.h>

#include "converter/heap/heap_tracker.h"
#include "converter/numbers/estimates.h"
#include "converter/numbers/quantity.h"
#include "converter/numbers/sample_totals.h"
#include "format/core/grow.h"

void cell_samples_reset(struct cell_samples *samples)
{
    free(samples->items);
    free(samples->deaths);
    sample_weights_reset(&samples->weights);
    *samples = (struct cell_samples){.items = NULL};
}

bool cell_samples_add(struct cell_samples *samples, uint32_t cell, const struct trace_event *event)
{
    /* cells without samples are zeros */
    if (!STEP_MAKE_ZEROED_ROOM(samples->items, samples->capacity, (size_t) cell + 1))
        return false;
    double weight = sample_weights_of(&samples->weights, event);
    sample_weights_add(&samples->weights, &samples->items[cell].allocated, event->object,
                       event->size, weight);
    return !samples->weights.no_memory;
}

/* Deaths are kept for the growth that `leaks` fits (leak_growth.c), which looks only at objects
 * that have survived a collection.  An object that was born after the last collection before its
 * death has survived none.  Most objects are such, so the list stays short.  All deaths that one
 * collection found have its time, so a time that changes is the next collection. */
static bool keep_death(struct cell_samples *samples, const struct live_object *object,
                       uint64_t death_ns, double weight)
{
    if (death_ns != samples->collection_ns) {
        samples->collection_before_ns = samples->collection_ns;
        samples->collection_ns = death_ns;
    }
    if (object->value > samples->collection_before_ns)
        return true;
    if (!STEP_MAKE_ROOM(samples->deaths, samples->death_capacity, samples->death_count + 1))
        return false;
    samples->deaths[samples->death_count++] =
        (struct sample_death){object->class_id, object->size, object->value, death_ns, weight};
    return true;
}

bool cell_samples_remove(struct cell_samples *samples, const struct live_object *object,
                         const struct trace_event *event)
{
    struct trace_event death = *event; /* events of untracked sources lack the size */
    death.size = object != NULL ? object->size : 0;
    double weight = sample_weights_of(&samples->weights, &death);
    if (object == NULL)
        return true;
    uint64_t born = time_age(object->value, samples->unit);
    uint64_t died = time_age(event->time_ns, samples->unit);
    double life = time_of_age(died > born ? (double) (died - born) : 0, samples->unit);
    sample_lives_weigh(&samples->items[object->class_id].lives, weight, life);
    return !samples->keeps_deaths || keep_death(samples, object, event->time_ns, weight);
}

void heap_samples_merge(struct heap_samples *sum, const struct heap_samples *other)
{
    sample_sums_merge(&sum->allocated, &other->allocated);
    sample_sums_merge(&sum->live, &other->live);
    sum->live_ages_us += other->live_ages_us;
    sample_sums_merge(&sum->kept, &other->kept);
    sample_lives_merge(&sum->lives, &other->lives);
}

void heap_samples_each_live(const struct heap_tracker *tracker, sample_visit visit, void *user)
{
    struct object_cursor cursor = {0};
    struct live_object object;
    double weight;
    while (object_table_next(&tracker->live, &cursor, &object))
        if (sample_weights_now(&tracker->samples.weights, object.object, object.size, &weight))
            visit(user, &object, weight);
}

/* What lives at a moment, and weighted ages in us, by cell. */
struct live_count {
    const struct cell_samples *cells;
    uint64_t now_us;
    struct heap_samples *samples;
};

static void count_live(void *user, const struct live_object *object, double weight)
{
    struct live_count *count = user;
    const struct cell_samples *cells = count->cells;
    struct heap_samples *cell = &count->samples[object->class_id];
    sample_weights_add(&cells->weights, &cell->live, object->object, object->size, weight);
    if (cells->has_previous && object->value <= cells->previous_ns)
        sample_weights_add(&cells->weights, &cell->kept, object->object, object->size, weight);
    uint64_t born_us = time_age(object->value, cells->unit);
    if (count->now_us > born_us)
        cell->live_ages_us += weight * (double) (count->now_us - born_us);
}

void heap_samples_age(struct heap_row *row)
{
    const struct heap_samples *samples = row->samples;
    double share =
        samples->live.objects > 0 ? (double) row->live.objects / samples->live.objects : 0;
    row->live.ages_us = estimate_whole(samples->live_ages_us * share);
}

struct heap_amount heap_samples_amount(const struct sample_sums *sums, double ages_us)
{
    uint64_t objects = estimate_whole(sums->objects);
    double share = sums->objects > 0 ? (double) objects / sums->objects : 1;
    return (struct heap_amount){objects, estimate_whole(sums->bytes),
                                estimate_whole(ages_us * share)};
}

/* Sums of the same numbers in another order may round to another number.  Less was never allocated
 * than lives. */
static void make_no_less(struct heap_amount *allocated, const struct heap_amount *live)
{
    if (allocated->objects < live->objects)
        allocated->objects = live->objects;
    if (allocated->bytes < live->bytes)
        allocated->bytes = live->bytes;
}

static void sum_amounts(struct heap_snapshot *snapshot)
{
    snapshot->live = snapshot->allocated = snapshot->existing = (struct heap_amount){0, 0, 0};
    for (size_t i = 0; i < snapshot->count; i++) {
        heap_amount_add(&snapshot->live, &snapshot->rows[i].live);
        heap_amount_add(&snapshot->allocated, &snapshot->rows[i].allocated);
    }
}

/* The rows are those of the cells that are not empty, in the order of the cells, as
 * heap_cells_snapshot() has made them: both loops leave out the same ones, and a row's number is
 * counted along.  What was allocated is weighed when it comes, what lives anew at each snapshot, on
 * a copy: thresholds may have risen since the last one, and the next one starts from the same
 * sums. */
bool heap_samples_show(struct heap_tracker *tracker, struct heap_snapshot *snapshot)
{
    struct cell_samples *cells = &tracker->samples;
    size_t count = tracker->cells.count, row = 0;
    uint64_t now_us = time_age(snapshot->time_ns, snapshot->unit);
    if (!cell_samples_are_counted(cells))
        return true;
    snapshot->samples = calloc(count + 1, sizeof *snapshot->samples);
    snapshot->sampling = cells->weights.sampling;
    if (snapshot->samples == NULL)
        return false;
    if (count > 0 && cells->items != NULL)
        memcpy(snapshot->samples, cells->items,
               (count < cells->capacity ? count : cells->capacity) * sizeof *cells->items);
    sample_weights_pass(&cells->weights, snapshot->time_ns);
    struct live_count live = {cells, now_us, snapshot->samples};
    heap_samples_each_live(tracker, count_live, &live);
    for (size_t i = 0; i < count; i++) {
        struct heap_samples *samples = &snapshot->samples[i];
        if (heap_sums_are_empty(&tracker->cells.items[i].now))
            continue;
        struct heap_row *out = &snapshot->rows[row++];
        out->samples = samples;
        out->live = heap_samples_amount(&samples->live, samples->live_ages_us);
        out->allocated = heap_samples_amount(&samples->allocated,
                                             samples->lives.lives / time_of_age(1, cells->unit));
        out->existing = (struct heap_amount){0, 0, 0}; /* samples are new objects */
        out->most = (struct peak){0, 0};
        make_no_less(&out->allocated, &out->live);
    }
    sum_amounts(snapshot);
    cells->has_previous = true;
    cells->previous_ns = tracker->now_ns;
    return true;
}

void heap_samples_total(struct heap_snapshot *snapshot)
{
    snapshot->all_samples = (struct heap_samples){.allocated = {.samples = 0}};
    for (size_t i = 0; snapshot->samples != NULL && i < snapshot->count; i++)
        heap_samples_merge(&snapshot->all_samples, snapshot->rows[i].samples);
    if (snapshot->is_whole && snapshot->sampling != NULL && snapshot->sampling->totals != NULL) {
        snapshot->all_samples.allocated.sampling = snapshot->sampling;
        snapshot->all_samples.allocated.known = &snapshot->sampling->totals->all;
        sample_sums_make_whole(&snapshot->all_samples.allocated);
    }
}

/* The error of a difference comes only from samples that are in one of the two moments: an object
 * that is in both is the same sample, and cancels out.  Hence the common part is taken off both
 * sides before the errors are added. */
void heap_samples_compare(const struct heap_row *before, const struct heap_row *after,
                          bool allocated, bool is_reversed, struct heap_change *change)
{
    static const struct heap_samples none;
    const struct heap_samples *old = before != NULL ? before->samples : &none;
    const struct heap_samples *new = after != NULL ? after->samples : &none;
    const struct heap_samples *first = is_reversed ? new : old, *last = is_reversed ? old : new;
    struct sample_sums shared = allocated ? first->allocated : last->kept;
    struct sample_sums gone =
        sample_sums_without(allocated ? &old->allocated : &old->live, &shared);
    struct sample_sums added =
        sample_sums_without(allocated ? &new->allocated : &new->live, &shared);
    change->samples = gone.samples + added.samples;
    change->of_objects = amount_estimated_change(
        estimate_difference(estimate_objects(&added), estimate_objects(&gone)), AMOUNT_OBJECTS);
    change->of_bytes = amount_estimated_change(
        estimate_difference(estimate_bytes(&added), estimate_bytes(&gone)), AMOUNT_BYTES);
}
