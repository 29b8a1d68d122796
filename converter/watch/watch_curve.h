/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes over time as differences in steps of equal length, of which two become one when time runs
 * past the last: changes may come in any order of time.
 */
#ifndef CONVERTER_WATCH_WATCH_CURVE_H
#define CONVERTER_WATCH_WATCH_CURVE_H

#include <stddef.h>
#include <stdint.h>

#define WATCH_CURVE_STEPS 512u /* even */

struct watch_curve {
    uint64_t step_ns;
    size_t count; /* steps in use, from time 0 on */
    uint64_t allocated[WATCH_CURVE_STEPS];
    uint64_t freed[WATCH_CURVE_STEPS];
};

void watch_curve_init(struct watch_curve *curve);
void watch_curve_alloc(struct watch_curve *curve, uint64_t time_ns, uint64_t bytes);
void watch_curve_free(struct watch_curve *curve, uint64_t time_ns, uint64_t bytes);

/* What lived at the end of `columns` equal parts of the time up to `end_ns`, from time 0 on. */
void watch_curve_live(const struct watch_curve *curve, uint64_t end_ns, uint64_t *out,
                      size_t columns);

#endif
