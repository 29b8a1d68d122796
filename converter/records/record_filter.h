/* SPDX-License-Identifier: Apache-2.0 */
/* Selects records of any definition by type, time, thread and field values; returns them in order
 * of time. */
#ifndef CONVERTER_RECORDS_RECORD_FILTER_H
#define CONVERTER_RECORDS_RECORD_FILTER_H

#include "converter/trace/trace_format.h"
#include "steptrace/records.h"

enum { RECORD_CONDITIONS_MOST = 16 };

struct record_selection {
    const char *names; /* comma-separated record types; NULL: all */
    bool maps;         /* also select records that map to a named type, and convert them to it */
    const struct event_selection *selected;         /* times and thread */
    const char *conditions[RECORD_CONDITIONS_MOST]; /* "food!=hay", "at.x>=-3"; all must hold */
    size_t condition_count;
};

/* --record and --where, for formats of records.  They set a struct record_selection. */
extern const struct format_options record_options;
struct record_selection record_selection_of(const struct format_job *job);

/* Parser of `--where`.  The target is a struct record_selection. */
bool take_condition(void *record_selection_target, const char *value, const char **fault);

struct record_filter;

/* Creates a filter.  Borrows the reader and the selection.  Returns INVALID for an unknown
 * record type, or for a condition that no selected type can satisfy. */
enum step_status record_filter_create(struct step_reader *reader,
                                      const struct record_selection *selected,
                                      struct record_filter **out, struct step_error *error);
void record_filter_destroy(struct record_filter *filter);

struct step_selection *record_filter_selection(const struct record_filter *filter);
bool record_filter_takes(const struct record_filter *filter, const struct step_record_view *view);

/*
 * Returns the selected records of a trace in order of time.  Within a tick of a Java trace,
 * definitions and class loads come first, and frees last (docs/formats/java.md).
 */
struct record_order;

/* Both arguments are borrowed. */
enum step_status record_order_create(struct step_reader *reader, struct step_selection *selection,
                                     struct record_order **out, struct step_error *error);
/* Returns the next record, or END.  Its slots are valid until the next call. */
enum step_status record_order_next(struct record_order *order, struct step_record_view *view,
                                   struct step_error *error);
/* `order` may be NULL. */
void record_order_destroy(struct record_order *order);

#endif
