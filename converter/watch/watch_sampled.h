/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures of a sampled trace (docs/estimates.md): estimates with their intervals, and nothing
 * else.  The curve, growth, and rates of rows have no intervals and are left out.
 */
#ifndef CONVERTER_WATCH_WATCH_SAMPLED_H
#define CONVERTER_WATCH_WATCH_SAMPLED_H

#include "converter/base/estimate_text.h"
#include "converter/base/quantity.h"
#include "converter/watch/watch_view.h"

/* Lines of the screen: what the figures are, what lives, what was allocated, and a second. */
#define WATCH_SAMPLED_LINES 4u
#define WATCH_SAMPLED_TEXT (2u * ESTIMATE_TEXT)
void watch_sampled_lines(const struct watch_view *view,
                         char lines[WATCH_SAMPLED_LINES][WATCH_SAMPLED_TEXT]);

struct watch_sampled_cell {
    char text[3 * sizeof(struct quantity) + 4];
};
/* Returns a figure of a row as "12.3 MiB 9.10 MiB..15.9 MiB"; "-" without a sample. */
struct watch_sampled_cell watch_sampled_cell_of(const struct watch_model *model,
                                                const struct watch_line *line,
                                                enum watch_column column);

/* Put members of JSON objects: the sums of a row; allocations a second, which is absent if the time
 * is not known. */
void watch_sampled_put_sums(const struct watch_model *model, struct json_output *json,
                            const struct watch_estimates *estimates);
void watch_sampled_put_rates(const struct watch_view *view, struct json_output *json);

#endif
