/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is watched: opened once, and then what was written since. */
#ifndef CONVERTER_WATCH_WATCH_TAIL_H
#define CONVERTER_WATCH_WATCH_TAIL_H

#include "converter/base/id_table.h"
#include "converter/step/event_of_record.h"

enum watch_state {
    WATCH_RUNNING, /* its process writes it */
    WATCH_WHOLE,   /* written to its end */
    WATCH_CUT      /* its process was killed, or what it wrote was cut off */
};

struct watch_tail {
    const char *path; /* borrowed */
    struct step_reader *reader;
    struct step_reader *before; /* the one that names were taken from before; or NULL */
    struct stepfile_decoder decoder;
    struct trace_names names;
    enum watch_state state;
    bool is_heap;            /* a native program's: its records are no events here */
    uint64_t dropped;        /* records that found no room, as the live file tells */
    struct id_table streams; /* uint64_t: how many records of a stream are in the file */
    size_t counted;          /* blocks that this and the following are of */
    uint64_t events;
    uint64_t last_ns;
};

/* Errors are those of step_reader_open(); UNSUPPORTED: the trace has no events of a
 * program. */
enum step_status watch_tail_open(struct watch_tail *tail, const char *path,
                                 struct step_error *error);
void watch_tail_reset(struct watch_tail *tail);
/* Takes what was written since. `*opened_anew`: its process has ended without closing it, and all
 * was read once more; blocks that were there have kept their numbers. */
enum step_status watch_tail_refresh(struct watch_tail *tail, bool *opened_anew,
                                    struct step_error *error);

/* How many records of the stream are in the file. */
uint64_t watch_tail_written(const struct watch_tail *tail, uint64_t stream);
uint64_t watch_tail_time_ns(const struct watch_tail *tail, uint64_t ticks);
/* Reads what is not known yet of the names of a frame, and of the event's thread and class or
 * method; false: the trace does not have them all, and a filter cannot judge the event. */
void watch_tail_name_frame(struct watch_tail *tail, uint32_t stack_id);
bool watch_tail_has_names(struct watch_tail *tail, const struct trace_event *event);

#endif
