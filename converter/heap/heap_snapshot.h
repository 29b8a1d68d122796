/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap at a moment: objects and bytes by class, site and thread.  What all reports and exports
 * of heaps are made of, whether the heap comes from a trace or from an imported dump.
 */
#ifndef CONVERTER_HEAP_HEAP_SNAPSHOT_H
#define CONVERTER_HEAP_HEAP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/heap/heap_sites.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/heap_moment.h"

struct heap_key {
    uint32_t class_id;
    uint32_t site;
    uint32_t thread_id; /* 0 where threads are not distinguished */
};

struct heap_amount {
    uint64_t objects;
    uint64_t bytes;
    uint64_t ages_us; /* of what lives: the sum of the objects' ages; of what was allocated: of the
                         lifetimes of those that have died */
};

struct heap_row {
    struct heap_key key;
    struct heap_amount live;
    struct heap_amount allocated; /* since the trace's start */
};

/* A cell of a dump (heap_dump.h): sizes include what is further in. */
struct heap_dump_entry {
    uint32_t site; /* 0: the root of backtraces */
    uint32_t class_id;
    bool is_self;   /* the frame `<self>` under the site */
    bool has_class; /* false: all types */
    uint64_t objects;
    uint64_t bytes;
};

struct heap_snapshot {
    struct heap_moment moment; /* what was asked for */
    uint64_t time_ns;          /* what it came to */
    uint64_t collections;      /* that were finished by then */
    struct death_dates deaths; /* of the trace, as far as it was read */
    struct heap_row *rows;     /* each key once */
    size_t count;
    struct heap_amount live; /* totals */
    struct heap_amount allocated;
    bool has_sizes; /* false: the trace does not tell sizes */
    /* Of an imported dump: its own entries, which the rows need not have to the last type. */
    struct heap_dump_entry *dumped; /* NULL: there are none */
    size_t dumped_count;
};

void heap_snapshot_reset(struct heap_snapshot *snapshot);

/* Adds the rows up by some parts of the key: the other parts become 0. */
enum heap_axis { HEAP_BY_CLASS = 1, HEAP_BY_SITE = 2, HEAP_BY_THREAD = 4 };
/* False: out of memory. */
bool heap_snapshot_fold(struct heap_snapshot *snapshot, unsigned axes);

/* What changed from one snapshot to another, in two's complement. */
struct heap_change {
    struct heap_key key;
    int64_t objects, bytes;
    struct heap_amount before, after;
};

/* Rows of either, allocated or live, in no order; the caller frees.  False: out of memory. */
bool heap_snapshot_compare(const struct heap_snapshot *before, const struct heap_snapshot *after,
                           bool allocated, struct heap_change **changes, size_t *count);

#endif
