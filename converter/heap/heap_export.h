/* SPDX-License-Identifier: Apache-2.0 */
/* The options that select which part of a heap is shown or written. */
#ifndef CONVERTER_HEAP_HEAP_EXPORT_H
#define CONVERTER_HEAP_HEAP_EXPORT_H

#include "converter/heap/heap_snapshot.h"
#include "converter/trace/heap_moment.h"
#include "converter/trace/trace_format.h"

struct event_selection;

struct heap_export {
    const struct event_selection *selected; /* objects to include; borrowed.  NULL: all */
    struct heap_moment at;                  /* the moment, if there is only one */
    bool has_moment;                        /* `at` was given */
    uint64_t every_ns;                      /* not 0: a series with this interval */
    bool every_collection;
    bool allocated; /* all allocations, not only live objects */
    bool v2;        /* memory-infra: write heaps_v2 */
    bool has_least; /* omit nodes smaller than `least` */
    bool least_is_percent;
    double least;
};

/* Returns the limit in bytes for a heap of `total_bytes`; 0 if none was given. */
uint64_t heap_export_least_bytes(const struct heap_export *options, uint64_t total_bytes);
/* Returns the amount of a row that the options select. */
static inline const struct heap_amount *heap_export_amount(const struct heap_export *options,
                                                           const struct heap_row *row)
{
    return options->allocated ? &row->allocated : &row->live;
}

/* The options --at; --allocated; and those for series of dumps.  All set a struct heap_export. */
extern const struct format_options heap_moment_options;
extern const struct format_options heap_options;
extern const struct format_options heap_series_options;
extern const struct format_options *const heap_format_options[]; /* the first two */
/* Returns the option values, with defaults. */
struct heap_export heap_export_of(const struct format_settings *settings);

/* Parser of an option value, as in arguments.h. */
bool take_heap_least(void *export_target, const char *value, const char **fault);

#endif
