/* SPDX-License-Identifier: Apache-2.0 */
/* How old what lives is, by powers of two. */
#ifndef CONVERTER_HEAP_HEAP_AGES_H
#define CONVERTER_HEAP_HEAP_AGES_H

#include "converter/heap/heap_report.h"

#define HEAP_AGES 65u
/* To be zeroed by its owner. */
struct heap_ages {
    struct heap_amount buckets[HEAP_AGES]; /* 0: younger than 1 us; k: from 2^(k-1) us */
};

void heap_ages_add(struct heap_ages *ages, uint64_t bytes, uint64_t age_us);
/* As text to standard output. */
void heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages);

#endif
