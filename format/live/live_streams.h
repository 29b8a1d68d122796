/* SPDX-License-Identifier: Apache-2.0 */
/* State of decoding each stream of a live file, and its clock, shared by the decoders for Java and
 * native programs. */
#ifndef FORMAT_LIVE_LIVE_STREAMS_H
#define FORMAT_LIVE_LIVE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/live.h"
#include "steptrace/writer.h"

/*
 * Window of a stream's records that wait until a constructor's object is known.  In the buffer the
 * constructor's entry precedes the object's allocation; in the trace the allocation comes first.
 *
 * A constructor's entry is recorded before the agent may look at the object that it runs on.  The
 * order in the trace is that of the program: an object exists before it is used.  So the entry and
 * all that follows wait, and when the object is known, its allocation moves before the entry, with
 * the entry's time.
 */
struct window_event {
    enum step_live_kind kind; /* ALLOC, EXISTING, ENTRY, EXIT, FRAME_POP, THREAD_END; REFERENCE has
                                 its words 1 to 3 in name, object and stack; FACT, a
                                 STEP_LIVE_PHASE, has its two words in name and object */
    uint64_t ticks;
    uint64_t thread;
    uint64_t name; /* class and size, method or thread */
    uint64_t object;
    uint64_t stack;   /* of an allocation, 0: unknown */
    uint64_t partner; /* ENTRY: index plus one of the allocation to put before it; ALLOC: index plus
                         one of that entry */
    bool is_put;
};

struct constructor_window;

/* Receives records that leave the window, in order; `number` is the position among the stream's
 * records. */
typedef enum step_status window_put(void *context, uint64_t number,
                                    const struct window_event *event);

struct constructor_window *window_create(void); /* returns NULL if out of memory */
/* Opens the window: records from the event `number` on wait.  No effect if it is open. */
void window_open(struct constructor_window *window, uint64_t number);
bool window_is_open(const struct constructor_window *window);
/* Adds an event to an open window; closes a window that has grown too long. */
enum step_status window_add(struct constructor_window *window, const struct window_event *event,
                            window_put *put, void *context);
/* Sets the object of the entry `distance` events back. */
void window_construct(struct constructor_window *window, uint64_t distance, uint64_t object);
/* Passes on all records; allocations come before the outermost constructor entry of their
 * object. */
enum step_status window_close(struct constructor_window *window, window_put *put, void *context);
/* Returns how many of the stream's raw records are final in the trace when `written` records
 * are. */
uint64_t window_settled(struct constructor_window *window, uint64_t written);

/* Method events without a stamp, after one: live_between.h. */
struct live_between {
    uint64_t left;  /* events that the step holds for */
    uint64_t stamp; /* of the last one */
    uint64_t step;
};

struct stream_state {
    uint64_t next_record;
    uint64_t resumed; /* records below this number are already in the trace file */
    uint64_t thread;
    uint64_t last_ticks;
    uint64_t last_ns; /* of the stamp that gave last_ticks, rounded down to a tick */
    uint64_t heap;    /* native programs: heap of the next record */
    /* Java programs: */
    uint64_t last_object;              /* of the allocations in this chunk */
    uint64_t last_stamp;               /* in this chunk */
    struct live_between between;       /* of the events after it */
    struct constructor_window *window; /* NULL until a constructor is seen */
    uint64_t stack;                    /* frame of the allocations */
    unsigned run_groups;               /* groups in the stream's runs (live_runs.c) */
};

/* What the decoders have in common, their first member.  States are by stream number, in pages
 * created on first use, so that memory depends on the numbers in use. */
struct live_streams {
    struct step_live_header clock;
    struct step_writer *writer; /* borrowed */
    struct stream_state **pages;
    size_t page_count;
};

void live_streams_init(struct live_streams *streams, const struct step_live_header *clock,
                       struct step_writer *writer);
void live_streams_reset(struct live_streams *streams);
/* Returns the stream's state, created if needed to continue after the records that the writer has.
 * NULL: invalid number, or out of memory. */
struct stream_state *live_streams_at(struct live_streams *streams, uint64_t stream);
/* Like live_streams_at(), with an error for NULL. */
struct stream_state *live_streams_open(struct live_streams *streams, uint64_t stream,
                                       struct step_error *error);
/* Reports that no raw record starts with the word, or that one could not be taken.  Returns the
 * status. */
enum step_status live_streams_no_record(uint64_t word, struct step_error *error);
enum step_status live_streams_not_taken(enum step_status status, struct step_error *error);
/* Like live_streams_at(), but NULL for a stream without state. */
struct stream_state *live_streams_find(const struct live_streams *streams, uint64_t stream);
/* Returns a number above those of all streams. */
uint64_t live_streams_end(const struct live_streams *streams);

/* These take a decoder, as capture/drain.h calls them. */

/* Sets the position in the stream of the words that follow.  Call it at the start of each chunk. */
enum step_status live_streams_begin(void *decoder, uint64_t stream, uint64_t first_record,
                                    uint64_t thread);
/* Returns the number of the stream's next event record. */
uint64_t live_streams_next_record(void *decoder, uint64_t stream);

/* Returns the latest time of any stream, in ticks. */
uint64_t live_streams_latest(const struct live_streams *streams);

/* Returns the header with a clock that cannot cause a division by 0. */
struct step_live_header live_clock(const struct step_live_header *header);

/* Returns the kind of the raw record that begins with this word. */
static inline uint32_t live_kind(uint64_t word)
{
    return (uint32_t) (word & ((1u << STEP_LIVE_KIND_BITS) - 1));
}

static inline uint64_t live_stamp_ns(const struct step_live_header *clock, uint64_t stamp)
{
    return (uint64_t) ((unsigned __int128) stamp * clock->clock_multiplier >> clock->clock_shift);
}

/* Returns the trace's ticks of a stamp, never less than the stream's last. */
static inline uint64_t live_later_ticks(const struct step_live_header *clock,
                                        struct stream_state *state, uint64_t stamp)
{
    uint64_t ns = live_stamp_ns(clock, stamp);
    uint64_t resolution = clock->resolution_ns;
    if (ns - state->last_ns < resolution) /* most events need no division */
        return state->last_ticks;
    uint64_t ticks = ns / resolution;
    if (ticks <= state->last_ticks)
        return state->last_ticks;
    state->last_ticks = ticks;
    state->last_ns = ticks * resolution;
    return ticks;
}

#endif
