/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds estimates, and says where they are from. */
#include "converter/numbers/estimate_text.h"

#include <math.h>
#include <stdio.h>

#include "converter/numbers/quantity.h"

#define WHOLE_MOST 9e15
#define NORMAL_95 1.96
#define REPEATS_TOLD 1e-4 /* +-2 % */

uint64_t estimate_whole(double value)
{
    return value < WHOLE_MOST ? (uint64_t) (value + 0.5) : (uint64_t) WHOLE_MOST;
}

const char *estimate_level(bool is_biased)
{
    return is_biased ? "bias" : "95 %";
}

const char *estimate_range_title(const struct sampling *sampling)
{
    return sampling->is_biased ? "(bias)" : "(95 %)";
}

void estimate_source_text(uint64_t samples, const struct sampling *sampling,
                          char text[ESTIMATE_TEXT])
{
    double repeated = sampling->repeated;
    int at = snprintf(text, ESTIMATE_TEXT, "estimated from %s samples, one in %s on average (%s)",
                      quantity_of_count(samples).text,
                      quantity_of_bytes((double) sampling->interval_bytes).text,
                      sampling->is_biased ? "biased, no 95 % intervals" : "95 % intervals");
    if (repeated < 0)
        snprintf(text + at, ESTIMATE_TEXT - (size_t) at, "%s",
                 "; too narrow if threads started all the time, which the trace does not record");
    else if (repeated >= REPEATS_TOLD)
        snprintf(text + at, ESTIMATE_TEXT - (size_t) at,
                 "; new threads repeat sampling distances: no sum is more accurate than +-%.0f %%",
                 100 * NORMAL_95 * sqrt(repeated));
}

void estimate_print_source(uint64_t samples, const struct sampling *sampling)
{
    char text[ESTIMATE_TEXT];
    estimate_source_text(samples, sampling, text);
    fputs(text, stdout);
}
