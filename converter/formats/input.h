/* SPDX-License-Identifier: Apache-2.0 */
/* The input of a verb: opens a trace of any format, shows progress while it is read, and reports
 * its damage on stderr. */
#ifndef CONVERTER_FORMATS_INPUT_H
#define CONVERTER_FORMATS_INPUT_H

#include "converter/cli/error_report.h"
#include "converter/containers/id_set.h"
#include "converter/formats/format_table.h"
#include "converter/trace/event_source.h"

#define INPUT_BATCH ((size_t) 512)

struct input {
    struct event_source *source;
    struct alloc_source *allocs; /* source of the events of a heap trace, borrowed; else NULL */
    const struct event_selection *of_heap; /* of input_choose_objects(), borrowed */
    struct id_set objects;                 /* objects selected by their deaths */
    char spool_path[64];
    int spool; /* standard input, copied to a file; -1: none */
    size_t damage_reported;
    uint64_t unknown_frees; /* frees of objects without an allocation */
    bool is_damaged;        /* more than incomplete by what the agent could not record */
    bool is_unmatched_reported;
    /* state of the progress display */
    bool shows_progress;
    bool has_shown;
    uint64_t started_ms;
    uint64_t shown_ms;
    uint64_t events;
};

/* Opens `path`; "-" is standard input, streamed if the format supports it.  With `format` NULL, the
 * extension or the content selects the format.  Reports errors. */
enum step_status input_open(struct input *input, const char *path,
                            const struct trace_format *format,
                            const struct event_selection *selected);
/* Like input_open(), but standard input can be reopened as `spool_path`. */
enum step_status input_open_seekable(struct input *input, const char *path,
                                     const struct trace_format *format,
                                     const struct event_selection *selected);

/* Adds the objects that a selection chooses by their deaths to `out` (chosen_objects.c):
 * --lifetime,
 * --alive-at, --temporary.  A separate pass over allocations and frees finds them.  Memory is
 * proportional to the live set, plus a bit for each object in ranges where only some objects are
 * selected.  Returns NOT_FOUND if the moment of --alive-at is not in the trace. */
enum step_status chosen_objects_find(const char *path, const struct trace_format *format,
                                     const struct event_selection *selected, struct id_set *out,
                                     struct step_error *error);
/* Finds the objects that `selected`, a selection other than the input's own, chooses by their
 * deaths.  `selected` borrows them from the input.  Reports errors. */
enum step_status input_choose_objects(struct input *input, const char *path,
                                      const struct trace_format *format,
                                      struct event_selection *selected);

typedef enum step_status (*input_visit)(void *user, const struct trace_event *events, size_t count,
                                        struct step_error *error);
/* Passes all events to `visit` in batches.  Reports errors, those of `visit` included. */
enum step_status input_each(struct input *input, input_visit visit, void *user);

typedef enum step_status (*input_visit_alloc)(void *user, const struct hatf_record *record,
                                              struct step_error *error);
/* Like input_each() for the records of a heap trace (input->allocs is not NULL). */
enum step_status input_each_alloc(struct input *input, input_visit_alloc visit, void *user);

/* Reports damage and truncation.  Returns CORRUPT if there was any, else OK. */
enum step_status input_report_damage(struct input *input);

/* Call input_report_damage() first, unless the verb reports damage itself. */
void input_close(struct input *input);

#endif
