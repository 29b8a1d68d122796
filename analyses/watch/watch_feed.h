/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of a watched trace: its totals, the file as it grows, its phases, and the reading in
 * slices. */
#ifndef ANALYSES_WATCH_WATCH_FEED_H
#define ANALYSES_WATCH_WATCH_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/containers/id_set.h"
#include "converter/containers/id_table.h"
#include "converter/containers/object_table.h"
#include "converter/numbers/estimates.h"
#include "converter/step/event_of_record.h"
#include "converter/trace/names.h"
#include "converter/trace/open_phases.h"
#include "converter/trace/sample_weights.h"
#include "converter/trace/trace_filter.h"

/*
 * The totals of a watched trace by class, call stack, thread and method, and over time.  Events may
 * arrive in any order.  A death may precede its birth, since a running trace may have more of one
 * stream than of another.
 *
 * Events of the file are counted once (watch_model_put).  Events of the live file are counted again
 * at each look (watch_model_begin_pending, watch_model_pend), until they are in the file.  Memory
 * is proportional to the live objects and the names.
 */

/*
 * Bytes over time, stored as differences in steps of equal length, so changes may arrive in any
 * time order.  When time exceeds the last step, steps are merged in pairs.
 */

#define WATCH_CURVE_STEPS 512u /* even */

struct watch_curve {
    uint64_t step_ns;
    size_t count;                        /* steps in use, from time 0 on */
    uint64_t changes[WATCH_CURVE_STEPS]; /* modulo 2^64, as all changes */
    uint64_t pending[WATCH_CURVE_STEPS]; /* replaced at each look */
};

void watch_curve_init(struct watch_curve *curve);
/* Changes the live bytes; `pending`: by an event of the live file. */
void watch_curve_put(struct watch_curve *curve, uint64_t time_ns, uint64_t change, bool pending);

/* Writes the live bytes at the end of each of `columns` equal parts of the time from 0 to
 * `end_ns`. */
void watch_curve_live(const struct watch_curve *curve, uint64_t end_ns, uint64_t *out,
                      size_t columns);

enum watch_axis { WATCH_CLASSES, WATCH_SITES, WATCH_THREADS, WATCH_METHODS, WATCH_AXES };

struct watch_sums {
    uint64_t objects, bytes;                   /* allocated */
    uint64_t existing_objects, existing_bytes; /* when tracing began: not allocated */
    uint64_t freed_objects, freed_bytes;       /* of both */
    uint64_t calls;                            /* of methods */
};

struct watch_row {
    struct watch_sums sums;    /* of the file */
    struct watch_sums pending; /* of the live file, valid if `look` equals the model's */
    uint64_t look;
    struct watch_sums shown;       /* maximum of each sum at any look */
    struct watch_sums marked;      /* `shown` at the mark */
    double bytes_rate, calls_rate; /* per second, between the last two looks */
};

/* Of a sampled trace: what the samples of a row stand for.  The row counts the samples. */
struct watch_estimates {
    struct sample_sums allocated, freed;
    struct sample_sums live; /* at the end, if objects were given up (sample_weights.h) */
    struct sample_sums pending, pending_freed; /* of the live file, as in struct watch_row */
    uint64_t look;
};

/* Rows in which objects of one class, stack and thread are counted. */
struct watch_place {
    bool is_known;
    uint32_t class_id, stack, thread;
    size_t count;
    struct watch_row *rows[1 + WATCH_AXES];
    size_t estimate_count; /* 0: the trace has all objects */
    struct watch_estimates *estimates[1 + WATCH_AXES];
};
#define WATCH_PLACE_BITS 10u

struct watch_model {
    const struct trace_names *names; /* borrowed */
    struct trace_filter filter;
    struct id_table rows[WATCH_AXES]; /* struct watch_row */
    struct watch_row total;
    struct watch_place places[1u << WATCH_PLACE_BITS]; /* cache of recent places */
    struct object_table live;                          /* `value`: thread and call stack */
    struct id_set early;                               /* deaths that arrived before their births */
    struct id_set early_pending;                       /* the same, at this look */
    uint64_t early_count, early_pending_count;
    struct watch_curve curve;
    struct sample_weights weights;         /* of a sampled trace; interval_bytes is 0 otherwise */
    struct id_table estimates[WATCH_AXES]; /* struct watch_estimates */
    struct watch_estimates total_estimates;
    bool gave_up;  /* objects were given up, and `weights` does not know when */
    bool has_live; /* the estimates have `live` */
    uint64_t look;
    uint64_t last_ns; /* of all events */
    bool has_mark;
    uint64_t marked_ns;
    bool no_memory;
};

