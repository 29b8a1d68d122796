/* SPDX-License-Identifier: Apache-2.0 */
/* What of a trace tells how objects refer to each other, and when they live. */
#ifndef CONVERTER_GRAPH_GRAPH_EVENT_H
#define CONVERTER_GRAPH_GRAPH_EVENT_H

#include <stdint.h>

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

#endif
