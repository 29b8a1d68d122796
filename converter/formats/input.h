/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that a verb reads: opened in whatever format it has, gone through with progress, and its
 * damage reported on stderr. */
#ifndef CONVERTER_FORMATS_INPUT_H
#define CONVERTER_FORMATS_INPUT_H

#include "converter/base/error_report.h"
#include "converter/base/id_set.h"
#include "converter/formats/open_trace.h"
#include "converter/trace/event_source.h"

#define INPUT_BATCH ((size_t) 512)

struct input {
    struct event_source *source;
    struct alloc_source
        *allocs; /* a heap trace: what the events are made of, borrowed; else NULL */
    const struct event_selection *of_heap; /* of input_choose_objects(), borrowed */
    struct id_set objects;                 /* of the selection, where deaths choose them */
    char spool_path[64];
    int spool; /* standard input in a file; -1: none */
    size_t damage_reported;
    uint64_t unknown_frees; /* frees of objects that nothing tells of */
    bool is_damaged;
    bool is_unmatched_told;
    /* progress */
    bool shows_progress;
    bool has_shown;
    uint64_t started_ms;
    uint64_t shown_ms;
    uint64_t events;
};

/* Opens `path` ("-": standard input, read as it comes where its format allows it); `format` NULL:
 * by ending and content.  Faults are reported. */
enum step_status input_open(struct input *input, const char *path,
                            const struct trace_format *format,
                            const struct event_selection *selected);
/* The same; standard input can be opened once more, as `spool_path`. */
enum step_status input_open_seekable(struct input *input, const char *path,
                                     const struct trace_format *format,
                                     const struct event_selection *selected);

/* For a selection that is not that of the input: finds the objects that deaths choose, and lets
 * `selected` borrow them from the input.  Faults are told. */
enum step_status input_choose_objects(struct input *input, const char *path,
                                      const struct trace_format *format,
                                      struct event_selection *selected);

typedef enum step_status (*input_visit)(void *user, const struct trace_event *events, size_t count,
                                        struct step_error *error);
/* Gives all events to `visit`, batch by batch.  Faults are reported; `error` of a visit too. */
enum step_status input_each(struct input *input, input_visit visit, void *user);

typedef enum step_status (*input_visit_alloc)(void *user, const struct hatf_record *record,
                                              struct step_error *error);
/* The same with the records of a heap trace (input->allocs is not NULL). */
enum step_status input_each_alloc(struct input *input, input_visit_alloc visit, void *user);

/* Tells what was damaged or cut.  Returns CORRUPT if anything was, else OK. */
enum step_status input_report_damage(struct input *input);

/* After input_report_damage() where the verb says so by itself. */
void input_close(struct input *input);

#endif
