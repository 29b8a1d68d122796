/* SPDX-License-Identifier: Apache-2.0 */
/* Enlarges a heap until what lives fits. */
#include "converter/simulate/least_heap.h"

#define GENERATIONS 3 /* the heap in young generations: NewRatio 2 */

static void divide(struct least_heap *least)
{
    uint64_t third = least->heap / GENERATIONS;
    uint64_t young = least->young != 0 ? least->young : third - third % SPACE_ALIGNMENT;
    least->in = young_spaces_of(young, least->options);
    least->old = least->heap - young;
}

void least_heap_init(struct least_heap *least, uint64_t young,
                     const struct generation_options *options)
{
    uint64_t least_bytes = young + SPACE_ALIGNMENT;
    *least = (struct least_heap){.options = options, .young = young};
    least->heap = (least_bytes + HEAP_ALIGNMENT - 1) / HEAP_ALIGNMENT * HEAP_ALIGNMENT;
    divide(least);
}

static bool fits(const struct least_heap *least, uint64_t living, uint64_t size)
{
    return living <= least->old ||
           (size <= least->in.eden && living <= least->old + least->in.eden);
}

void least_heap_put(struct least_heap *least, uint64_t living, uint64_t size)
{
    while (!fits(least, living, size)) {
        least->heap += HEAP_ALIGNMENT;
        divide(least);
    }
}
