/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps what alive, for people and programs. */
#ifndef CONVERTER_KEEPERS_KEEPER_REPORT_H
#define CONVERTER_KEEPERS_KEEPER_REPORT_H

#include "converter/keepers/paths.h"
#include "converter/keepers/retained.h"

struct keeper_report {
    const char *path; /* of the trace */
    const struct graph_moment *graph;
    uint64_t depth; /* frames of a site */
    uint64_t top;   /* ways; 0: all */
    bool as_json;
};

/* Each prints to standard output; false: out of memory. */
void keeper_report_retained(const struct keeper_report *report, const struct retained *retained);
bool keeper_report_paths(const struct keeper_report *report, const struct keeper_paths *paths);

#endif
