/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap at a moment: objects and bytes by class, site and thread.  All heap reports and exports
 * use snapshots, whether from a trace or from an imported dump.
 */
#ifndef CONVERTER_HEAP_HEAP_SNAPSHOT_H
#define CONVERTER_HEAP_HEAP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/containers/peak.h"
#include "converter/heap/heap_sites.h"
#include "converter/numbers/amount.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/heap_moment.h"

struct heap_key {
    uint32_t class_id;
    uint32_t site;
    uint32_t thread_id; /* 0 if threads are not distinguished */
};

struct heap_amount {
    uint64_t objects;
    uint64_t bytes;
    uint64_t ages_us; /* or steps (time_age()): for live objects, the sum of their ages; for
                         allocations, the sum of the lifetimes of the objects that have died */
};

static inline void heap_amount_add(struct heap_amount *sum, const struct heap_amount *amount)
{
    sum->objects += amount->objects;
    sum->bytes += amount->bytes;
    sum->ages_us += amount->ages_us;
}

/* Samples of a sampled trace.  Amounts beside them are the estimates, rounded. */
struct heap_samples {
    struct sample_sums allocated;
    struct sample_sums live;   /* of these */
    double live_ages_us;       /* of these, by weight */
    struct sample_sums kept;   /* of these, alive at the tracker's previous moment already */
    struct sample_lives lives; /* of those that died */
};

struct heap_row {
    struct heap_key key;
    struct heap_amount live;
    struct heap_amount allocated; /* since the trace started */
    struct heap_amount existing;  /* when it started; no ages */
    struct peak most; /* of the row's live objects, at any time of the trace; lost by folding */
    struct heap_samples *samples; /* the snapshot's; NULL: the trace has all objects */
};

/* Returns what of the row's objects has died. */
static inline struct heap_amount heap_row_dead(const struct heap_row *row)
{
    return (struct heap_amount){row->allocated.objects + row->existing.objects - row->live.objects,
                                row->allocated.bytes + row->existing.bytes - row->live.bytes,
                                row->allocated.ages_us};
}

/* An entry of a dump (heap_dump.h).  Sizes are cumulative. */
struct heap_dump_entry {
    uint32_t site; /* 0: the root of all backtraces */
    uint32_t class_id;
    bool is_self;   /* the child `<self>` of the site */
    bool has_class; /* false: sum of all types */
    uint64_t objects;
    uint64_t bytes;
};

struct heap_snapshot {
    struct heap_moment moment; /* the requested moment */
    uint64_t time_ns;          /* its time */
    enum time_unit unit;       /* of all times and ages here */
    uint64_t collections;      /* number of collections finished by then */
    struct death_dates deaths; /* in the part of the trace that was read */
    struct heap_row *rows;     /* unique keys */
    size_t count;
    struct heap_amount live; /* totals */
    struct heap_amount allocated, existing;
    bool has_sizes;                  /* false: the trace has no sizes */
    bool lacks_sizes;                /* some selected object has none */
    bool is_whole;                   /* it is of the trace's end, and of all objects */
    const struct sampling *sampling; /* NULL: the trace has all objects, as for the next two */
    struct heap_samples *samples;    /* of the rows */
    struct heap_samples all_samples;
    /* The entries of an imported dump; its rows may be less detailed. */
    struct heap_dump_entry *dumped; /* NULL: none */
    size_t dumped_count;
};

void heap_snapshot_reset(struct heap_snapshot *snapshot);

/* Sums rows over the parts of the key that are not in `axes`, which become 0. */
enum heap_axis { HEAP_BY_CLASS = 1, HEAP_BY_SITE = 2, HEAP_BY_THREAD = 4 };
void heap_snapshot_fold(struct heap_snapshot *snapshot, unsigned axes);

/* The difference between two snapshots. */
struct heap_change {
    struct heap_key key;
    int64_t objects, bytes; /* in two's complement; of a sampled trace, of rounded estimates */
    struct heap_amount before, after;
    struct amount of_objects, of_bytes; /* the same, as it is shown */
    uint64_t samples;                   /* of a sampled trace: that make the difference */
};

/* Computes the differences of all rows of both snapshots, allocated or live, unordered.  The
 * caller frees `*changes`.  Returns false if out of memory. */
bool heap_snapshot_compare(const struct heap_snapshot *before, const struct heap_snapshot *after,
                           bool allocated, struct heap_change **changes, size_t *count);

#endif
