/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs the objects of a sampled trace in heaps (docs/engine-sampled.md): a tracker counts samples
 * by cell, and its snapshots get estimates. */
#ifndef CONVERTER_HEAP_HEAP_SAMPLES_H
#define CONVERTER_HEAP_HEAP_SAMPLES_H

#include "converter/containers/object_table.h"
#include "converter/heap/heap_snapshot.h"
#include "converter/trace/sample_weights.h"

struct heap_tracker;

/* A sample that died, and that a collection before had found alive. */
struct sample_death {
    uint32_t cell;
    uint64_t size_bytes, born_ns, died_ns; /* or steps */
    double weight;                         /* of its known life */
};

/* Samples by cell of a tracker.  To initialise, zero the structure and read the weights. */
struct cell_samples {
    struct sample_weights weights; /* interval 0: all objects are there, and nothing is counted */
    enum time_unit unit;           /* of the trace's times */
    struct heap_samples *items;    /* without `live` and `kept`, which snapshots count */
    size_t capacity;
    bool has_previous; /* a snapshot was taken */
    uint64_t previous_ns;
    bool keeps_deaths;
    struct sample_death *deaths;
    size_t death_count, death_capacity;
    uint64_t collection_ns, collection_before_ns; /* the last times of deaths */
};

void cell_samples_reset(struct cell_samples *samples);
static inline bool cell_samples_are_counted(const struct cell_samples *samples)
{
    return samples->weights.interval_bytes != 0;
}
/* Count an allocation, or a death, of a trace whose samples are counted: call them for those alone.
 * `object`: as the tracker's table has it; NULL: its allocation was not counted.  Return false if
 * out of memory. */
bool cell_samples_add(struct cell_samples *samples, uint32_t cell, const struct trace_event *event);
bool cell_samples_remove(struct cell_samples *samples, const struct live_object *object,
                         const struct trace_event *event);
/* Visits the samples that live and were not given up, with their weights as of now. */
typedef void (*sample_visit)(void *user, const struct live_object *object, double weight);
void heap_samples_each_live(const struct heap_tracker *tracker, sample_visit visit, void *user);
/* Replaces the amounts of a snapshot, whose rows are those of heap_cells_snapshot(), by estimates.
 * Returns false if out of memory. */
bool heap_samples_show(struct heap_tracker *tracker, struct heap_snapshot *snapshot);
/* Adds up the samples of all rows. */
void heap_samples_total(struct heap_snapshot *snapshot);
/* Rounds sums to numbers of objects and bytes; the ages by weight are those of the rounded number,
 * so that their mean is that of the samples. */
struct heap_amount heap_samples_amount(const struct sample_sums *sums, double ages_us);
/* The same of a row that was added up from others, whose numbers were rounded before. */
void heap_samples_age(struct heap_row *row);
void heap_samples_merge(struct heap_samples *sum, const struct heap_samples *other);
/* Estimates the difference of two rows, each of which may be NULL, of successive snapshots of a
 * tracker.  Objects that are in both do not make it uncertain.  `is_reversed`: `before` is of the
 * later moment. */
void heap_samples_compare(const struct heap_row *before, const struct heap_row *after,
                          bool allocated, bool is_reversed, struct heap_change *change);

#endif
