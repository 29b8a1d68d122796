/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of call sites, made from a trace's frames, also derived ones, or the frames of an imported
 * dump.  Site 0 is the root, which represents an empty stack.  A parent's number is lower than
 * those of its children.
 */
#ifndef CONVERTER_HEAP_HEAP_SITES_H
#define CONVERTER_HEAP_HEAP_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "converter/cli/stack_text.h"
#include "converter/containers/id_table.h"
#include "converter/trace/event.h"
#include "converter/trace/names.h"
#include "format/core/bytes.h"
#include "format/core/hash_index.h"

struct heap_site {
    uint32_t parent;
    uint32_t method_id;
    uint32_t line;     /* 0: unknown */
    uint32_t bytecode; /* 1 + bytecode index, if the line is unknown or with places=bytecode */
    uint32_t depth;    /* of the root: 0; heap_sites_put() sets it */
};

struct heap_sites {
    const struct trace_names *names; /* borrowed */
    struct heap_site *items;         /* [0] is the root */
    size_t count;
    size_t capacity;
    struct step_index index; /* by parent, method and position */
    struct id_table frames;  /* uint32_t: site of a frame of the trace; 0: not looked up */
    uint32_t *chain;         /* scratch: frames on the path to the root */
    size_t chain_capacity;
};

/* Returns false if out of memory; heap_sites_reset() is allowed then. */
bool heap_sites_init(struct heap_sites *sites, const struct trace_names *names);
void heap_sites_reset(struct heap_sites *sites);

/* Returns the site below `site->parent`, adding it if necessary; 0 if out of memory. */
uint32_t heap_sites_put(struct heap_sites *sites, const struct heap_site *site);
/* The same for the place of a site of another tree, whatever its callers: a site without a parent.
 */
uint32_t heap_sites_put_place(struct heap_sites *places, const struct heap_site *site);
/* Return the site of a frame of the names; 0 for frame 0, or if out of memory. */
uint32_t heap_sites_of_frame_slowly(struct heap_sites *sites, uint32_t frame);

static inline uint32_t heap_sites_of_frame(struct heap_sites *sites, uint32_t frame)
{
    const uint32_t *known = id_table_find(&sites->frames, frame);
    return known != NULL && *known != 0 ? *known : heap_sites_of_frame_slowly(sites, frame);
}

/* Returns the number of sites from this one to the root, excluding the root. */
static inline size_t heap_sites_depth(const struct heap_sites *sites, uint32_t site)
{
    return sites->items[site].depth;
}

/* Writes "java/util/HashMap.resize:702", truncated to `out_size`.  Returns the length. */
size_t heap_site_print(const struct heap_sites *sites, uint32_t site, char *out, size_t out_size);
struct frame_place heap_site_place(const struct heap_sites *sites, const struct heap_site *site);
/* Returns the site and its callers for printing. */
struct stack_text heap_site_stack(const struct heap_sites *sites, uint32_t site, uint64_t depth);

#define HEAP_SITE_TEXT FRAME_TEXT

/* The functions of profiles (pprof, OTLP): their names and source files. */

/* Puts "java/util/HashMap.newNode" in place of the buffer's content.  Returns false if memory runs
 * out. */
bool profile_function_name(const struct trace_names *names, uint32_t method_id,
                           struct step_buffer *out);
/* Sets `path` to the source file of a place in the method, or "".  Returns true if it is another
 * file than the class's, which a source map can say: the place is then a function of its own. */
bool profile_place_path(const struct trace_names *names, uint32_t method_id,
                        const struct frame_place *place, char path[HEAP_SITE_TEXT]);

#endif
