/* SPDX-License-Identifier: Apache-2.0 */
/* Differences by step. */
#include "converter/watch/watch_curve.h"

#include <string.h>

#define FIRST_STEP_NS UINT64_C(1000000)

void watch_curve_init(struct watch_curve *curve)
{
    memset(curve, 0, sizeof *curve);
    curve->step_ns = FIRST_STEP_NS;
}

static void fold(struct watch_curve *curve)
{
    size_t half = WATCH_CURVE_STEPS / 2;
    for (size_t i = 0; i < half; i++) {
        curve->allocated[i] = curve->allocated[2 * i] + curve->allocated[2 * i + 1];
        curve->freed[i] = curve->freed[2 * i] + curve->freed[2 * i + 1];
    }
    memset(curve->allocated + half, 0, half * sizeof *curve->allocated);
    memset(curve->freed + half, 0, half * sizeof *curve->freed);
    curve->count = (curve->count + 1) / 2;
    curve->step_ns *= 2;
}

static size_t step_at(struct watch_curve *curve, uint64_t time_ns)
{
    while (time_ns / curve->step_ns >= WATCH_CURVE_STEPS && curve->step_ns <= UINT64_MAX / 2)
        fold(curve);
    size_t step = (size_t) (time_ns / curve->step_ns);
    step = step < WATCH_CURVE_STEPS ? step : WATCH_CURVE_STEPS - 1;
    if (step >= curve->count)
        curve->count = step + 1;
    return step;
}

void watch_curve_alloc(struct watch_curve *curve, uint64_t time_ns, uint64_t bytes)
{
    curve->allocated[step_at(curve, time_ns)] += bytes;
}

void watch_curve_free(struct watch_curve *curve, uint64_t time_ns, uint64_t bytes)
{
    curve->freed[step_at(curve, time_ns)] += bytes;
}

void watch_curve_live(const struct watch_curve *curve, uint64_t end_ns, uint64_t *out,
                      size_t columns)
{
    uint64_t allocated = 0, freed = 0;
    size_t step = 0;
    for (size_t i = 0; i < columns; i++) {
        double until = (double) end_ns * (double) (i + 1) / (double) columns;
        while (step < curve->count && (double) step * (double) curve->step_ns < until) {
            allocated += curve->allocated[step];
            freed += curve->freed[step++];
        }
        out[i] = allocated > freed ? allocated - freed : 0;
    }
}
