/* SPDX-License-Identifier: Apache-2.0 */
/* How the deaths of a trace are dated: lifetimes are as exact as these. */
#ifndef CONVERTER_TRACE_DEATH_DATES_H
#define CONVERTER_TRACE_DEATH_DATES_H

#include <stdbool.h>
#include <stddef.h>

#include "converter/trace/event.h"

/* How many deaths of each kind. */
struct death_dates {
    uint64_t exact;         /* the moment at which the object became unreachable */
    uint64_t bound;         /* it was reachable until then at least */
    uint64_t by_collection; /* nothing is known but the collection that found it */
    uint64_t freed;         /* not dated: in a Java trace by collections, else by the program */
};

static inline void death_dates_put(struct death_dates *dates, const struct trace_event *free_event)
{
    if ((free_event->flags & TRACE_DATED) == 0)
        dates->freed++;
    else if ((free_event->flags & TRACE_BY_COLLECTION) != 0)
        dates->by_collection++;
    else if ((free_event->flags & TRACE_BOUND) != 0)
        dates->bound++;
    else
        dates->exact++;
}

static inline bool death_dates_are_exact(const struct death_dates *dates)
{
    return dates->exact + dates->bound + dates->by_collection > 0;
}

enum { DEATH_DATES_TEXT = 160 };
/* "11,432 exact, 2,874 bounds, 115 by the collection", "by frees", or, without any, "". */
void death_dates_print(const struct death_dates *dates, char *text, size_t size);
struct json_output;
/* As "deaths". */
void death_dates_put_json(const struct death_dates *dates, struct json_output *json);

#endif
