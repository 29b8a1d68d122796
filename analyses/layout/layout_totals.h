/* SPDX-License-Identifier: Apache-2.0 */
/* What the objects of a trace take under several layouts, by class.  Memory is proportional to the
 * number of classes. */
#ifndef ANALYSES_LAYOUT_LAYOUT_TOTALS_H
#define ANALYSES_LAYOUT_LAYOUT_TOTALS_H

#include <stdio.h>

#include "converter/layout/class_fields.h"
#include "converter/trace/event.h"
#include "converter/trace/names.h"
#include "steptrace/status.h"

struct layout_row {
    struct step_bytes name; /* of the class; as long as the trace's names */
    uint64_t objects;
    uint64_t bytes[LAYOUTS_MOST];  /* by layout; 0 is the traced one */
    uint64_t errors[LAYOUTS_MOST]; /* the figure is right to this many bytes; 0: exact */
};

struct layout_totals {
    const char *path; /* of the trace, for messages; set by the caller, borrowed */
    struct object_layout layouts[LAYOUTS_MOST];
    size_t layout_count;
    const struct trace_names *names; /* borrowed */
    struct id_table classes;         /* struct class_total */
    struct class_fields fields;
    uint64_t objects, existing, instances;
    uint64_t classes_with_fields;
    /* results */
    struct layout_row *rows; /* most traced bytes first */
    size_t row_count;
    struct layout_row all; /* sums */
    size_t uncertain;      /* classes with an error */
    struct value_counts {
        size_t flat;       /* value classes whose values are flattened into all fields and arrays */
        size_t large;      /* into fields of value classes only: more than 8 bytes */
        size_t impossible; /* named, but no value classes: subclasses, or inherited fields */
    } values;              /* in the first layout that has values */
};

/* The first layout is the traced one. */
void layout_totals_init(struct layout_totals *totals, const struct object_layout *traced,
                        const struct layout_changes *changes,
                        const struct selected_globs *value_globs, const struct trace_names *names);
void layout_totals_reset(struct layout_totals *totals);

enum step_status layout_totals_put(void *layout_totals_pointer, const struct trace_event *events,
                                   size_t count, struct step_error *error);
/* Visitors for event_source_layouts(), one after the other, before the objects; `totals` is a
 * struct layout_totals. */
enum step_status layout_totals_put_name(void *totals, const struct trace_layout *layout);
enum step_status layout_totals_put_fields(void *totals, const struct trace_layout *layout);
/* Computes the results.  Returns false if out of memory. */
bool layout_totals_finish(struct layout_totals *totals);

/* The forms of the result; `top` 0: all classes. */
void layout_print_text(const struct layout_totals *totals, uint64_t top);
void layout_print_csv(const struct layout_totals *totals);
void layout_print_json(const struct layout_totals *totals);

#endif
