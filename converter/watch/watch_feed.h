/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a watched trace into its model, in slices.  All events are read: sums are those of the
 * trace up to the position read.  While the trace is being written, reading uses at most a share of
 * one core. If that is too little, the figures lag, and watch_feed_behind_ns() returns by how much.
 */
#ifndef CONVERTER_WATCH_WATCH_FEED_H
#define CONVERTER_WATCH_WATCH_FEED_H

#include "converter/watch/watch_model.h"
#include "converter/watch/watch_phases.h"
#include "converter/watch/watch_tail.h"

/*
 * Converts a native program's trace to events for the model.  An object's class is the function
 * that allocated it (malloc, calloc, new, ...).  While the trace is being written, blocks are read
 * as they arrive; a completed trace is read in time order, like `stats` does.
 */
struct watch_birth;

struct watch_heap {
    struct event_source *events;      /* NULL: a Java program's trace is read by blocks */
    const struct step_reader *reader; /* reader of the source, for a completed trace; or NULL */
    uint64_t events_put;
    bool is_running;  /* the source reads a growing trace */
    bool at_end;      /* everything available was read */
    bool has_peeked;  /* of the live file too */
    unsigned follows; /* how often the file has grown meanwhile */
    /* for a growing trace */
    struct alloc_source *order; /* within `events` */
    struct id_table reported;   /* struct watch_seen, by stream */
    struct watch_birth *births; /* in the live file, at this look */
    size_t birth_count, birth_capacity;
    uint64_t clock_multiplier; /* of the live file at the last look; 0: none */
};

/* Starts at the first event, with a model that was restarted and borrows the names. */
enum step_status watch_heap_start(struct watch_heap *heap, const struct watch_tail *tail,
                                  struct watch_model *model, struct step_error *error);
/* The same for a Java program's trace that has ended, in the order of time: with phases. */
enum step_status watch_heap_start_ordered(struct watch_heap *heap, const struct watch_tail *tail,
                                          struct watch_model *model, struct step_error *error);
void watch_heap_reset(struct watch_heap *heap);
/* Adds some thousand events. */
enum step_status watch_heap_read(struct watch_heap *heap, struct watch_model *model,
                                 struct step_error *error);

/* Returns true if times of the live file have changed since the last look: the clock's rate is
 * measured soon after the start.  The trace must then be read again from the start. */
bool watch_heap_clock_is_new(struct watch_heap *heap, const struct watch_tail *tail);
/* Adds what the live file has beyond the end of the trace, which must have been read completely.
 * Frees are permanent, births are pending.  `*dropped` as in step_live_peek(). */
enum step_status watch_heap_peek(struct watch_heap *heap, const struct watch_tail *tail,
                                 struct watch_model *model, uint64_t *dropped,
                                 struct step_error *error);

/* Reads births, deaths and calls from the columns of a block into the model. */

/* A record type that is read by columns: its number in the file, and the positions of its
 * fields. */
enum watch_field {
    WATCH_TIME,
    WATCH_THREAD,
    WATCH_CLASS,
    WATCH_SIZE,
    WATCH_OBJECT,
    WATCH_STACK,
    WATCH_METHOD,
    WATCH_FIELDS
};

struct watch_columns {
    uint32_t record;              /* STEP_NO_RECORD: not in the file */
    uint32_t owner[WATCH_FIELDS]; /* STEP_NO_RECORD: no such field */
    size_t slots[WATCH_FIELDS];
};

struct watch_schema {
    uint8_t *wanted; /* by record */
    struct watch_columns births, deaths, calls;
    uint32_t facts;    /* record type of facts; STEP_NO_RECORD: none */
    uint32_t given_up; /* the same, of a sampled trace: of objects that were given up */
};

/* `phases`: also reads the records of phases.  Returns false if memory runs out. */
bool watch_schema_init(struct watch_schema *schema, const struct watch_tail *tail, bool phases);
void watch_schema_reset(struct watch_schema *schema);
/* Returns the number of the block's records that are read. */
uint64_t watch_schema_count(const struct watch_schema *schema, const struct step_block_info *info);

/* Adds a block's events to the model.  `phases` is NULL if records need not be in order: none are
 * selected, and the trace has all objects.  The reader notes
 * damage and skips it; other errors are NO_MEMORY and IO. */
enum step_status watch_block_read(struct watch_tail *tail, const struct watch_schema *schema,
                                  size_t number, struct step_block **block,
                                  struct watch_model *model, struct watch_phases *phases,
                                  struct step_error *error);

struct watch_feed {
    struct watch_tail tail;
    struct watch_model model;
    struct watch_heap heap; /* of a native program; not limited by `share` */
    struct event_selection selected;
    struct step_block *block;
    struct watch_schema schema;
    struct watch_phases phases;
    double share;          /* of a core, for a running trace; 0: unlimited */
    size_t next;           /* the next block to read */
    uint64_t records_read; /* of the record types that are read */
    uint64_t read_ns;      /* the latest time in the blocks read */
    bool is_pending;       /* the model includes the events of the live file */
    unsigned follows;      /* looks at the live file since the last refresh */
    double credit_ns;      /* processor time left to use */
    double spent_ns;       /* processor time of the process at the last check */
    double settled_ns;     /* trace time at the last look; < 0: there was none */
    bool was_exact;        /* at the last look */
};

/* Borrowed objects and `path` must outlive the feed. */
enum step_status watch_feed_open(struct watch_feed *feed, const char *path,
                                 const struct event_selection *selected, double share,
                                 struct step_error *error);
void watch_feed_close(struct watch_feed *feed);
/* Sets another selection and restarts reading. */
enum step_status watch_feed_select(struct watch_feed *feed, const struct event_selection *selected,
                                   struct step_error *error);

/* Finds blocks written since the last call.  The feed may use processor time for the `elapsed_ns`
 * since then. */
enum step_status watch_feed_refresh(struct watch_feed *feed, uint64_t elapsed_ns,
                                    struct step_error *error);
/* Reads for about `slice_ns` of processor time, and looks at the live file when the end is reached.
 * `*more`: call again immediately; false also if the share of the core is used up. */
enum step_status watch_feed_read(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                 struct step_error *error);

/* Returns the reader that notes damage. */
static inline const struct step_reader *watch_feed_reader(const struct watch_feed *feed)
{
    return feed->heap.reader != NULL ? feed->heap.reader : feed->tail.reader;
}
static inline bool watch_feed_is_sampled(const struct watch_feed *feed)
{
    return feed->tail.sample_bytes != 0;
}
/* Returns the names of the model's rows. */
const struct trace_names *watch_feed_names(const struct watch_feed *feed);
/* Returns true if everything recorded until the last look has been read.  Otherwise sums are lower
 * bounds, and live amounts are of an earlier moment. */
bool watch_feed_is_exact(const struct watch_feed *feed);
/* Returns the time between the latest event that was read and the latest known one. */
uint64_t watch_feed_behind_ns(const struct watch_feed *feed);
/* Return the latest known time, and the latest time read. */
uint64_t watch_feed_now_ns(const struct watch_feed *feed);
uint64_t watch_feed_read_ns(const struct watch_feed *feed);
/* Returns the share of events that was read, 0 to 1. */
double watch_feed_progress(const struct watch_feed *feed);
/* Ends a look, `seconds` after the last one; see watch_model_settle().  Returns the seconds between
 * the two, 0 if unknown, or -1 if nothing was read and nothing has changed. */
double watch_feed_settle(struct watch_feed *feed, double seconds);

/* Returns the processor time of this process. */
double watch_feed_cpu_ns(void);

#endif
