/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of allocation sites: lifetimes, and advice, each as text and as JSON. */
#ifndef CONVERTER_SITES_SITE_REPORT_H
#define CONVERTER_SITES_SITE_REPORT_H

#include <stdio.h>

#include "converter/heap/heap_sites.h"
#include "converter/sites/advice.h"
#include "converter/sites/jit_log.h"
#include "converter/sites/site_clusters.h"
#include "format/json/json_output.h"

/* All pointers are borrowed. */
struct site_report {
    const char *path; /* of the trace */
    const struct site_lives *lives;
    struct heap_sites *sites; /* for printing stacks */
    const uint32_t *order;    /* numbers of all sites, those with most bytes first */
    const struct site_clusters *clusters;
    const struct advice_list *advice;
    struct jit_log *jit;    /* of an untraced run; NULL: none */
    const char *not_source; /* why the counts are not of the source; NULL: they are */
    bool has_references, has_times, has_histograms;
    uint64_t top;   /* rows; 0: all */
    uint64_t depth; /* frames of a site; 0: all */
};

/* Common parts: the head of a text, the members of a JSON object, the names of a site. */
void site_report_put_head(const struct site_report *report, FILE *out);
void site_report_put_names(const struct site_report *report, uint32_t site, FILE *out);
void site_report_begin_json(const struct site_report *report, struct json_output *json);
void site_report_json_names(const struct site_report *report, uint32_t site,
                            struct json_output *json);

/* The caller checks `out` for errors. */
void lives_print_text(const struct site_report *report, FILE *out);
void lives_print_json(const struct site_report *report, FILE *out);
void advice_print_text(const struct site_report *report, FILE *out);
void advice_print_json(const struct site_report *report, FILE *out);
void escape_print_text(const struct site_report *report, FILE *out);
void escape_print_json(const struct site_report *report, FILE *out);

#endif
