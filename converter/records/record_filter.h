/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of a trace of any definition are wanted: by type, time, thread, and values. */
#ifndef CONVERTER_RECORDS_RECORD_FILTER_H
#define CONVERTER_RECORDS_RECORD_FILTER_H

#include "converter/trace/trace_format.h"
#include "steptrace/records.h"

enum { RECORD_CONDITIONS_MOST = 16 };

struct record_selection {
    const char *names; /* with commas between; NULL: all records */
    bool maps;         /* records that map to one that is named are taken as that */
    const struct event_selection *selected;         /* times and thread */
    const char *conditions[RECORD_CONDITIONS_MOST]; /* "food!=hay", "at.x>=-3": all must hold */
    size_t condition_count;
};

/* --record and --where of formats of records; they fill a struct record_selection. */
extern const struct format_options record_options;
struct record_selection record_selection_of(const struct format_job *job);

/* Takes `--where`; the target is a struct record_selection. */
bool take_condition(void *record_selection_target, const char *value, const char **fault);

struct record_filter;

/* INVALID for a name that no record has, or a condition that no wanted record could meet; the
 * reader and the selection are borrowed. */
enum step_status record_filter_create(struct step_reader *reader,
                                      const struct record_selection *selected,
                                      struct record_filter **out, struct step_error *error);
void record_filter_destroy(struct record_filter *filter);

struct step_selection *record_filter_selection(const struct record_filter *filter);
bool record_filter_takes(const struct record_filter *filter, const struct step_record_view *view);

#endif
