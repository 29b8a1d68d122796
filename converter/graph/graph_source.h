/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph events of a STEP trace in one order: that of converter/step/event_order.h, with
 * the records of references among them.  What a record names and the trace has not yet (at one
 * tick another thread may bring it) waits for it.
 */
#ifndef CONVERTER_GRAPH_GRAPH_SOURCE_H
#define CONVERTER_GRAPH_GRAPH_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/java_trace.h"
#include "steptrace/records.h"

/* The records of a trace about references between objects and about their lives. */

enum graph_event_kind {
    GRAPH_ALLOC,    /* object, class_id, site, amount: bytes */
    GRAPH_EXISTING, /* the same, of an object that was there when tracing started */
    GRAPH_FREE,     /* object, by a collection at `time`; number 1: the record tells its class */
    GRAPH_DEATH,    /* object, which became unreachable at `time`; amount: when it was collected */
    GRAPH_ENTRY,    /* object is the receiver or 0, number: the method */
    GRAPH_EXIT,     /* number: the method */
    GRAPH_FIELD,    /* target was stored into field `number` of object (0: static, or not known) */
    GRAPH_ELEMENT,  /* target was stored into element `number` of object */
    GRAPH_RANGE,    /* `amount` elements of source from `from` on went to object from `number` on */
    GRAPH_CLONE,    /* object has the references of source */
    GRAPH_SNAPSHOT, /* number: its own; amount 1: that of the start */
    GRAPH_ROOT,     /* target, by kind `number`; from: the thread, source: the method */
    GRAPH_HAS_FIELD,   /* of a snapshot: field `number` of object (0: static) refers to target */
    GRAPH_HAS_ELEMENT, /* the same of element `number` */
    GRAPH_HAS_OTHER,   /* the same, by kind `number` */
    GRAPH_SNAPSHOT_END,
    GRAPH_END, /* the VM ends */
    GRAPH_EVENT_KIND_COUNT
};

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
    struct step_reader *reader; /* borrowed */
    struct step_java_trace_binding binding;
    int *records; /* by record of the file: enum step_java_record, or -1 */
    size_t record_count;
    uint8_t *wanted; /* by record of the file */
    struct step_records *merged;
    struct graph_event *fronts; /* of each stream */
    graph_knows knows;
    const void *user;
    uint64_t resolution_ns;
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
