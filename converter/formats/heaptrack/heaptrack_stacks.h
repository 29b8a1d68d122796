/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the heaptrack folder: the numbers that a heaptrack file gives to texts, frames and stacks.
 * Each is written when it is first asked for, after what it refers to; memory is that of the sites
 * and classes that there are.
 */
#ifndef CONVERTER_FORMATS_HEAPTRACK_HEAPTRACK_STACKS_H
#define CONVERTER_FORMATS_HEAPTRACK_HEAPTRACK_STACKS_H

#include <stdio.h>

#include "converter/base/name_index.h"
#include "converter/heap/heap_sites.h"

struct heaptrack_stacks {
    FILE *out;                      /* borrowed */
    const struct heap_sites *sites; /* borrowed: of the trace; may grow */
    struct name_index texts;        /* a Java method's go by its number + 1 */
    struct id_table class_frames;   /* uint32_t: of a class, the frame */
    struct id_table site_stacks;    /* uint32_t: of a site, the stack */
    struct heap_sites places;       /* sites without parents: a frame each */
    struct id_table place_frames;   /* uint32_t: the file's number of a place */
    struct heap_sites stacks;       /* numbers are the file's; method_id is the frame */
    uint32_t frame_count;
    uint32_t *chain; /* scratch: sites on the way out */
    size_t chain_capacity;
};

/* False: out of memory; reset is allowed then. */
bool heaptrack_stacks_init(struct heaptrack_stacks *stacks, FILE *out,
                           const struct heap_sites *sites);
void heaptrack_stacks_reset(struct heaptrack_stacks *stacks);

/* The stack of a site, with the class as its innermost frame where the site is a Java method's or
 * there is none.  0: out of memory. */
uint32_t heaptrack_stack_of(struct heaptrack_stacks *stacks, uint32_t site, uint32_t class_id);

#endif