void watch_model_init(struct watch_model *model, const struct trace_names *names,
                      const struct event_selection *selected);
void watch_model_reset(struct watch_model *model);
/* Restarts the model.  Keeps `marked`, and `shown` unless `forget`. */
void watch_model_restart(struct watch_model *model, const struct event_selection *selected,
                         bool forget);

/* Adds an event of the file. */
void watch_model_put(struct watch_model *model, const struct trace_event *event);
/* Adds calls of a method that were counted without call events. */
void watch_model_put_calls(struct watch_model *model, uint32_t method_id, uint64_t calls);

/* Drops the events of the live file.  The caller adds its current events next, frees before
 * births. */
void watch_model_begin_pending(struct watch_model *model);
void watch_model_pend(struct watch_model *model, const struct trace_event *event);
/* Adds a birth whose object is alive or already dead. */
void watch_model_pend_object(struct watch_model *model, const struct trace_event *event,
                             bool lives);

/* Returns a row's sums, pending ones included. */
struct watch_sums watch_row_now(const struct watch_model *model, const struct watch_row *row);
/* Drops all rows, because their ids change. */
void watch_model_drop_rows(struct watch_model *model);

static inline bool watch_model_is_sampled(const struct watch_model *model)
{
    return model->weights.interval_bytes != 0;
}
/* Returns false if objects were given up and not all is read: deaths have no weights then. */
static inline bool watch_model_knows_deaths(const struct watch_model *model)
{
    return sample_weights_are_whole(&model->weights) ? !model->gave_up : model->has_live;
}
/* Returns a row's estimates, pending ones included. */
struct watch_estimates watch_estimates_now(const struct watch_model *model,
                                           const struct watch_estimates *estimates);
/* Returns what lives of a row, if deaths are known. */
struct sample_sums watch_estimates_live(const struct watch_model *model,
                                        const struct watch_estimates *estimates);
/* Of a sampled trace that was read in the order of time: estimates what lives at its end. */
void watch_model_finish(struct watch_model *model);

static inline uint64_t watch_live_bytes(const struct watch_sums *sums)
{
    return still_live(sums->existing_bytes, sums->bytes, sums->freed_bytes);
}
static inline uint64_t watch_live_objects(const struct watch_sums *sums)
{
    return still_live(sums->existing_objects, sums->objects, sums->freed_objects);
}

/*
 * Ends a look: raises each row's `shown` to the row's sums, and computes rates over `seconds` (0:
 * unknown).  Each observed sum is a lower bound, so the largest is the best estimate, and sums do
 * not fall if fewer streams were read than at the previous look.  `is_final`: the whole trace was
 * read, and its sums replace `shown`.
 */
void watch_model_settle(struct watch_model *model, double seconds, bool is_final);
/* Starts measuring growth at the last look. */
void watch_model_mark(struct watch_model *model);

/* A watched trace: opened once, then followed as it grows. */

enum watch_state {
    WATCH_RUNNING, /* being written by its process */
    WATCH_WHOLE,   /* complete */
    WATCH_CUT      /* its process was killed, or the file was truncated */
};

struct watch_tail {
    const char *path; /* borrowed */
    struct step_reader *reader;
    struct step_reader *before; /* the previous reader, which owns texts of names; or NULL */
    struct stepfile_decoder decoder;
    struct trace_names names;
    enum watch_state state;
    bool is_heap;            /* of a native program: its records go through watch_heap_read() */
    uint64_t sample_bytes;   /* the interval of a sampled trace; 0: the trace has all objects */
    uint64_t dropped;        /* records lost for lack of space, according to the live file */
    struct id_table streams; /* uint64_t: number of records of a stream in the file */
    size_t counted;          /* `streams` includes the blocks before this one */
    uint64_t events;
    uint64_t last_ns;
};

/* Returns the errors of step_reader_open(), or UNSUPPORTED if the trace has no events of a
 * program. */
enum step_status watch_tail_open(struct watch_tail *tail, const char *path,
                                 struct step_error *error);
void watch_tail_reset(struct watch_tail *tail);
/* Reads what was written since the last call.  `*opened_anew`: its process ended without closing
 * the trace, which was opened again; existing blocks keep their numbers. */
enum step_status watch_tail_refresh(struct watch_tail *tail, bool *opened_anew,
                                    struct step_error *error);

/* Returns the number of records of the stream in the file. */
uint64_t watch_tail_written(const struct watch_tail *tail, uint64_t stream);
uint64_t watch_tail_time_ns(const struct watch_tail *tail, uint64_t ticks);
/* Takes a name that the file's dictionaries may not have yet from the live file, and what it names
 * (a method's class, a frame's method and caller) from the file. */
