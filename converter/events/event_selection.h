/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a trace a verb wants (--from-time, --to-time, --thread, --kind, --class). */
#ifndef CONVERTER_EVENTS_EVENT_SELECTION_H
#define CONVERTER_EVENTS_EVENT_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/id_table.h"
#include "converter/events/event.h"
#include "converter/events/names.h"

struct event_selection {
    uint64_t from_ns;
    uint64_t to_ns;
    bool has_thread;
    uint64_t thread;        /* as the text format shows it */
    uint32_t kinds;         /* bits of TRACE_KIND_BIT */
    bool untracked;         /* the verb follows what lives: frees need not tell of what */
    const char *dtd_path;   /* of a Meta-TF trace; NULL: in the file, or beside it */
    const char *class_glob; /* NULL: all events, also those of no class */
    bool metadata;          /* HATF: metadata records are given too */
};

/* Everything. */
void event_selection_init(struct event_selection *selected);
bool event_selection_is_all(const struct event_selection *selected);

/* Tells for event after event whether it is wanted. */
struct trace_filter {
    struct event_selection selected;
    bool everything;
    struct id_table classes; /* by class: 0 not looked at yet, 1 wanted, 2 not wanted */
};

void trace_filter_init(struct trace_filter *filter, const struct event_selection *selected);
void trace_filter_reset(struct trace_filter *filter);
bool trace_filter_takes(struct trace_filter *filter, const struct trace_names *names,
                        const struct trace_event *event);

/* `*` stands for anything but `/`, `**` for anything, `?` for one character but `/`; a `.` in the
 * pattern is a `/`. */
bool trace_glob_matches(const char *glob, struct step_bytes name);

#endif
