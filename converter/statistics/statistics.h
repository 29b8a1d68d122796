/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of a trace by class, thread and method, and live amounts over time. */
#ifndef CONVERTER_STATISTICS_STATISTICS_H
#define CONVERTER_STATISTICS_STATISTICS_H

#include "converter/containers/id_table.h"
#include "converter/containers/lifetimes.h"
#include "converter/containers/object_table.h"
#include "converter/containers/peak.h"
#include "converter/numbers/estimates.h"
#include "converter/trace/call_stack.h"
#include "converter/trace/death_dates.h"
#include "converter/trace/event.h"
#include "converter/trace/event_source.h"
#include "converter/trace/level_curve.h"
#include "converter/trace/names.h"
#include "converter/trace/sample_weights.h"

/* What lives is what existed when tracing started or was allocated since, and has not died. */
struct object_totals {
    uint64_t allocated_objects;
    uint64_t allocated_bytes;
    uint64_t existing_objects; /* were not allocated */
    uint64_t existing_bytes;
    uint64_t freed_objects;
    uint64_t freed_bytes;
};

/* Returns false if there are none. */
static inline bool object_totals_have_objects(const struct object_totals *totals)
{
    return totals->allocated_objects > 0 || totals->existing_objects > 0;
}

/* Returns false if the trace has no sizes of objects. */
static inline bool object_totals_have_sizes(const struct object_totals *totals)
{
    return totals->allocated_bytes > 0 || totals->existing_bytes > 0;
}

/* Of a sampled trace: what its objects stand for. */
struct sampled_totals {
    struct sample_sums allocated;
    struct sample_sums freed; /* of these, if their allocations are selected */
    struct sample_lives lives;
    struct sample_sums live; /* at the end, if objects were given up (sample_weights.h) */
    bool has_live;
};

/* Returns what lives at the end. */
static inline struct sample_sums sampled_totals_live(const struct sampled_totals *totals)
{
    return totals->has_live ? totals->live
                            : sample_sums_without(&totals->allocated, &totals->freed);
}

/* Of engine=walk: what survived its first collection, of the objects of which that is known. */
struct survivor_totals {
    uint64_t of_objects, of_bytes;
    uint64_t objects, bytes;
};

struct class_totals {
    struct object_totals objects;
    struct lifetimes lifetimes;
    struct survivor_totals survivors;
    struct sampled_totals sampled;
    bool is_known; /* of a sampled trace: its total is known, and perhaps it has no sample */
};

struct thread_totals {
    bool is_used;
    bool has_start;
    bool has_end;
    uint64_t start_ns;
    uint64_t end_ns; /* time of the end, or of the last event */
    uint64_t allocated_objects;
    uint64_t allocated_bytes;
    struct sample_sums sampled;
    uint64_t calls;
    struct call_stack stack;
};

struct method_totals {
    uint64_t calls;
    uint64_t exceptions;   /* calls ended by an exception */
    uint64_t inclusive_ns; /* counts only the outermost of recursive calls */
    uint64_t exclusive_ns;
};

/* What engine=walk says of its own walks.  The objects that they found are in the totals; of a
 * sampled trace (totals=walk, totals=threads) they are in the weights. */
struct eden_totals {
    uint64_t walks;     /* collections, and the end */
    uint64_t not_seen;  /* of these: left out, or not to be trusted */
    uint64_t left_out;  /* of these: by the option share */
    uint64_t readings;  /* of counters, without a walk */
    uint64_t bytes;     /* that the JVM has counted */
    uint64_t not_known; /* bytes of them: of no known class */
};

/* Returns why collections are not seen. */
const char *eden_totals_why(const struct eden_totals *eden);

struct statistics {
    const struct trace_names *names; /* borrowed */
    struct sample_weights weights;   /* of a sampled trace */
    bool is_whole;                   /* and all its events and totals were put in */
    uint64_t kinds[EVENT_KIND_COUNT];
    uint64_t event_count;
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t calls_end_ns; /* where open calls end: the last time, also of what is only followed */
    struct class_totals all;
    struct death_dates deaths;         /* what the ends of lifetimes mean */
    struct id_table classes;           /* struct class_totals */
    struct id_table threads;           /* struct thread_totals */
    struct thread_totals *last_thread; /* of the last event: its entry and its id; NULL: none yet */
    uint32_t last_thread_id;
    struct id_table methods; /* struct method_totals */
    uint64_t live_bytes;
    uint64_t live_objects;
    struct peak peak;
    uint64_t peak_ns;
    struct level_curve curve;
    uint64_t unmatched_exits;
    uint64_t open_calls; /* at the end of the trace */
    struct eden_totals eden;
    uint64_t not_probed; /* methods and classes that could not be instrumented */
    bool lifetimes_in_bytes;
    uint32_t not_recorded;      /* kinds: event_source_not_recorded() */
    uint64_t snapshot_ns;       /* how long the last snapshot of references stopped the program: the
                                   property `snapshot-ns`; set by the user */
    bool lacks_existing;        /* trace_lacks_existing(); set by the user */
    enum time_unit unit;        /* of times (docs/formats/java.md); set by the user */
    uint64_t stamp_events;      /* event_source_stamp_events(); set by the user */
    uint64_t from_ns;           /* objects from before are not counted; set by the user */
    struct object_table births; /* bytes allocated before the object, if lifetimes are in bytes */
};

/* `lifetimes_in_bytes`: an object's age is the bytes allocated since its birth, not the time. */
void statistics_init(struct statistics *statistics, const struct trace_names *names,
                     bool lifetimes_in_bytes);
/* Of a sampled trace: sets its interval, and reads what says how its samples are weighed.  Call
 * before its events. */
enum step_status statistics_sampled_init(struct statistics *statistics, struct event_source *source,
                                         struct step_error *error);
/* Callback for the trace's facts (event_source.h), after its events; `user` is the statistics. */
enum step_status statistics_put_fact(void *user, const struct trace_fact *fact);
/* Of events that are only followed (event.h), counts calls and their times alone.  Returns false if
 * memory runs out. */
bool statistics_put(struct statistics *statistics, const struct trace_event *events, size_t count);
/* Closes the calls that are open. */
void statistics_finish(struct statistics *statistics);
void statistics_reset(struct statistics *statistics);

#endif
