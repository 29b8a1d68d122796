/* SPDX-License-Identifier: Apache-2.0 */
/* What of a heap is shown or written, and the options that say so. */
#ifndef CONVERTER_HEAP_HEAP_EXPORT_H
#define CONVERTER_HEAP_HEAP_EXPORT_H

#include "converter/heap/heap_snapshot.h"
#include "converter/trace/heap_moment.h"
#include "converter/trace/trace_format.h"

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

/* --at; --allocated; and what only a series of dumps has.  All fill a heap_export. */
extern const struct format_options heap_moment_options;
extern const struct format_options heap_options;
extern const struct format_options heap_series_options;
extern const struct format_options *const heap_format_options[]; /* the first two */
/* What they come to. */
struct heap_export heap_export_of(const struct format_settings *settings);

/* A value of an option, as in arguments.h. */
bool take_heap_least(void *export_target, const char *value, const char **fault);

#endif
