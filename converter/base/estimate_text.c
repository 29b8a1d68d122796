/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds and prints estimates. */
#include "converter/base/estimate_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "converter/base/quantity.h"

#define WHOLE_MOST 9e15
#define NAME_MOST 48u
#define NORMAL_95 1.96
#define REPEATS_TOLD 1e-4 /* +-2 % */

uint64_t estimate_whole(double value)
{
    return value < WHOLE_MOST ? (uint64_t) (value + 0.5) : (uint64_t) WHOLE_MOST;
}

/* Rounds a value of either sign. */
static int64_t whole_signed(double value)
{
    return value < 0 ? -(int64_t) estimate_whole(-value) : (int64_t) estimate_whole(value);
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

void estimate_pair_text(struct estimate objects, struct estimate bytes, char text[ESTIMATE_TEXT])
{
    snprintf(text, ESTIMATE_TEXT, "%s objects (%s to %s), %s (%s to %s)",
             quantity_of_count(estimate_whole(objects.value)).text,
             quantity_of_count(estimate_whole(objects.low)).text,
             quantity_of_count(estimate_whole(objects.high)).text,
             quantity_of_bytes(bytes.value).text, quantity_of_bytes(bytes.low).text,
             quantity_of_bytes(bytes.high).text);
}

void estimate_amount_text(const struct sample_sums *sums, char text[ESTIMATE_TEXT])
{
    if (sums->samples == 0)
        snprintf(text, ESTIMATE_TEXT, "no sample");
    else
        estimate_pair_text(estimate_objects(sums), estimate_bytes(sums), text);
}

void estimate_print_source(uint64_t samples, const struct sampling *sampling)
{
    char text[ESTIMATE_TEXT];
    estimate_source_text(samples, sampling, text);
    fputs(text, stdout);
}

void estimate_print_amount(const struct sample_sums *sums)
{
    char text[ESTIMATE_TEXT];
    estimate_amount_text(sums, text);
    fputs(text, stdout);
}

void estimate_print(struct estimate estimate)
{
    char range[64];
    if (isinf(estimate.high)) {
        printf(ESTIMATE_TITLES, "-", "-");
        return;
    }
    snprintf(range, sizeof range, "%" PRIu64 "..%" PRIu64, estimate_whole(estimate.low),
             estimate_whole(estimate.high));
    printf(" %12" PRIu64 " %-25s", estimate_whole(estimate.value), range);
}

void estimate_print_change(struct estimate change)
{
    char range[64];
    snprintf(range, sizeof range, "%+" PRId64 "..%+" PRId64, whole_signed(change.low),
             whole_signed(change.high));
    printf(" %+12" PRId64 " %-25s", whole_signed(change.value), range);
}

void estimate_put_json(struct json_output *json, const char *name, struct estimate estimate)
{
    json_begin_object(json, name);
    json_number(json, "estimate", estimate_whole(estimate.value));
    json_number(json, "low", estimate_whole(estimate.low));
    if (!isinf(estimate.high))
        json_number(json, "high", estimate_whole(estimate.high));
    json_end_object(json);
}

/* Bounds are named after their value. */
static const char *bound_name(char room[NAME_MOST], const char *name, const char *bound)
{
    snprintf(room, NAME_MOST, "%s_%s", name, bound);
    return room;
}

void estimate_put_members(struct json_output *json, const char *name, struct estimate estimate)
{
    char room[NAME_MOST];
    json_number(json, name, estimate_whole(estimate.value));
    json_number(json, bound_name(room, name, "low"), estimate_whole(estimate.low));
    if (!isinf(estimate.high))
        json_number(json, bound_name(room, name, "high"), estimate_whole(estimate.high));
}

void estimate_put_change(struct json_output *json, const char *name, struct estimate change)
{
    char room[NAME_MOST];
    json_real(json, name, (double) whole_signed(change.value));
    json_real(json, bound_name(room, name, "low"), (double) whole_signed(change.low));
    json_real(json, bound_name(room, name, "high"), (double) whole_signed(change.high));
}

void estimate_put_csv(struct estimate estimate)
{
    printf("%" PRIu64 ",%" PRIu64 ",", estimate_whole(estimate.value),
           estimate_whole(estimate.low));
    if (!isinf(estimate.high))
        printf("%" PRIu64, estimate_whole(estimate.high));
}

void estimate_put_change_csv(struct estimate change)
{
    printf("%" PRId64 ",%" PRId64 ",%" PRId64, whole_signed(change.value), whole_signed(change.low),
           whole_signed(change.high));
}
