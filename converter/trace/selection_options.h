/* SPDX-License-Identifier: Apache-2.0 */
/* The options that select a part of a trace; see docs/selection.md. */
#ifndef CONVERTER_TRACE_SELECTION_OPTIONS_H
#define CONVERTER_TRACE_SELECTION_OPTIONS_H

#include "converter/cli/arguments.h"
#include "converter/trace/event_selection.h"

/* Parsers of option values, as in arguments.h. */
bool take_kinds(void *uint32_target, const char *value, const char **fault);
bool take_globs(void *globs_target, const char *value, const char **fault);
/* The same of what may have an empty name, as a phase may. */
bool take_names(void *globs_target, const char *value, const char **fault);
bool take_size_range(void *range_target, const char *value, const char **fault);
bool take_time_range(void *range_target, const char *value, const char **fault);
bool take_slice(void *selection_target, const char *value, const char **fault);
bool take_alive_at(void *selection_target, const char *value, const char **fault);
bool take_temporary(void *selection_target, const char *value, const char **fault);

/* Options of verbs that process objects. */
#define OBJECT_SELECTION_ROWS(selected)                                                             \
    {"class",    0,                                                                                 \
     "GLOB",     "only of classes that match (* stops at /, ** does not; !GLOB: all but)",          \
     take_globs, &(selected)->classes},                                                             \
        {"site",     0,                                                                             \
         "GLOB",     "only objects allocated in or below CLASS.METHOD[:LINE]",                      \
         take_globs, &(selected)->sites},                                                           \
        {"method",   0,                                                                             \
         "GLOB",     "only calls of CLASS.METHOD, and its own allocations",                         \
         take_globs, &(selected)->methods},                                                         \
        {"thread",   0,                                                                             \
         "N|GLOB",   "only of this thread, by its number or name",                                  \
         take_globs, &(selected)->threads},                                                         \
        {"phase",    0,                                                                             \
         "GLOB",     "only in phases of this name (docs/phases.md)",                                \
         take_names, &(selected)->phases},                                                          \
        {"size",           0, "RANGE", "only objects of this size (>=1k, 16..64)", take_size_range, \
         &(selected)->size},                                                                        \
        {"lifetime",      0,                                                                        \
         "RANGE",         "only objects with this lifetime (<10ms, 1s..2s)",                        \
         take_time_range, &(selected)->lifetime},                                                   \
        {"alive-at",    0,                                                                          \
         "MOMENT",      "only objects alive at this moment: peak, end, gc:N, a time",               \
         take_alive_at, (selected)},                                                                \
        {"temporary",    0,                                                                         \
         NULL,           "only objects that died by the first collection after their allocation",   \
         take_temporary, (selected)},                                                               \
        {"temporary",    0,         "N", "only objects that died within N further allocations",     \
         take_temporary, (selected)},                                                               \
        {"time",     0,                                                                             \
         "A..B",     "only events from A to B (200ms..1.5s, ..3us, 2s..; plain: s)",                \
         take_slice, (selected)},                                                                   \
        {"from-time", 0, "T", "only events at T or later", take_time, &(selected)->from_ns},        \
        {"to-time", 0, "T", "only events at T or earlier", take_time, &(selected)->to_ns},          \
    {                                                                                               \
        "dtd", 0, "FILE", "DTD of a Meta-TF trace that does not contain it", take_text,             \
            &(selected)->dtd_path                                                                   \
    }

/* The same for verbs that process events. */
#define SELECTION_ROWS(selected)                                                                   \
    {"kind", 0, "KINDS", "only these kinds, as OA,OF", take_kinds, &(selected)->kinds},            \
        OBJECT_SELECTION_ROWS(selected)

#endif
