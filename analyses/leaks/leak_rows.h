/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that survived collections and are alive at the end, by class and site, with their growth
 * in bytes per collection.  Growth is the slope of a straight line fitted to the live bytes after
 * each of the last half of the collections.  It is limited to the slope of the births of the
 * objects that are alive at the end, so a cache that was filled early, or that replaces its
 * entries, has no growth.  Objects born between only two collections, for example a single large
 * object, are a step and not growth.  The fit is the square of the correlation.
 */
#ifndef ANALYSES_LEAKS_LEAK_ROWS_H
#define ANALYSES_LEAKS_LEAK_ROWS_H

#include "analyses/leaks/suppressions.h"
#include "converter/heap/heap_snapshot.h"
#include "converter/heap/heap_tracker.h"
#include "converter/statistics/measures.h"

/*
 * Samples the live bytes by class and site after collections, in one pass.  It samples every
 * collection at first.  When there are LEAK_SAMPLES samples, it drops every second one and from
 * then on samples half as often.
 */

#define LEAK_SAMPLES 32u   /* even */
#define LEAK_LINE_LEAST 3u /* samples that a line is fitted to */

struct leak_sample {
    uint64_t collection; /* from 1 */
    uint64_t *bytes;     /* by cell of the tracker; objects if sizes are unknown */
    size_t cell_count;
};

struct leak_tracker {
    struct heap_tracker heap;
    struct leak_sample samples[LEAK_SAMPLES];
    size_t sample_count;
    uint64_t stride;
    uint64_t *times_ns; /* of collections */
    size_t time_count, time_capacity;
};

/* `with_existing`: also objects that existed when tracing started.  `selected`: only these objects;
 * NULL: all.  The tracker, which must not move, needs the events of all objects, since
 * collections are those of the whole trace.  Call heap_tracker_weigh() before the first event where
 * the trace may be sampled.  Returns false if memory runs out; call reset in any case. */
bool leak_tracker_init(struct leak_tracker *tracker, const struct event_source *source,
                       bool with_existing, const struct event_selection *selected);
void leak_tracker_reset(struct leak_tracker *tracker);
/* Callback for input_each(); `user` is the tracker.  Call heap_tracker_finish() after the events.
 */
enum step_status leak_tracker_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error);
/* Returns the number of collections at that time or later (collection_clock.h). */
uint64_t leak_tracker_survived(const struct leak_tracker *tracker, uint64_t born_ns);
/* Returns the first sample of one of these, or sample_count if there is none. */
size_t leak_tracker_sample_after(const struct leak_tracker *tracker, uint64_t born_ns);
/* Returns the first of the samples that lines are fitted to: the last half of them. */
size_t leak_tracker_line_first(const struct leak_tracker *tracker);
/* Cells from this index on belong to selected objects. */
size_t leak_tracker_first_cell(const struct leak_tracker *tracker);
/* Returns the amount of selected objects that are alive now; of a sampled trace an estimate, and
 * adds its samples to `*samples`. */
struct heap_amount leak_tracker_live(const struct leak_tracker *tracker,
                                     struct sample_sums *samples);

struct leak_limits {
    uint64_t survived; /* at least this many collections */
    uint64_t age_ns;   /* or steps: minimum age; 0: any */
};

/* Of a sampled trace: what its samples add to the slope of a line fitted to live bytes.  Those that
 * are born in the time of the line add, those that die in it take away. */
struct leak_trend {
    struct sample_sums born;        /* alive at the end; in bytes per collection */
    struct sample_sums more, fewer; /* all, by the sign of what they add */
};

struct leak_row {
    struct heap_key key;
    struct heap_amount old; /* survivors; of a sampled trace estimates, as are the bytes of */
    struct sample_sums old_samples; /* these */
    struct heap_amount at_end;      /* all that live at the end, to which growth refers */
    struct leak_trend trend;
    struct estimate growth;        /* of a sampled trace; `slope` is its value */
    uint64_t series[LEAK_SAMPLES]; /* live after each sampled collection */
    uint64_t births[LEAK_SAMPLES]; /* of objects alive at the end: births before each sample,
                                      since the previous one */
    double slope, fit;
    double rank; /* sort key */
};

struct leak_rows {
    struct leak_row *rows;
    size_t count;
    struct heap_amount all;        /* all survivors */
    struct heap_amount suppressed; /* survivors that are not reported */
    struct sample_sums all_samples, suppressed_samples;
};

/* `axes`: enum heap_axis bits.  Returns false if memory runs out; call reset in any case. */
bool leak_rows_make(const struct leak_tracker *tracker, const struct leak_limits *limits,
                    unsigned axes, struct suppressions *suppressions, struct leak_rows *out);
void leak_rows_reset(struct leak_rows *rows);

/* Adds a run of measures for gates.  Growth is that of the rows by class for a class, by site for a
 * site, and the sum of the rows by both for the program.  What the trace has too few collections
 * for is in `lacks_sums`.  Returns false if memory runs out. */
bool leak_rows_measure(const struct leak_tracker *tracker, const struct leak_limits *limits,
                       struct suppressions *suppressions, enum measure_side side,
                       struct measures *measures);

/* Prints leaks as text and as JSON. */
struct leak_report {
    const char *path;
    const struct leak_tracker *tracker;
    const struct leak_rows *rows;
    struct leak_limits limits;
    bool is_older;       /* the limits are of age, since the trace has too few collections */
    bool lacks_existing; /* the trace has no objects that existed when it began */
    unsigned axes;
    uint64_t top;                    /* lines; 0: all */
    uint64_t depth;                  /* frames of a site; 0: all */
    const char *baseline;            /* trace to compare with; NULL: none */
    const struct measures *measures; /* with the baseline as the side before */
};

/* With a baseline also the changes in survivors since then, the largest first. */
void leak_print_text(const struct leak_report *report);
void leak_print_json(const struct leak_report *report);

#endif
