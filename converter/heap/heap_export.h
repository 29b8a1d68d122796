/* SPDX-License-Identifier: Apache-2.0 */
/* What of a heap is shown or written, and the options that say so. */
#ifndef CONVERTER_HEAP_HEAP_EXPORT_H
#define CONVERTER_HEAP_HEAP_EXPORT_H

#include "converter/events/heap_moment.h"
#include "converter/heap/heap_snapshot.h"

struct event_selection;

struct heap_export {
    const struct event_selection *selected; /* objects that it tells of; borrowed.  NULL: all */
    struct heap_moment at;                  /* where it is one moment */
    bool has_moment;                        /* `at` was asked for */
    uint64_t every_ns;                      /* not 0: a series */
    bool every_collection;
    bool allocated; /* what was allocated, not what lives */
    bool v2;        /* memory-infra: heaps_v2 */
    bool has_least; /* nodes smaller than `least` are left out */
    bool least_is_percent;
    double least;
};

/* The limit that the options come to for a heap of so many bytes; 0 if none was given. */
uint64_t heap_export_least_bytes(const struct heap_export *options, uint64_t total_bytes);
/* What of a row the options ask for. */
static inline const struct heap_amount *heap_export_amount(const struct heap_export *options,
                                                           const struct heap_row *row)
{
    return options->allocated ? &row->allocated : &row->live;
}

/* A value of an option, as in arguments.h. */
bool take_heap_least(void *export_target, const char *value, const char **fault);

#endif
