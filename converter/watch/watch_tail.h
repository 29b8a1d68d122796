/* SPDX-License-Identifier: Apache-2.0 */
/* A watched trace: opened once, then followed as it grows. */
#ifndef CONVERTER_WATCH_WATCH_TAIL_H
#define CONVERTER_WATCH_WATCH_TAIL_H

#include "converter/base/id_table.h"
#include "converter/step/event_of_record.h"

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
    bool is_heap;            /* of a native program: its records are read through watch_heap.h */
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
/* Read names that are still unknown: of a frame, and of the event's thread and class or method.
 * The second returns false if the trace lacks some of them, so that a filter cannot judge the
 * event. */
void watch_tail_name_frame(struct watch_tail *tail, uint32_t stack_id);
bool watch_tail_has_names(struct watch_tail *tail, const struct trace_event *event);

#endif
