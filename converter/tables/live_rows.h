/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the tables `live`. */
#ifndef CONVERTER_TABLES_LIVE_ROWS_H
#define CONVERTER_TABLES_LIVE_ROWS_H

#include "converter/statistics/level_curve.h"
#include "converter/tables/row_builder.h"

/* A step of the curve, which ends no later than the trace. */
void live_rows_put_step(struct row_builder *builder, const struct level_curve *curve, size_t i,
                        uint64_t last_ns);

#endif
