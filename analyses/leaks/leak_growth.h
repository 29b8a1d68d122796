/* SPDX-License-Identifier: Apache-2.0 */
/* The growth of rows of survivors, as leak_rows.h defines it. */
#ifndef ANALYSES_LEAKS_LEAK_GROWTH_H
#define ANALYSES_LEAKS_LEAK_GROWTH_H

#include "analyses/leaks/leak_rows.h"

/* Adds what the samples of a sampled trace add to the slopes of the rows; `row_of_cell` has the
 * row of each cell, from 1, or 0. */
void leak_growth_fill(const struct leak_tracker *tracker, const uint32_t *row_of_cell,
                      struct leak_rows *rows);
/* Sets the slope, the fit and the rank of a row that has its series, births and trend. */
void leak_growth_find(const struct leak_tracker *tracker, struct leak_row *row);

#endif
