/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many objects each sample of a trace of engine=sampled stands for (docs/engine-sampled.md).
 *
 * An object of `size` bytes is sampled with the probability p = 1 - exp(-size / interval), with the
 * interval that its record says, and stands for 1 / p objects.  Its death is awaited while its lot
 * is below a threshold, which changes; so what is known of it at a later time stands for
 * 2^53 / (p * least threshold since its birth) objects.  Objects that were given up are censored:
 * they have an allocation, and nothing else.
 *
 * With exact totals (totals=walk, totals=threads) 1 / p is corrected by these (sample_totals.h): in
 * all that is said of a sample, its weight is the corrected one.
 */
#ifndef CONVERTER_TRACE_SAMPLE_WEIGHTS_H
#define CONVERTER_TRACE_SAMPLE_WEIGHTS_H

#include "converter/containers/id_set.h"
#include "converter/containers/object_table.h"
#include "converter/numbers/sample_doubts.h"
#include "converter/numbers/sample_totals.h"
#include "converter/trace/event_source.h"

struct sample_weights {
    uint64_t interval_bytes;   /* of the trace; 0: it has all objects */
    struct sampling *sampling; /* how its samples were drawn; borrowed */
    struct threshold *changes;
    size_t count, capacity;
    size_t passed;   /* changes before the current event */
    uint32_t *least; /* of these, each that is below all later ones, in their order */
    size_t least_count;
    struct id_set given_up;   /* of those that were passed */
    struct object_table live; /* objects whose weights differ from those of the trace's interval */
    struct sample_totals *totals;    /* NULL: none */
    struct sample_doubts doubts;     /* all samples of a biased JVM, with totals */
    struct object_table doubted;     /* those that may stand for less or more, by how much of it */
    uint64_t class_bytes;            /* of classes since the last record of all */
    uint64_t records;                /* of all, those included that the trace has lost */
    const struct trace_names *names; /* of the classes; borrowed */
    bool no_memory;                  /* weights are not valid */
};

/* Reset is allowed for a zeroed structure, too. */
void sample_weights_init(struct sample_weights *weights, uint64_t interval_bytes,
                         struct sampling *sampling);
void sample_weights_reset(struct sample_weights *weights);
/* Initialises the weights of a trace, and reads its facts, before its events.  Of a trace of all
 * objects the interval is 0, and nothing is read.  Reset is allowed in any case. */
enum step_status sample_weights_read(struct sample_weights *weights, struct event_source *source,
                                     struct step_error *error);
/* Callback for the trace's facts (event_source.h), before its events; `user` is the weights. */
enum step_status sample_weights_put_fact(void *user, const struct trace_fact *fact);
/* Returns the weight of an allocation, or of a death.  Call once for each, in the order of time. */
double sample_weights_of(struct sample_weights *weights, const struct trace_event *event);
/* Adds an object with its weight, and what is in doubt of that: of an allocation that was weighed
 * before. */
void sample_weights_add(const struct sample_weights *weights, struct sample_sums *sums,
                        uint64_t object, uint64_t size_bytes, double weight);
/* Passes the changes before a time: an object that was given up is not known then any more. */
void sample_weights_pass(struct sample_weights *weights, uint64_t time_ns);
/* Returns the weight, as of now, of an object that lives: of the last event, or of the time that
 * was passed last.  Returns false if it was given up. */
bool sample_weights_now(const struct sample_weights *weights, uint64_t object, uint64_t size_bytes,
                        double *weight);
/* Returns true if all objects were awaited until the end: then what lives is what was allocated
 * without what was freed. */
static inline bool sample_weights_are_whole(const struct sample_weights *weights)
{
    return weights->count == 0;
}
/* Otherwise: visits the objects that live after the last event, with their weights. */
typedef void (*sample_weight_visit)(void *user, const struct live_object *object, double weight);
void sample_weights_each_live(struct sample_weights *weights, sample_weight_visit visit,
                              void *user);

#endif
