/* SPDX-License-Identifier: Apache-2.0 */
/* Advice on allocation sites: what the trace shows of their objects, and how many bytes are at
 * stake.  docs/advice.md defines each rule. */
#ifndef ANALYSES_SITES_ADVICE_H
#define ANALYSES_SITES_ADVICE_H

#include "analyses/sites/site_lives.h"

enum advice_kind {
    ADVICE_PRETENURE, /* the objects survive collections: allocate them where they stay */
    ADVICE_REUSE,     /* a few objects live at a time: keep them in a pool */
    ADVICE_DUPLICATE, /* each object is dead before the next is made: keep one, or its result */
    ADVICE_SCALAR,    /* the objects are never stored: local variables could replace them */
    ADVICE_PRESIZE,   /* their arrays grow: make them as long as they will be */
    ADVICE_KIND_COUNT
};

/* Words of each kind, in the order of the enumeration. */
extern const char *const advice_words[ADVICE_KIND_COUNT];

struct advice {
    uint32_t site; /* in struct site_lives */
    enum advice_kind kind;
    uint64_t objects; /* that show it */
    uint64_t bytes;   /* at stake */
    bool is_bound;    /* some deaths are lower bounds: it may not hold */
};

#define ADVICE_WITHIN_DEFAULT UINT64_C(8)
#define ADVICE_LEAST_DEFAULT (UINT64_C(64) << 10)

struct advice_options {
    uint64_t least_bytes; /* at stake */
    bool has_references;
};

struct advice_list {
    struct advice *items; /* most bytes first */
    size_t count, capacity;
};

/* A site with fewer objects that show it gives no advice. */
#define ADVICE_OBJECTS_LEAST 16u
/* Objects to keep in a pool are at least this large on average: smaller ones are cheaper made. */
#define ADVICE_POOLED_BYTES_LEAST 512u
/* The share of a site's objects, or bytes, that must show it. */
#define ADVICE_SHARE 0.9
/* HotSpot replaces arrays of at most this length (EliminateAllocationArraySizeLimit). */
#define ADVICE_SCALAR_ELEMENTS 64u

struct trace_names;

/* Returns false if out of memory; advice_reset() is allowed then. */
bool advice_make(struct advice_list *list, const struct site_lives *lives,
                 const struct trace_names *names, const struct advice_options *options);
void advice_reset(struct advice_list *list);

#endif
