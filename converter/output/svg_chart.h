/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chart of curves as SVG, whose colours follow the reader's light or dark scheme.  Its parts are
 * written in the order of the functions; the caller checks `out` for errors.
 */
#ifndef CONVERTER_OUTPUT_SVG_CHART_H
#define CONVERTER_OUTPUT_SVG_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "converter/numbers/quantity.h"
#include "steptrace/status.h"

struct svg_chart {
    FILE *out;
    const char *title, *subject; /* the subject follows the title, and may have any characters */
    const char *x_name;
    double x_least, x_most; /* of the axis */
    double y_most;          /* bytes; the least is 0 */
    struct quantity (*x_label)(double x);
    size_t x_steps;     /* parts of the axis, each with a label; 1 or more */
    size_t curve_count; /* written so far; 0 */
};

void svg_chart_begin(const struct svg_chart *chart);
/* A curve is its begin, its points and its end, which adds its name to the key.  A `reference` is
 * dashed, in the colour of the text. */
void svg_chart_begin_curve(const struct svg_chart *chart, bool is_reference);
void svg_chart_point(const struct svg_chart *chart, double x, double y);
void svg_chart_end_curve(struct svg_chart *chart, const char *name, bool is_reference);
void svg_chart_end(const struct svg_chart *chart);

#endif
