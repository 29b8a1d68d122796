/* SPDX-License-Identifier: Apache-2.0 */
/* How the times of deaths in a trace were determined, which limits the precision of lifetimes. */
#ifndef CONVERTER_TRACE_DEATH_DATES_H
#define CONVERTER_TRACE_DEATH_DATES_H

#include <stdbool.h>
#include <stddef.h>

#include "converter/numbers/quantity.h"
#include "converter/trace/event.h"

/* The number of deaths of each kind. */
struct death_dates {
    uint64_t exact;         /* the time is when the object became unreachable */
    uint64_t bound;         /* the object was reachable at least until that time */
    uint64_t by_collection; /* only the collection that found it is known */
    uint64_t freed; /* not dated: freed by a collection in a Java trace, by the program otherwise */
    bool are_of_program; /* set by the user: the program frees its objects itself */
    bool are_missing;    /* deaths were not recorded (event_source_not_recorded()) */
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
/* Writes "11,432 exact, 2,874 bounds, 115 by the collection", "from collections", or "" if there
 * are none. */
void death_dates_print(const struct death_dates *dates, char *text, size_t size);
struct json_output;
/* Writes the counts as the JSON member "deaths", and that the trace has no clock. */
void death_dates_put_json(const struct death_dates *dates, enum time_unit unit,
                          struct json_output *json);

#endif