struct step_live_entry;
void watch_tail_take_entry(struct watch_tail *tail, const struct step_live_entry *from);
/* Read names that are still unknown: of a frame, and of the event's thread and class or method.
 * The second returns false if the trace lacks some of them, so that a filter cannot judge the
 * event. */
void watch_tail_name_frame(struct watch_tail *tail, uint32_t stack_id);
bool watch_tail_has_names(struct watch_tail *tail, const struct trace_event *event);

/*
 * The phases of a watched trace (docs/phases.md): which events are in selected ones, and the bands
 * below the curve.  Blocks arrive thread by thread.  A platform thread's phases are followed in its
 * own stream, so their order is exact.  Phases of the program and of virtual threads, whose events
 * are in several streams, are spans of time, which are known before the blocks are read.
 */

#define WATCH_BANDS 3u        /* names: those of phases of the program, then the longest */
#define WATCH_BAND_STEPS 512u /* equal parts of the time from 0 to watch_phases.until_ns */

struct watch_band {
    uint32_t number; /* of the name, in the tail's names */
    uint64_t phases, total_ns;
    bool of_program;                 /* one of them is */
    uint8_t steps[WATCH_BAND_STEPS]; /* 1: a phase covers part of the step */
};

/* The begin or end of a phase of the program that is in the live file only. */
struct watch_mark {
    uint64_t time_ns;
    uint32_t name;
    bool begins;
};

struct watch_phases {
    struct open_phases open; /* at the event that is read; `program` is that of its time */
    struct id_table covers;  /* struct phase_covers, by virtual thread; 0: the program */
    struct watch_mark *marks;
    size_t mark_count, mark_capacity;
    bool had_marks;                    /* at the last look */
    uint64_t records;                  /* of phases, in the blocks that the spans are of */
    uint64_t names_read, threads_read; /* dictionary entries */
    uint64_t until_ns;
    struct watch_band bands[WATCH_BANDS];
    size_t band_count;
};

/* `globs` is borrowed, and may be changed before watch_phases_select(). */
void watch_phases_init(struct watch_phases *phases, const struct selected_globs *globs);
void watch_phases_reset(struct watch_phases *phases);
/* Prepares reading the blocks from the first one. */
void watch_phases_restart(struct watch_phases *phases);

/* Selects other phases.  Returns false if memory runs out. */
bool watch_phases_select(struct watch_phases *phases, const struct trace_names *names);
static inline bool watch_phases_are_selected(const struct watch_phases *phases)
{
    return phases->open.globs->count > 0;
}

/* Forgets what the live file had at the last look.  Its marks are added anew, then the spans of the
 * blocks known now are read.  `*changed`: events up to `read_ns`, which were read already, may be
 * selected otherwise now. */
void watch_phases_begin_marks(struct watch_phases *phases);
enum step_status watch_phases_refresh(struct watch_phases *phases, struct watch_tail *tail,
                                      uint64_t read_ns, bool *changed, struct step_error *error);
/* Returns true if a phase of this name covers part of the time. */
bool watch_band_covers(const struct watch_phases *phases, const struct watch_band *band,
                       double from_ns, double to_ns);
/* Takes a mark in the order of its stream.  Returns false if memory runs out. */
bool watch_phases_put(struct watch_phases *phases, const struct trace_names *names,
                      const struct step_java_phase *mark, bool begins);
/* Returns true if an event of the thread at this time, the next in its stream, is selected. */
bool watch_phases_accept(struct watch_phases *phases, uint32_t thread_id, uint64_t time_ns);

/* Add what the live file has beyond the trace.  They return false if memory runs out. */
bool watch_phases_name(struct watch_phases *phases, struct trace_names *names, uint32_t number,
                       struct step_bytes name);
bool watch_phases_mark(struct watch_phases *phases, const struct watch_mark *mark);

/*
 * Reads a watched trace into its model, in slices.  All events are read: sums are those of the
 * trace up to the position read.  While the trace is being written, reading uses at most a share of
 * one core. If that is too little, the figures lag, and watch_feed_behind_ns() returns by how much.
 */

/*
 * Converts a native program's trace to events for the model.  An object's class is the function
 * that allocated it (malloc, calloc, new, ...).  While the trace is being written, blocks are read
 * as they arrive; a completed trace is read in time order, like `stats` does.
 */

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

enum { WATCH_EVENTS = 3 };

struct watch_schema {
    uint8_t *wanted;                           /* by record */
    struct watch_columns events[WATCH_EVENTS]; /* births, calls, deaths */
    uint32_t facts;                            /* record type of facts; STEP_NO_RECORD: none */
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
