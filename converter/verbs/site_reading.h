/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace's allocation sites for the verbs that report them. */
#ifndef CONVERTER_VERBS_SITE_READING_H
#define CONVERTER_VERBS_SITE_READING_H

#include "converter/formats/input.h"
#include "converter/sites/site_report.h"

/* The caller sets what it wants, of the report too; site_reading_run() sets the rest. */
struct site_reading {
    const struct trace_format *from;
    uint64_t within, young_bytes; /* struct site_lives */
    uint64_t least_bytes;         /* of advice */
    bool needs_references;
    /* Looks at the opened trace; returns false, after a report, if it has not what is needed. */
    bool (*accepts)(struct site_reading *reading, const struct input *input, const char *path);
    void (*print)(const struct site_report *report, FILE *out);
    struct site_report report;
    struct event_selection selected;
    struct site_lives lives;
    struct heap_sites sites;
    struct site_clusters clusters;
    struct advice_list advice;
    uint32_t *order;
};

/* Reads `path` and prints the report.  Reports errors. */
enum step_status site_reading_run(struct site_reading *reading, const char *path);

#endif
