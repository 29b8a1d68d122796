/* SPDX-License-Identifier: Apache-2.0 */
/* State and functions shared by the parts of the live decoder, one for each kind of raw record. */
#ifndef FORMAT_LIVE_LIVE_RECORDS_H
#define FORMAT_LIVE_LIVE_RECORDS_H

#include "format/live/live_decoder.h"
#include "format/live/live_streams.h"
#include "format/step/write/run.h"

#define WORD_BYTES sizeof(uint64_t)

/* The objects of one collection, until its FREE_END: payloads of FREE_OBJECT. */
struct free_batch {
    uint64_t *runs;
    size_t count;
    size_t capacity;
    uint64_t objects; /* in all runs */
    uint64_t *scratch;
    size_t scratch_capacity;
};

/* Ends of batches that are not fully written yet, as record numbers, ascending. */
struct batch_ends {
    uint64_t *records;
    size_t count;
    size_t capacity;
    uint64_t settled; /* the last one that is fully written */
};

/* Groups of records that a stream's runs may contain (live_runs.c), as a bit set: short method
 * events, allocations, entries with an object, allocations with a stack, those with a padding. */
enum {
    LIVE_RUN_METHODS = 1,
    LIVE_RUN_ALLOCATIONS = 2,
    LIVE_RUN_OBJECTS = 4,
    LIVE_RUN_STACKS = 8,
    LIVE_RUN_PADDINGS = 16,
    LIVE_RUN_LAYOUTS = 32
};

struct live_decoder {
    struct live_streams streams;
    struct batch_ends batch_ends;
    bool has_runs; /* the writer accepts records of methods and allocations in runs */
    struct step_run_layout run_layouts[LIVE_RUN_LAYOUTS];
    struct step_run_layout free_layout;
    uint64_t tick_rate; /* ticker_rate() */
    struct free_batch frees;
    bool ends_at_death;   /* events later than the JVM's death are omitted */
    uint64_t death_ticks; /* 0: it was not decoded yet */
    bool counts_bytes;
    uint64_t *bytes; /* that each thread has allocated */
    size_t byte_capacity;
};

/* Argument of a row's function: the whole raw record. */
struct raw {
    struct live_decoder *decoder;
    struct stream_state *state;
    uint64_t stream;
    const uint64_t *words;
    size_t count; /* words up to the end of the input */
    uint64_t ticks;
    uint64_t number; /* of an event record, in its stream */
};

/* Return the number of words of the raw record at `words`, 0 if it is incomplete, SIZE_MAX if it is
 * invalid; and whether a record that begins with this word counts as an event record. */
size_t live_record_words(const uint64_t *words, size_t count);
bool live_record_is_event(uint64_t word);

/* live_bytes.c: counts bytes that a thread has allocated. */
void live_add_bytes(struct live_decoder *decoder, uint64_t thread, uint64_t bytes);

/* live_events.c.  Each function here and below decodes one complete raw record. */
enum step_status live_take_plain(const struct raw *raw);
enum step_status live_take_event(const struct raw *raw);
enum step_status live_close_window(const struct raw *raw);
enum step_status live_take_constructed(const struct raw *raw);
enum step_status live_take_thread_switch(const struct raw *raw);
enum step_status live_take_stack(const struct raw *raw);

enum step_status live_take_reference(const struct raw *raw);
/* Take a complete STEP_LIVE_PHASE, STEP_LIVE_SAMPLED, STEP_LIVE_GIVEN_UP. */
enum step_status live_take_phase(const struct raw *raw);
enum step_status live_take_sampled(const struct raw *raw);
enum step_status live_take_given_up(const struct raw *raw);

/* live_references.c: the length in words of the REFERENCE at `words`, like live_record_words(); and
 * the record of one that waited in a window. */
size_t live_reference_words(const uint64_t *words, size_t count);
enum step_status live_put_reference(struct live_decoder *decoder, uint64_t stream,
                                    const struct window_event *from);

/* live_definitions.c */
enum step_status live_take_define_named(const struct raw *raw);
enum step_status live_take_define_method(const struct raw *raw);
enum step_status live_take_define_frame(const struct raw *raw);
enum step_status live_take_fact(const struct raw *raw);

/* live_runs.c: returns false if the writer accepts no runs of such records. */
bool live_runs_init(struct step_run_layout layouts[LIVE_RUN_LAYOUTS],
                    struct step_run_layout *of_frees, const struct step_writer *writer);
/* Returns true if a run can start with this word. */
bool live_starts_run(uint64_t word);
/* Decodes the run at `words`, with the same result as its records one by one.  Sets `*taken` to the
 * number of words, 0 if no run is possible because records wait in a constructor's window. */
enum step_status live_take_run(struct live_decoder *decoder, uint64_t stream,
                               struct stream_state *state, const uint64_t *words, size_t count,
                               size_t *taken);

/* Writes the first frees of a sorted batch as a run.  Sets `*taken` to their number, 0 if the
 * writer accepts no such runs. */
enum step_status live_put_free_run(struct live_decoder *decoder, const uint64_t *ids, size_t count,
                                   uint64_t ticks, size_t *taken);

/* live_frees.c: holds freed objects until their batch ends.  Takes the frees at the start of
 * `words`; `*taken` is the number of words. */
enum step_status live_hold_frees(struct free_batch *frees, const uint64_t *words, size_t count,
                                 size_t *taken);
enum step_status live_put_frees(struct live_decoder *decoder, struct stream_state *state,
                                uint64_t ticks);
enum step_status live_take_free_end(const struct raw *raw);

#endif
