/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of allocation sites: lifetimes, and advice, each as text and as JSON. */
#ifndef ANALYSES_SITES_SITE_REPORT_H
#define ANALYSES_SITES_SITE_REPORT_H

#include <stdio.h>

#include "analyses/sites/advice.h"
#include "analyses/sites/jit_log.h"
#include "analyses/sites/site_lives.h"
#include "converter/heap/heap_sites.h"
#include "converter/trace/class_twins.h"
#include "format/json/json_output.h"

/*
 * Groups sites whose objects live equally long.  The distance of two sites is that of Kolmogorov
 * and Smirnov: the largest difference between the shares of objects that live at most so many
 * bytes of allocation.  Objects that are alive at the end live longer than all others.  Shares are
 * compared at the ends of buckets (lifetimes.h), so that the distance is a lower bound.
 */

#define SITE_CLUSTERS_MOST 26u    /* named A to Z */
#define SITE_CLUSTER_DISTANCE 0.1 /* of a member to the cluster's first site, at most */
#define SITE_CLUSTER_OBJECTS 100u /* a site with fewer objects is in no cluster */
#define SITE_NO_CLUSTER UINT8_MAX

struct site_cluster {
    uint32_t first; /* the site with most bytes */
    uint64_t sites, objects, bytes;
};

struct site_clusters {
    struct site_cluster items[SITE_CLUSTERS_MOST];
    size_t count;
    uint8_t *of_site; /* by site: its cluster, or SITE_NO_CLUSTER */
};

/* `order` has the numbers of all sites, those with most bytes first.  Returns false if out of
 * memory; reset is allowed then. */
bool site_clusters_make(struct site_clusters *clusters, const struct site_lives *lives,
                        const uint32_t *order);
void site_clusters_reset(struct site_clusters *clusters);

struct verdict_list;

/* All pointers are borrowed. */
struct site_report {
    const char *path; /* of the trace */
    const struct site_lives *lives;
    struct heap_sites *sites; /* for printing stacks */
    const struct class_twins *twins;
    const uint32_t *order; /* numbers of all sites, those with most bytes first */
    const struct site_clusters *clusters;
    const struct advice_list *advice;
    struct jit_log *jit;    /* of an untraced run; NULL: none */
    const char *not_source; /* why the counts are not of the source; NULL: they are */
    bool has_references, has_histograms;
    enum time_unit unit;   /* of times */
    uint64_t stamp_events; /* event_source_stamp_events() */
    uint64_t top;          /* rows; 0: all */
    uint64_t depth;        /* frames of a site; 0: all */
};

/* Common parts: the head of a text, the members of a JSON object, the names of a site. */
void site_report_put_head(const struct site_report *report);
void site_report_put_names(const struct site_report *report, uint32_t site);
void site_report_begin_json(const struct site_report *report, struct json_output *json);
void site_report_json_names(const struct site_report *report, uint32_t site,
                            struct json_output *json);

/* Prints what shows the advice, without a line feed. */
void advice_print_evidence(const struct site_report *report, const struct advice *advice,
                           FILE *out);
/* Adds the advice that is shown as verdicts, at lines of source files below the current directory.
 * Returns false if out of memory. */
bool advice_verdicts_add(const struct site_report *report, struct verdict_list *list);

/* Print to standard output. */
void lives_print_text(const struct site_report *report);
void lives_print_json(const struct site_report *report);
void advice_print_text(const struct site_report *report);
void advice_print_json(const struct site_report *report);
void escape_print_text(const struct site_report *report);
void escape_print_json(const struct site_report *report);

#endif
