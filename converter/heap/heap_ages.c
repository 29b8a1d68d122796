/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one line for each bucket that has objects. */
#include "converter/heap/heap_ages.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/base/quantity.h"

void heap_ages_add(struct heap_ages *ages, uint64_t bytes, uint64_t age_us)
{
    struct heap_amount *bucket = &ages->buckets[age_us == 0 ? 0 : 64 - __builtin_clzll(age_us)];
    bucket->objects++;
    bucket->bytes += bytes;
    bucket->ages_us += age_us;
}

void heap_print_ages(const struct heap_report *report, const struct heap_snapshot *snapshot,
                     const struct heap_ages *ages)
{
    heap_report_put_head(report, snapshot);
    printf("\n%12s %14s %6s  age\n", "objects", "bytes", "%");
    for (unsigned i = 0; i < HEAP_AGES; i++) {
        const struct heap_amount *bucket = &ages->buckets[i];
        if (bucket->objects == 0)
            continue;
        double from_us = i == 0 ? 0 : (double) (UINT64_C(1) << (i - 1));
        printf("%12" PRIu64 " %14" PRIu64 " %6.1f  %s to %s\n", bucket->objects, bucket->bytes,
               heap_report_share(bucket->bytes, snapshot->live.bytes),
               quantity_of_ns(1000 * from_us).text,
               quantity_of_ns(i == 0 ? 1000 : 2000 * from_us).text);
    }
}
