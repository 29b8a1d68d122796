/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sample stands for whose death was awaited: with live=, that is a part of the samples
 * (converter/trace/sample_weights.h).  Unlike there, objects may come in any order.
 */
#ifndef CONVERTER_TABLES_LIFE_WEIGHTS_H
#define CONVERTER_TABLES_LIFE_WEIGHTS_H

#include "converter/base/id_set.h"
#include "converter/tables/tables_trace.h"

struct life_weights {
    uint64_t *times_ns; /* of changes of the threshold, ascending */
    uint64_t *least;    /* a tree of minima: the thresholds are `least[count]` and following */
    size_t count, capacity;
    struct id_set given_up;
};

/* Reads the changes of a trace.  Reset is allowed in any case, and for a zeroed structure. */
enum step_status life_weights_read(struct life_weights *weights, struct tables *tables,
                                   struct step_error *error);
void life_weights_reset(struct life_weights *weights);
/* Returns how many samples one stands for whose death was awaited from `born_ns` to `end_ns`
 * (UINT64_MAX: the end of the trace), or 0 if it was given up. */
double life_weights_factor(const struct life_weights *weights, uint64_t object, uint64_t born_ns,
                           uint64_t end_ns);

#endif
