/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes that live over time: changes in steps whose length doubles when they are too many. */
#include "analyses/watch/watch_feed.h"

#include <string.h>

#define FIRST_STEP_NS UINT64_C(1000000)

void watch_curve_init(struct watch_curve *curve)
{
    memset(curve, 0, sizeof *curve);
    curve->step_ns = FIRST_STEP_NS;
}

static void watch_curve_fold(struct watch_curve *curve)
{
    size_t half = WATCH_CURVE_STEPS / 2;
    for (size_t i = 0; i < half; i++) {
        curve->changes[i] = curve->changes[2 * i] + curve->changes[2 * i + 1];
        curve->pending[i] = curve->pending[2 * i] + curve->pending[2 * i + 1];
    }
    memset(curve->changes + half, 0, half * sizeof *curve->changes);
    memset(curve->pending + half, 0, half * sizeof *curve->pending);
    curve->count = (curve->count + 1) / 2;
    curve->step_ns *= 2;
}

static size_t watch_curve_step_at(struct watch_curve *curve, uint64_t time_ns)
{
    while (time_ns / curve->step_ns >= WATCH_CURVE_STEPS && curve->step_ns <= UINT64_MAX / 2)
        watch_curve_fold(curve);
    size_t step = (size_t) (time_ns / curve->step_ns);
    step = step < WATCH_CURVE_STEPS ? step : WATCH_CURVE_STEPS - 1;
    if (step >= curve->count)
        curve->count = step + 1;
    return step;
}

void watch_curve_put(struct watch_curve *curve, uint64_t time_ns, uint64_t change, bool pending)
{
    (pending ? curve->pending : curve->changes)[watch_curve_step_at(curve, time_ns)] += change;
}

void watch_curve_live(const struct watch_curve *curve, uint64_t end_ns, uint64_t *out,
                      size_t columns)
{
    uint64_t live = 0; /* modulo 2^64: sums may wrap below 0 if a death precedes its birth */
    size_t step = 0;
    for (size_t i = 0; i < columns; i++) {
        double until = (double) end_ns * (double) (i + 1) / (double) columns;
        while (step < curve->count && (double) step * (double) curve->step_ns < until) {
            live += curve->changes[step] + curve->pending[step];
            step++;
        }
        out[i] = live <= INT64_MAX ? live : 0;
    }
}
