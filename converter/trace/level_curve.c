/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles the step length when all steps are used. */
#include "converter/trace/level_curve.h"

#define FIRST_STEP_NS UINT64_C(1000)

void level_curve_init(struct level_curve *curve)
{
    *curve =
        (struct level_curve){.step_ns = FIRST_STEP_NS, .step_end_ns = FIRST_STEP_NS, .count = 1};
}

static void level_curve_fold(struct level_curve *curve)
{
    size_t pairs = (curve->count + 1) / 2;
    for (size_t i = 0; i < pairs; i++) {
        struct live_step first = curve->steps[2 * i];
        struct live_step last = 2 * i + 1 < curve->count ? curve->steps[2 * i + 1] : first;
        if (first.most_bytes > last.most_bytes)
            last.most_bytes = first.most_bytes;
        curve->steps[i] = last;
    }
    curve->count = pairs;
    curve->step_ns *= 2;
}

void level_curve_advance(struct level_curve *curve, uint64_t time_ns)
{
    while (time_ns / curve->step_ns >= LIVE_CURVE_STEPS)
        level_curve_fold(curve);
    size_t at = (size_t) (time_ns / curve->step_ns);
    for (; curve->count <= at; curve->count++) {
        struct live_step before = curve->steps[curve->count - 1];
        before.most_bytes = before.last_bytes;
        curve->steps[curve->count] = before;
    }
    if (__builtin_mul_overflow((uint64_t) curve->count, curve->step_ns, &curve->step_end_ns))
        curve->step_end_ns = UINT64_MAX;
}
