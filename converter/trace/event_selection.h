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
    bool names_phases; /* phase_set of allocations is that of phases_open (names.h) */
    struct selected_range size;     /* bytes */
    struct selected_range lifetime; /* ns */
    bool has_alive_at;
    struct heap_moment alive_at;
    bool temporary;            /* died by the first collection after the allocation, */
    uint64_t temporary_allocs; /* or, if not 0, within this many further allocations */
    /* The objects that satisfy `lifetime`, `alive_at` and `temporary`, found in a separate pass
     * (formats/input.h); borrowed.  NULL: not needed. */
    const struct id_set *objects;
    bool derives_stacks; /* allocations without a call stack get that of method events, which are
                            followed whatever is selected (derived_stacks.h); also done for
                            `sites` and `methods` */
    bool follows_calls;  /* of a selection of calls: what opens and closes any call is returned too,
                            with TRACE_FOLLOWED or TRACE_BEFORE */
    bool metadata;       /* HATF: return metadata records, too */
    const char *needs_all; /* of all objects (sampled_trace.h): the verb; NULL: it takes samples */
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
/* Returns whether the patterns accept what `matches` is called with. */
static inline bool selected_globs_take(const struct selected_globs *globs,
                                       bool (*matches)(const void *user, const char *glob),
                                       const void *user)
{
    return globs->count == 0 ||
           selected_globs_accept(globs, selected_globs_mask(globs, matches, user));
}

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
/* The same for selected_globs_mask(): `name` is a struct step_bytes. */
bool trace_class_name_matches(const void *name, const char *glob);
/* Returns the class name with `[]` for array dimensions.  Uses `text` if there are any; returns
 * an empty name if `room` is too small. */
struct step_bytes trace_class_java_name(struct step_bytes name, char *text, size_t room);

#endif
