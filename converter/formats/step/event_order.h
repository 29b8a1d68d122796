/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a STEP trace in one order: by time; at one tick those of the global stream first,
 * then those of the buffers, then the frees, and VM death last.  A stream's own order is never
 * changed, so a trace of one stream comes as it is.  Between buffers at one tick, an event that
 * uses an object waits until another has reported its allocation; where nobody can, it goes on.
 */
#ifndef CONVERTER_FORMATS_STEP_EVENT_ORDER_H
#define CONVERTER_FORMATS_STEP_EVENT_ORDER_H

#include "converter/base/object_table.h"
#include "converter/formats/step/event_of_record.h"
#include "steptrace/records.h"

struct event_order {
    struct stepfile_decoder decoder;
    struct step_reader *reader; /* borrowed */
    const struct event_selection *selected;
    bool needs_objects;    /* allocations and frees before the slice, too */
    uint8_t *wanted;       /* by record of the file: decoded in blocks of the slice */
    uint8_t *wanted_live;  /* in blocks before it: allocations and frees */
    uint8_t *wanted_frees; /* in blocks of threads that are not wanted */
    uint64_t from_ticks;
    uint64_t to_ticks;
    bool has_thread;
    uint64_t thread_id; /* the one that is wanted */
    const struct object_table
        *live; /* borrowed; says which objects were reported; NULL: no waiting */
    struct step_records *records;
    struct trace_event *fronts; /* of each queue of `records` */
};

/* Knows the trace's records, and which of them are wanted; `keep_live`: what lives is followed. */
enum step_status event_order_init(struct event_order *order, struct step_reader *reader,
                                  struct trace_names *names, const struct event_selection *selected,
                                  bool keep_live, struct step_error *error);
/* Goes before the first event. */
enum step_status event_order_start(struct event_order *order, const struct object_table *live,
                                   struct step_error *error);
void event_order_reset(struct event_order *order);

/* The next event, borrowed until the next call, and its time in ticks; END after the last. */
static inline enum step_status event_order_next(struct event_order *order,
                                                const struct trace_event **event, uint64_t *ticks,
                                                struct step_error *error)
{
    const struct step_records_front *front;
    enum step_status status = step_records_next_front(order->records, &front, error);
    if (status != STEP_STATUS_OK)
        return status;
    *event = &order->fronts[front->queue];
    *ticks = front->time;
    return status;
}

#endif
