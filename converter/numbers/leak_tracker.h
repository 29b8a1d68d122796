/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows what lives through one pass, and notes how much lives of each class and site after
 * collections: after each of them at first; whenever there are LEAK_SAMPLES, each second one is
 * given up, and from then on only each second (fourth, ...) is noted.
 */
#ifndef CONVERTER_NUMBERS_LEAK_TRACKER_H
#define CONVERTER_NUMBERS_LEAK_TRACKER_H

#include "converter/heap/heap_tracker.h"

#define LEAK_SAMPLES 32u /* even */

struct leak_sample {
    uint64_t collection; /* from 1 */
    uint64_t *bytes;     /* by cell of the tracker; of objects where sizes are not known */
    size_t cell_count;
};

struct leak_tracker {
    struct heap_tracker heap;
    bool with_existing; /* objects that were there when tracing started */
    struct leak_sample samples[LEAK_SAMPLES];
    size_t sample_count;
    uint64_t stride;
    uint64_t *times_ns; /* of collections */
    size_t time_count, time_capacity;
    struct collection_clock clock;
};

/* False: out of memory; reset is allowed then. */
bool leak_tracker_init(struct leak_tracker *tracker, const struct trace_names *names,
                       bool with_existing);
/* The same for a part of the objects; the tracker gets the events of all, since collections are
 * those of the whole trace. */
bool leak_tracker_init_selected(struct leak_tracker *tracker, const struct trace_names *names,
                                bool with_existing, const struct event_selection *selected);
void leak_tracker_reset(struct leak_tracker *tracker);
/* A visit of input_each(); `user` is the tracker. */
enum step_status leak_tracker_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error);
enum step_status leak_tracker_finish(struct leak_tracker *tracker, struct step_error *error);
/* How many collections an object has seen that was born then. */
uint64_t leak_tracker_survived(const struct leak_tracker *tracker, uint64_t born_us);
/* The first sample after that time; sample_count: there is none. */
size_t leak_tracker_sample_after(const struct leak_tracker *tracker, uint64_t born_us);
/* Cells from this one on are of objects that are selected. */
size_t leak_tracker_first_cell(const struct leak_tracker *tracker);
/* The selected objects that live now. */
struct heap_amount leak_tracker_live(const struct leak_tracker *tracker);

#endif
