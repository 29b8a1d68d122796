/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a trace that a verb processes, selected with the same options for all verbs
 * (docs/selection.md).  Different criteria must all hold.  If one criterion has several patterns,
 * at least one must match, and no pattern that begins with `!` may match.
 */
#ifndef CONVERTER_TRACE_EVENT_SELECTION_H
#define CONVERTER_TRACE_EVENT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/arguments.h"
#include "converter/trace/event.h"
#include "converter/trace/heap_moment.h"
#include "steptrace/value.h"

struct id_set;

#define SELECTED_GLOBS_MOST 16u

/* The patterns of one criterion; texts are borrowed. */
struct selected_globs {
    const char *items[SELECTED_GLOBS_MOST];
    unsigned count;
};

/* A range of numbers, `least` and `most` included. */
struct selected_range {
    bool is_set;
    uint64_t least;
    uint64_t most;
};

struct event_selection {
    uint64_t from_ns;
    uint64_t to_ns;
    uint32_t kinds; /* bitmap of TRACE_KIND_BIT */
    bool untracked; /* the verb tracks live objects itself: the source need not complete frees */
    const char *dtd_path;          /* of a Meta-TF trace; NULL: in the file, or next to it */
    struct selected_globs threads; /* numbers as in the text format, or names */
    struct selected_globs classes;
    struct selected_globs sites;   /* of any frame of an allocation's stack */
    struct selected_globs methods; /* of calls; and an allocation's innermost frame */
    struct selected_globs phases;  /* that the event's thread or the program is in */
    bool marks_phases; /* TRACE_IN_PHASE is set, for another filter; this one ignores `phases` */
    struct selected_range size;     /* bytes */
    struct selected_range lifetime; /* ns */
    bool has_alive_at;
    struct heap_moment alive_at;
    bool temporary;            /* died by the first collection after the allocation, */
    uint64_t temporary_allocs; /* or, if not 0, within this many further allocations */
    /* The objects that satisfy `lifetime`, `alive_at` and `temporary`, found in a separate pass
     * (formats/chosen_objects.h); borrowed.  NULL: not needed. */
    const struct id_set *objects;
    bool metadata; /* HATF: return metadata records, too */
};

/* Initialises a selection that accepts everything. */
void event_selection_init(struct event_selection *selected);
bool event_selection_is_all(const struct event_selection *selected);
/* Returns whether only times and at most one thread, by number, are selected: criteria that
 * records of every kind support. */
bool event_selection_is_slice(const struct event_selection *selected);
/* For a source whose events `objects` selects later: sets TRACE_IN_PHASE for it. */
static inline void event_selection_mark_phases(struct event_selection *selected,
                                               const struct event_selection *objects)
{
    selected->phases = objects->phases;
    selected->marks_phases = true;
}
/* Returns whether events must be in one of the phases to be selected. */
static inline bool event_selection_is_of_phases(const struct event_selection *selected)
{
    return selected->phases.count > 0 && !selected->marks_phases;
}
/* Returns whether one thread is selected, by its number, and sets `*number`. */
bool event_selection_one_thread(const struct event_selection *selected, uint64_t *number);
/* Return whether a criterion can be decided only by an object's allocation, or only by its
 * death.  Frees are then accepted if the allocation of their object was. */
bool event_selection_is_of_objects(const struct event_selection *selected);
bool event_selection_needs_deaths(const struct event_selection *selected);

/* Returns a bitmap of the matching patterns.  `matches` is called with each pattern without its
 * `!`. */
uint32_t selected_globs_mask(const struct selected_globs *globs,
                             bool (*matches)(const void *user, const char *glob), const void *user);
/* Returns whether patterns with this bitmap of matches accept the name. */
bool selected_globs_accept(const struct selected_globs *globs, uint32_t mask);

static inline bool selected_range_has(const struct selected_range *range, uint64_t value)
{
    return value >= range->least && value <= range->most;
}

/* Matches a name.  In the pattern, `*` matches any characters except `/`, `**` any characters,
 * `?` one character except `/`, and `.` matches `/`. */
bool trace_glob_matches(const char *glob, struct step_bytes name);
/* The same for a class name, which the pattern may also give in Java syntax: `byte[]`,
 * `java.lang.String[]`, or without a package if it has no `.`, `/` or wildcard. */
bool trace_class_matches(const char *glob, struct step_bytes name);
/* Returns the class name with `[]` for array dimensions.  Uses `text` if there are any; returns
 * an empty name if `room` is too small. */
struct step_bytes trace_class_java_name(struct step_bytes name, char *text, size_t room);

/* The options that select a part of a trace; see docs/selection.md. */

/* Parsers of option values, as in arguments.h. */
bool take_kinds(void *uint32_target, const char *value, const char **fault);
bool take_globs(void *globs_target, const char *value, const char **fault);
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
         take_globs, &(selected)->phases},                                                          \
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
         "A..B",     "only events from A to B (200ms..1.5s, ..3us, 2s..; plain: ns)",               \
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
