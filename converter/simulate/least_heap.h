/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least heap in which a program runs with Serial, as -Xmx.  After a collection of the whole
 * heap what lives fills the old generation, then eden; survivor spaces stay empty.  An object needs
 * room in one piece: in the old generation, or in eden.
 */
#ifndef CONVERTER_SIMULATE_LEAST_HEAP_H
#define CONVERTER_SIMULATE_LEAST_HEAP_H

#include "converter/simulate/generations.h"

/* HotSpot rounds -Xmx up to this, with pages of 4 KiB. */
#define HEAP_ALIGNMENT (UINT64_C(2) << 20)

struct least_heap {
    const struct generation_options *options;
    uint64_t young;         /* bytes; 0: a third of the heap, as without -Xmn */
    uint64_t heap;          /* result: the least that was large enough up to now */
    uint64_t old;           /* bytes of the old generation of that heap */
    struct young_spaces in; /* and of the spaces of its young one */
};

void least_heap_init(struct least_heap *least, uint64_t young,
                     const struct generation_options *options);
/* An object of `size` bytes was born; it and all others that live have `living`. */
void least_heap_put(struct least_heap *least, uint64_t living, uint64_t size);

#endif
