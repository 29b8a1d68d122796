/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quantity over time, with a fixed number of steps.  When time passes the last step, pairs of
 * steps are merged and the step length doubles.
 */
#ifndef CONVERTER_TRACE_LEVEL_CURVE_H
#define CONVERTER_TRACE_LEVEL_CURVE_H

#include <stddef.h>
#include <stdint.h>

#define LIVE_CURVE_STEPS 256u

struct live_step {
    uint64_t most_bytes; /* maximum within the step */
    uint64_t last_bytes; /* value at its end */
    uint64_t last_objects;
};

struct level_curve {
    uint64_t step_ns;
    uint64_t step_end_ns; /* end of the last used step */
    size_t count;         /* steps in use */
    struct live_step steps[LIVE_CURVE_STEPS];
};

void level_curve_init(struct level_curve *curve);
/* Advances to a later time. */
void level_curve_advance(struct level_curve *curve, uint64_t time_ns);

/* Sets the live bytes and objects from `time_ns` on.  Earlier times than the last are treated as
 * the last. */
static inline void level_curve_put(struct level_curve *curve, uint64_t time_ns, uint64_t bytes,
                                   uint64_t objects)
{
    if (time_ns >= curve->step_end_ns)
        level_curve_advance(curve, time_ns);
    struct live_step *step = &curve->steps[curve->count - 1];
    if (bytes > step->most_bytes)
        step->most_bytes = bytes;
    step->last_bytes = bytes;
    step->last_objects = objects;
}

#endif
