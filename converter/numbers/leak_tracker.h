/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the live bytes by class and site after collections, in one pass.  It samples every
 * collection at first.  When there are LEAK_SAMPLES samples, it drops every second one and from
 * then on samples half as often.
 */
#ifndef CONVERTER_NUMBERS_LEAK_TRACKER_H
#define CONVERTER_NUMBERS_LEAK_TRACKER_H

#include "converter/heap/heap_tracker.h"

#define LEAK_SAMPLES 32u /* even */

struct leak_sample {
    uint64_t collection; /* from 1 */
    uint64_t *bytes;     /* by cell of the tracker; objects if sizes are unknown */
    size_t cell_count;
};

struct leak_tracker {
    struct heap_tracker heap;
    bool with_existing; /* include objects that existed when tracing started */
    struct leak_sample samples[LEAK_SAMPLES];
    size_t sample_count;
    uint64_t stride;
    uint64_t *times_ns; /* of collections */
    size_t time_count, time_capacity;
    struct collection_clock clock;
};

/* Returns false if memory runs out; call reset in any case. */
bool leak_tracker_init(struct leak_tracker *tracker, const struct trace_names *names,
                       bool with_existing);
/* The same for selected objects.  The tracker needs the events of all objects, since collections
 * are those of the whole trace.  */
bool leak_tracker_init_selected(struct leak_tracker *tracker, const struct trace_names *names,
                                bool with_existing, const struct event_selection *selected);
/* Call it before the first event where the trace may be sampled. */
enum step_status leak_tracker_weigh(struct leak_tracker *tracker, struct event_source *source,
                                    struct step_error *error);
void leak_tracker_reset(struct leak_tracker *tracker);
/* Callback for input_each(); `user` is the tracker. */
enum step_status leak_tracker_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error);
enum step_status leak_tracker_finish(struct leak_tracker *tracker, struct step_error *error);
/* Returns the number of collections since `born_us`. */
uint64_t leak_tracker_survived(const struct leak_tracker *tracker, uint64_t born_us);
/* Returns the first sample after that time, or sample_count if there is none. */
size_t leak_tracker_sample_after(const struct leak_tracker *tracker, uint64_t born_us);
/* Returns the first of the samples that lines are fitted to: the last half of them. */
size_t leak_tracker_line_first(const struct leak_tracker *tracker);
/* Cells from this index on belong to selected objects. */
size_t leak_tracker_first_cell(const struct leak_tracker *tracker);
/* Returns the amount of selected objects that are alive now; of a sampled trace an estimate, and
 * adds its samples to `*samples`. */
struct heap_amount leak_tracker_live(const struct leak_tracker *tracker,
                                     struct sample_sums *samples);

#endif
