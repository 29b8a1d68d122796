/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of the ages of live objects, in powers of two. */
#ifndef CONVERTER_HEAP_HEAP_AGES_H
#define CONVERTER_HEAP_HEAP_AGES_H

#include "converter/heap/heap_report.h"

#define HEAP_AGES 65u
/* Zero-initialise. */
struct heap_ages {
    struct heap_amount buckets[HEAP_AGES]; /* [0]: younger than 1 us; [k]: from 2^(k-1) us */
};

void heap_ages_add(struct heap_ages *ages, uint64_t bytes, uint64_t age_us);
/* Prints the histogram as text to standard output. */
void heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages);

#endif
