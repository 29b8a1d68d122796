/* SPDX-License-Identifier: Apache-2.0 */
/* Prints leaks as text and as JSON. */
#ifndef CONVERTER_NUMBERS_LEAK_REPORT_H
#define CONVERTER_NUMBERS_LEAK_REPORT_H

#include "converter/numbers/leak_rows.h"

struct leak_report {
    const char *path;
    const struct leak_tracker *tracker;
    const struct leak_rows *rows;
    struct leak_limits limits;
    unsigned axes;
    uint64_t top;                    /* lines; 0: all */
    uint64_t depth;                  /* frames of a site; 0: all */
    const char *baseline;            /* trace to compare with; NULL: none */
    const struct measures *measures; /* with the baseline as the side before */
};

/* With a baseline also the changes in survivors since then, the largest first. */
void leak_print_text(const struct leak_report *report);
void leak_print_json(const struct leak_report *report);

#endif
