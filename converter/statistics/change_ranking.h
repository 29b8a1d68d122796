/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of two sets of traces, those first that changed most. */
#ifndef CONVERTER_STATISTICS_CHANGE_RANKING_H
#define CONVERTER_STATISTICS_CHANGE_RANKING_H

#include "converter/statistics/measured.h"

/* A row with the change of its sort metric and the largest change of the other metrics. */
struct change_row {
    uint32_t row;
    struct measured_pair pair;
    double other_change; /* of bytes, objects and calls */
    double time_change;
};

struct change_ranking {
    struct change_row *rows; /* the largest change first; the caller frees it */
    size_t count;            /* rows that changed in any metric */
    size_t shown;
};

/* `with_times`: also rows in which only times changed.  `top`: rows to show; 0: all.  Returns false
 * if memory runs out. */
bool rank_changes(const struct measures *measures, enum measure_axis axis,
                  const struct metric *metric, bool with_times, uint64_t top,
                  struct change_ranking *ranking);

#endif
