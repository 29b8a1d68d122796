/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns the graph events of a STEP trace in order of time.  A record that refers to an object not
 * yet reported waits for it, as another thread may report it within the same tick.
 */
#ifndef CONVERTER_GRAPH_GRAPH_SOURCE_H
#define CONVERTER_GRAPH_GRAPH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/cli/stack_text.h"
#include "converter/step/java_records.h"
#include "steptrace/records.h"

/* A graph event.  enum graph_event_kind (java_records.h) documents which members each kind uses. */
struct graph_event {
    uint64_t time; /* in the trace's ticks */
    uint64_t object;
    uint64_t target;
    uint64_t source;
    uint64_t number;
    uint64_t from;
    uint64_t amount;
    uint32_t thread_id;
    uint32_t class_id;
    uint32_t site;
    uint8_t kind;    /* enum graph_event_kind */
    uint8_t padding; /* bytes after an array's elements */
};

#define GRAPH_EVENT_BIT(kind) (UINT32_C(1) << (kind))

/* Returns whether an object is known at this point. */
typedef bool (*graph_knows)(const void *user, uint64_t object);

/* The number of records of each kind, from the trace's index. */
struct graph_inventory {
    uint64_t counts[GRAPH_EVENT_KIND_COUNT];
    uint64_t last_tick;
};

struct graph_source {
    struct java_records java;
    uint8_t *wanted; /* by record of the file */
    struct step_records *merged;
    struct graph_event *fronts; /* by stream */
    graph_knows knows;
    const void *user;
    struct graph_inventory inventory;
};

/* Initialises the source.  Returns FORMAT for a trace without Java objects.
 * graph_source_reset() is allowed after a failure. */
enum step_status graph_source_init(struct graph_source *source, struct step_reader *reader,
                                   struct step_error *error);
/* Returns whether the trace has stores of references. */
bool graph_source_has_stores(const struct graph_source *source);
/* Starts or restarts reading events of the given kinds (bitmap).  `knows` may be NULL: no record
 * waits. */
enum step_status graph_source_start(struct graph_source *source, uint32_t kinds, graph_knows knows,
                                    const void *user, struct step_error *error);
/* Returns the next event, valid until the next call; END after the last. */
enum step_status graph_source_next(struct graph_source *source, const struct graph_event **event,
                                   struct step_error *error);
void graph_source_reset(struct graph_source *source);

/* Converts ticks to nanoseconds. */
uint64_t graph_source_ns(const struct graph_source *source, uint64_t ticks);

/* Names of classes, fields and sites of a graph as text, truncated to the buffer. */
struct keeper_name {
    char text[FRAME_TEXT];
};

/* Writes "java/lang/String", or "?" for an unknown class. */
void keeper_name_class(const struct graph_source *source, uint32_t class_id,
                       struct keeper_name *name);
/* Writes "java/util/HashMap.table". */
void keeper_name_field(const struct graph_source *source, uint32_t field, struct keeper_name *name);
/* Writes "t/Main.main:10 <- t/Main.start:3", innermost frame first; at most `depth` frames; 0:
 * all that fit. */
void keeper_name_site(const struct graph_source *source, uint32_t site, uint64_t depth,
                      struct keeper_name *name);
/* Returns the site and its callers for printing; none, if the site is 0. */
struct stack_text keeper_site_stack(const struct graph_source *source, uint32_t site,
                                    uint64_t depth);

#endif
