/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph events of a STEP trace in one order: that of the events, with
 * the records of references among them.  What a record names and the trace has not yet (at one
 * tick another thread may bring it) waits for it.
 */
#ifndef CONVERTER_GRAPH_GRAPH_SOURCE_H
#define CONVERTER_GRAPH_GRAPH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/step/java_records.h"
#include "steptrace/records.h"

/* What each kind (java_records.h) has of it. */
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
    uint8_t kind; /* enum graph_event_kind */
};

#define GRAPH_EVENT_BIT(kind) (UINT32_C(1) << (kind))

/* Tells whether an object is known by now. */
typedef bool (*graph_knows)(const void *user, uint64_t object);

/* How many records of a kind the trace has, by its index. */
struct graph_inventory {
    uint64_t counts[GRAPH_EVENT_KIND_COUNT];
    uint64_t last_tick;
};

struct graph_source {
    struct java_records java;
    uint8_t *wanted; /* by record of the file */
    struct step_records *merged;
    struct graph_event *fronts; /* of each stream */
    graph_knows knows;
    const void *user;
    struct graph_inventory inventory;
};

/* FORMAT for a trace without objects of Java.  graph_source_reset() is allowed after a failure. */
enum step_status graph_source_init(struct graph_source *source, struct step_reader *reader,
                                   struct step_error *error);
/* Does the trace have stores of references of any kind? */
bool graph_source_has_stores(const struct graph_source *source);
/* Starts, or starts again, with the kinds that are asked for (bits).  `knows` NULL: none waits. */
enum step_status graph_source_start(struct graph_source *source, uint32_t kinds, graph_knows knows,
                                    const void *user, struct step_error *error);
/* The next event, which lives until the next call; END after the last. */
enum step_status graph_source_next(struct graph_source *source, const struct graph_event **event,
                                   struct step_error *error);
void graph_source_reset(struct graph_source *source);

/* Ticks as nanoseconds, and the other way round (down). */
uint64_t graph_source_ns(const struct graph_source *source, uint64_t ticks);

#endif
