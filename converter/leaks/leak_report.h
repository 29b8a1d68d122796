/* SPDX-License-Identifier: Apache-2.0 */
/* Leaks for people, and as JSON. */
#ifndef CONVERTER_LEAKS_LEAK_REPORT_H
#define CONVERTER_LEAKS_LEAK_REPORT_H

#include "converter/leaks/leak_rows.h"

struct leak_report {
    const char *path;
    const struct leak_tracker *tracker;
    const struct leak_rows *rows;
    struct leak_limits limits;
    unsigned axes;
    uint64_t top;   /* lines; 0: all */
    uint64_t depth; /* frames of a site; 0: all */
};

void leak_print_text(const struct leak_report *report);
void leak_print_json(const struct leak_report *report);

#endif
