/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where allocations come from: a tree of call sites, made of a trace's frames, of its method
 * events, or of the frames of an imported dump.  Site 0 is the root, that of an empty stack; a
 * parent's number is less than that of its children.
 */
#ifndef CONVERTER_HEAP_HEAP_SITES_H
#define CONVERTER_HEAP_HEAP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "converter/base/id_table.h"
#include "converter/base/stack_text.h"
#include "converter/trace/names.h"
#include "format/core/hash_index.h"

struct heap_site {
    uint32_t parent;
    uint32_t method_id;
    uint32_t line;     /* 0: not known */
    uint32_t bytecode; /* 1 + index, where the line is not known; 0: none */
};

struct heap_sites {
    const struct trace_names *names; /* borrowed */
    struct heap_site *items;         /* the first is the root */
    size_t count;
    size_t capacity;
    struct step_index index; /* by parent, method and place */
    struct id_table frames;  /* uint32_t: the site of a frame of the trace, 0: not looked up */
    uint32_t *chain;         /* scratch: frames on the way out */
    size_t chain_capacity;
};

/* False: out of memory; reset is allowed then. */
bool heap_sites_init(struct heap_sites *sites, const struct trace_names *names);
void heap_sites_reset(struct heap_sites *sites);

/* The site under `site->parent`, made if need be; 0: out of memory. */
uint32_t heap_sites_put(struct heap_sites *sites, const struct heap_site *site);
/* The site of a frame of the names; 0 for frame 0, and where memory is out. */
uint32_t heap_sites_of_frame_slowly(struct heap_sites *sites, uint32_t frame);

static inline uint32_t heap_sites_of_frame(struct heap_sites *sites, uint32_t frame)
{
    const uint32_t *known = id_table_find(&sites->frames, frame);
    return known != NULL && *known != 0 ? *known : heap_sites_of_frame_slowly(sites, frame);
}

/* How many sites there are up to the root, which does not count. */
size_t heap_sites_depth(const struct heap_sites *sites, uint32_t site);

/* "java/util/HashMap.resize:702", cut where it does not fit.  Returns the length. */
size_t heap_site_print(const struct heap_sites *sites, uint32_t site, char *out, size_t out_size);
struct frame_place heap_site_place(const struct heap_site *site);
/* The site and its callers, to be printed. */
struct stack_text heap_site_stack(const struct heap_sites *sites, uint32_t site, uint64_t depth);

#define HEAP_SITE_TEXT FRAME_TEXT

#endif
