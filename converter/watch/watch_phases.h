/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of a watched trace (docs/phases.md): which events are in selected ones, and the bands
 * below the curve.  Blocks arrive thread by thread.  A platform thread's phases are followed in its
 * own stream, so their order is exact.  Phases of the program and of virtual threads, whose events
 * are in several streams, are spans of time, which are known before the blocks are read.
 */
#ifndef CONVERTER_WATCH_WATCH_PHASES_H
#define CONVERTER_WATCH_WATCH_PHASES_H

#include "converter/trace/open_phases.h"
#include "converter/watch/watch_tail.h"

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

#endif
