/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where events come from: one interface over all input formats.  A source gives its events in the
 * trace's order, in batches, with what a verb needs to know filled in (the class, size and birth of
 * a freed object).  Memory does not grow with the trace, but for what lives.
 */
#ifndef CONVERTER_TRACE_EVENT_SOURCE_H
#define CONVERTER_TRACE_EVENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/base/object_table.h"
#include "converter/trace/event.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/names.h"
#include "converter/trace/trace_filter.h"
#include "steptrace/reader.h"
#include "steptrace/status.h"

/* What is known of a trace besides its events. */
struct trace_summary {
    const char *format;
    bool whole;         /* written to its end; false: cut, or still being written */
    bool running;       /* its process still writes it */
    uint64_t recovered; /* records that came from a live mapping */
    uint64_t file_bytes;
    uint64_t resolution_ns; /* 0: not known */
};

/* What a trace holds, as its index tells without reading the events. */
struct trace_inventory {
    const struct step_definition *definition; /* borrowed from the source */
    uint64_t *records;                        /* by record of the definition; the caller's */
    uint8_t *is_event;                        /* the same: its records are counted in `kinds` */
    uint64_t kinds[EVENT_KIND_COUNT];
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t block_count;
    uint64_t stream_count;
    uint64_t classes;
    uint64_t methods;
    uint64_t threads;
};

/* A record that is no event: what could not be traced, or what a method's calls came to.  Its texts
 * live until the visit returns. */
struct trace_fact {
    enum { TRACE_NOT_PROBED, TRACE_METHOD_COUNT } kind;
    uint64_t time_ns;
    struct step_bytes class_name, method_name, descriptor, reason; /* NOT_PROBED */
    uint64_t missing;
    uint32_t method_id; /* METHOD_COUNT */
    uint64_t calls, exceptions, inclusive_ns, exclusive_ns;
};

typedef enum step_status (*trace_fact_visit)(void *user, const struct trace_fact *fact);

/* What a trace holds: what verbs do with it goes by this. */
enum trace_content {
    TRACE_OF_EVENTS,         /* Java's */
    TRACE_OF_GRAPHS,         /* Java's, and references, snapshots or dated deaths beside them */
    TRACE_OF_ALLOCATIONS,    /* a heap trace */
    TRACE_OF_STEP_RECORDS,   /* of a definition that is neither */
    TRACE_OF_METATF_RECORDS, /* the same of a DTD */
};

struct event_source {
    const struct event_source_operations *operations;
    const char *path; /* for messages; borrowed */
    struct trace_names names;
    struct object_table live;
    struct trace_filter filter;
    enum trace_content content;
    bool keep_live; /* the live table is kept: some wanted event needs it */
};

struct event_source_operations {
    /* Up to `capacity` events; END with *count 0 after the last.  Names of the events are there. */
    enum step_status (*read)(struct event_source *source, struct trace_event *events,
                             size_t capacity, size_t *count, struct step_error *error);
    void (*summary)(const struct event_source *source, struct trace_summary *summary);
    size_t (*property_count)(const struct event_source *source);
    void (*property)(const struct event_source *source, size_t i, const char **key,
                     const char **value);
    /* What was damaged and passed over so far. */
    size_t (*damage_count)(const struct event_source *source);
    const struct step_damage *(*damage)(const struct event_source *source, size_t i);
    /* What the index tells, once all checksums were verified; NULL: the events must be counted.
     * `records` and `is_event` are to be freed. */
    enum step_status (*inventory)(struct event_source *source, struct trace_inventory *inventory);
    /* Gives all facts, before or after the events; NULL: the format has none. */
    enum step_status (*facts)(struct event_source *source, trace_fact_visit visit, void *user,
                              struct step_error *error);
    /* Share of the input that was read, 0 to 1. */
    double (*progress)(const struct event_source *source);
    void (*destroy)(struct event_source *source);
};

struct alloc_source;

/* What a format makes of a file: events or, of a heap trace, allocations; the other is NULL. */
struct opened_trace {
    struct event_source *events;
    struct alloc_source *allocs;
};

typedef enum step_status (*trace_opener)(const char *path, const struct event_selection *selected,
                                         struct opened_trace *out, struct step_error *error);

/* Has it records that are no events, which are read by themselves? */
static inline bool event_source_is_of_records(const struct event_source *source)
{
    return source->content >= TRACE_OF_STEP_RECORDS;
}

/* A property's value, or NULL. */
const char *event_source_property(const struct event_source *source, const char *key);

/* False: what stands for times are numbers, in which collections are counted (the agent's
 * resolution=none). */
bool event_source_has_times(const struct event_source *source);

/* All facts that the trace has, if any; a visit's error ends it. */
enum step_status event_source_facts(struct event_source *source, trace_fact_visit visit, void *user,
                                    struct step_error *error);

/* For those that implement sources. */
bool event_source_init(struct event_source *source,
                       const struct event_source_operations *operations, const char *path,
                       const struct event_selection *selected);
void event_source_reset(struct event_source *source);
/* Follows what lives, and fills in what an event's line or record does not say.  A free whose
 * class is not known keeps `class_id`.  False: out of memory. */
bool event_source_follow(struct event_source *source, struct trace_event *event);

#endif
