/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of a trace a verb wants: the one selection language of all verbs (docs/selection.md).
 * What is said of different things must all hold; of several patterns for one thing one must match,
 * and none of those that begin with `!`.
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

/* Patterns for one thing; texts are borrowed. */
struct selected_globs {
    const char *items[SELECTED_GLOBS_MOST];
    unsigned count;
};

/* Numbers from `least` to `most`, both included. */
struct selected_range {
    bool is_set;
    uint64_t least;
    uint64_t most;
};

struct event_selection {
    uint64_t from_ns;
    uint64_t to_ns;
    uint32_t kinds;                /* bits of TRACE_KIND_BIT */
    bool untracked;                /* the verb follows what lives: frees need not tell of what */
    const char *dtd_path;          /* of a Meta-TF trace; NULL: in the file, or beside it */
    struct selected_globs threads; /* numbers as the text format shows them, or names */
    struct selected_globs classes;
    struct selected_globs sites;    /* any frame of an allocation's stack */
    struct selected_globs methods;  /* of calls; the innermost frame of an allocation's stack */
    struct selected_range size;     /* bytes */
    struct selected_range lifetime; /* ns */
    bool has_alive_at;
    struct heap_moment alive_at;
    bool temporary;            /* dead by the first collection after the allocation, or */
    uint64_t temporary_allocs; /* if not 0: before so many further allocations */
    /* What the deaths of objects tell is found out in a pass of its own (open/chosen_objects.h):
     * those that `lifetime`, `alive_at` and `temporary` leave; borrowed.  NULL: not asked for. */
    const struct id_set *objects;
    bool metadata; /* HATF: metadata records are given too */
};

/* Everything. */
void event_selection_init(struct event_selection *selected);
bool event_selection_is_all(const struct event_selection *selected);
/* Nothing but times and at most one thread, by its number: what records of any kind have. */
bool event_selection_is_slice(const struct event_selection *selected);
/* The one thread that is wanted, where it is one, and by its number. */
bool event_selection_one_thread(const struct event_selection *selected, uint64_t *number);
/* Whether something is asked that only an object's allocation, or only its death, tells: its frees
 * are then those of the objects whose allocations were taken. */
bool event_selection_is_of_objects(const struct event_selection *selected);
bool event_selection_needs_deaths(const struct event_selection *selected);

/* Bits of the patterns that match; `matches` is asked for each without its `!`. */
uint32_t selected_globs_mask(const struct selected_globs *globs,
                             bool (*matches)(const void *user, const char *glob), const void *user);
/* Whether that is what is wanted. */
bool selected_globs_accept(const struct selected_globs *globs, uint32_t mask);

static inline bool selected_range_has(const struct selected_range *range, uint64_t value)
{
    return value >= range->least && value <= range->most;
}

/* `*` stands for anything but `/`, `**` for anything, `?` for one character but `/`; a `.` in the
 * pattern is a `/`. */
bool trace_glob_matches(const char *glob, struct step_bytes name);
/* The same for the name of a class, which a pattern may also give as Java writes it: `byte[]`,
 * `java.lang.String[]`, or without a package if it has neither `.`, `/` nor a wildcard. */
bool trace_class_matches(const char *glob, struct step_bytes name);
/* The name with `[]` for an array's dimensions, in `text` if it has any; empty if there is no room.
 */
struct step_bytes trace_class_java_name(struct step_bytes name, char *text, size_t room);

#endif
