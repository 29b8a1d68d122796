/* SPDX-License-Identifier: Apache-2.0 */
/* Makes amounts of sums, and prints them. */
#include "converter/numbers/amount.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rounds a value of either sign. */
static int64_t whole_signed(double value)
{
    return value < 0 ? -(int64_t) estimate_whole(-value) : (int64_t) estimate_whole(value);
}

struct amount amount_exact(uint64_t value, enum amount_unit unit)
{
    return (struct amount){.range = estimate_exactly((double) value), .whole = value, .unit = unit};
}

struct amount amount_real(double value, enum amount_unit unit)
{
    return (struct amount){.range = estimate_exactly(value),
                           .whole = estimate_whole(value),
                           .unit = unit,
                           .is_real = true};
}

struct amount amount_estimated(struct estimate range, enum amount_unit unit)
{
    return (struct amount){
        .range = range, .whole = estimate_whole(range.value), .unit = unit, .is_estimate = true};
}

struct amount amount_none(enum amount_unit unit)
{
    return (struct amount){.unit = unit, .state = AMOUNT_NONE};
}

struct amount amount_change(int64_t change, enum amount_unit unit)
{
    return (struct amount){.range = estimate_exactly((double) change),
                           .whole = (uint64_t) change,
                           .unit = unit,
                           .is_change = true};
}

struct amount amount_flag(bool is_set)
{
    return (struct amount){.whole = is_set, .is_flag = true};
}

struct amount amount_real_change(double change, enum amount_unit unit)
{
    return (struct amount){.range = estimate_exactly(change),
                           .whole = (uint64_t) whole_signed(change),
                           .unit = unit,
                           .is_real = true,
                           .is_change = true};
}

struct amount amount_estimated_change(struct estimate change, enum amount_unit unit)
{
    return (struct amount){.range = change,
                           .whole = (uint64_t) whole_signed(change.value),
                           .unit = unit,
                           .is_estimate = true,
                           .is_change = true};
}

struct amount amount_of_objects(uint64_t exact, const struct sample_sums *samples)
{
    return samples == NULL ? amount_exact(exact, AMOUNT_OBJECTS)
                           : amount_estimated(estimate_objects(samples), AMOUNT_OBJECTS);
}

struct amount amount_of_bytes(uint64_t exact, const struct sample_sums *samples)
{
    return samples == NULL ? amount_exact(exact, AMOUNT_BYTES)
                           : amount_estimated(estimate_bytes(samples), AMOUNT_BYTES);
}

struct amount amount_times(struct amount amount, double factor)
{
    amount.range = estimate_times(amount.range, factor);
    amount.whole = (uint64_t) whole_signed(amount.range.value);
    amount.is_real = !amount.is_estimate;
    return amount;
}

struct amount amount_not_recorded(struct amount amount)
{
    amount.state = AMOUNT_NOT_RECORDED;
    return amount;
}

/* ---- text ---- */

/* Without a sample there is no upper bound. */
static bool has_high(const struct amount *amount)
{
    return amount->is_change || !isinf(amount->range.high);
}

static bool is_shown(const struct amount *amount)
{
    return amount->state == AMOUNT_KNOWN && has_high(amount);
}

struct quantity amount_digits(const struct amount *amount)
{
    struct quantity out = {"-"};
    if (is_shown(amount) && amount->is_change && amount->whole != 0)
        snprintf(out.text, sizeof out.text, "%+" PRId64, (int64_t) amount->whole);
    else if (is_shown(amount))
        snprintf(out.text, sizeof out.text, "%" PRIu64, amount->whole);
    return out;
}

static struct quantity decimals_of(double value, int decimals)
{
    struct quantity out;
    snprintf(out.text, sizeof out.text, "%.*f", decimals, value);
    return out;
}

#define TENTHS_MOST 1e15

/* The median of two counts may lie between two whole numbers, and is no rounded one. */
static struct quantity count_with_half(double value)
{
    double tenths = floor(value * 10 + 0.5), whole = floor(tenths / 10);
    struct quantity out = quantity_of_count(estimate_whole(value));
    if (value >= TENTHS_MOST || tenths == whole * 10)
        return out;
    struct quantity count = quantity_of_count((uint64_t) whole);
    snprintf(out.text, sizeof out.text, "%.28s.%.0f", count.text, tenths - whole * 10);
    return out;
}

static struct quantity scaled(double value, enum amount_unit unit, bool is_real)
{
    switch (unit) {
    case AMOUNT_BYTES:
        return quantity_of_bytes(value);
    case AMOUNT_NS:
        return quantity_of_ns(value);
    case AMOUNT_STEPS:
        return quantity_of_time(value, TIME_STEPS);
    case AMOUNT_PERCENT:
        return decimals_of(value, 1);
    case AMOUNT_FIT:
        return decimals_of(value, 2);
    default:
        return is_real ? count_with_half(value) : quantity_of_count(estimate_whole(value));
    }
}

const char *amount_unit_name(enum amount_unit unit)
{
    return unit == AMOUNT_OBJECTS                      ? "objects"
           : unit == AMOUNT_BYTES                      ? "bytes"
           : unit == AMOUNT_NS || unit == AMOUNT_STEPS ? "time"
                                                       : "number";
}

struct quantity amount_scaled_value(const struct amount *amount, double value)
{
    if (amount->state != AMOUNT_KNOWN)
        return (struct quantity){"-"};
    bool is_real = amount->is_real && !amount->is_estimate;
    if (!amount->is_change)
        return scaled(value, amount->unit, is_real);
    struct quantity size = scaled(fabs(value), amount->unit, is_real), out;
    bool is_zero = strpbrk(size.text, "123456789") == NULL; /* as rounded: half a byte, too */
    snprintf(out.text, sizeof out.text, "%s%.30s", is_zero ? "" : value < 0 ? "-" : "+", size.text);
    return out;
}

struct quantity amount_scaled(const struct amount *amount)
{
    if (amount->is_unsure)
        return (struct quantity){"~"};
    return is_shown(amount) ? amount_scaled_value(amount, amount->range.value)
                            : (struct quantity){"-"};
}

static struct quantity digits_as(const struct amount *amount, double value)
{
    struct quantity out;
    int64_t whole = whole_signed(value);
    snprintf(out.text, sizeof out.text, amount->is_change && whole != 0 ? "%+" PRId64 : "%" PRId64,
             whole);
    return out;
}

#define VALUE_WIDTH 12
/* Of the interval. */
static int range_width(bool is_scaled)
{
    return is_scaled ? 24 : 25;
}

void amount_print_range_title(const char *title, const struct sampling *sampling, bool is_scaled,
                              FILE *out)
{
    fprintf(out, "%*s %-*s", VALUE_WIDTH, title, range_width(is_scaled),
            estimate_range_title(sampling));
}

struct amount_range amount_range_of(const struct amount *amount, bool is_scaled)
{
    struct quantity (*text_of)(const struct amount *, double) =
        is_scaled ? amount_scaled_value : digits_as;
    struct amount_range range = {"-"};
    bool is_open = isinf(amount->range.low) || isinf(amount->range.high);
    if (is_shown(amount) && !is_open)
        snprintf(range.text, sizeof range.text, "%s..%s", text_of(amount, amount->range.low).text,
                 text_of(amount, amount->range.high).text);
    return range;
}

void amount_print_range(const struct amount *amount, bool is_scaled, FILE *out)
{
    fprintf(out, "%*s %-*s", VALUE_WIDTH, (is_scaled ? amount_scaled : amount_digits)(amount).text,
            range_width(is_scaled), amount_range_of(amount, is_scaled).text);
}

void amount_pair_text(const struct amount *objects, const struct amount *bytes,
                      char text[AMOUNT_PAIR_TEXT])
{
    if (!objects->is_estimate)
        snprintf(text, AMOUNT_PAIR_TEXT, "%s object%s, %s", quantity_of_count(objects->whole).text,
                 plural(objects->whole), quantity_of_bytes(bytes->range.value).text);
    else if (!is_shown(objects))
        snprintf(text, AMOUNT_PAIR_TEXT, "no sample");
    else if (!is_shown(bytes)) /* samples whose sizes the trace has lost */
        snprintf(text, AMOUNT_PAIR_TEXT, "%s objects (%s to %s) of unknown size",
                 scaled(objects->range.value, AMOUNT_OBJECTS, false).text,
                 scaled(objects->range.low, AMOUNT_OBJECTS, false).text,
                 scaled(objects->range.high, AMOUNT_OBJECTS, false).text);
    else
        snprintf(text, AMOUNT_PAIR_TEXT, "%s objects (%s to %s), %s (%s to %s)",
                 scaled(objects->range.value, AMOUNT_OBJECTS, false).text,
                 scaled(objects->range.low, AMOUNT_OBJECTS, false).text,
                 scaled(objects->range.high, AMOUNT_OBJECTS, false).text,
                 quantity_of_bytes(bytes->range.value).text,
                 quantity_of_bytes(bytes->range.low).text,
                 quantity_of_bytes(bytes->range.high).text);
}

/* ---- where estimates are from ---- */

#define NORMAL_95 1.96
#define REPEATS_TOLD 1e-4 /* +-2 % */

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

/* ---- JSON ---- */

static void put_exact(const struct amount *amount, const char *name, struct json_output *json)
{
    if (amount->is_flag)
        json_bool(json, name, amount->whole != 0);
    else if (amount->is_real || amount->is_change)
        json_real(json, name, amount->range.value);
    else
        json_number(json, name, amount->whole);
}

static void put_whole(const struct amount *amount, double value, const char *name,
                      struct json_output *json)
{
    if (amount->is_change)
        json_real(json, name, (double) whole_signed(value));
    else
        json_number(json, name, estimate_whole(value));
}

void amount_put_json(const struct amount *amount, const char *name, struct json_output *json)
{
    if (amount->state == AMOUNT_NONE)
        return;
    if (!amount->is_estimate) {
        put_exact(amount, name, json);
        return;
    }
    json_begin_object(json, name);
    put_whole(amount, amount->range.value, "estimate", json);
    put_whole(amount, amount->range.low, "low", json);
    if (has_high(amount))
        put_whole(amount, amount->range.high, "high", json);
    json_end_object(json);
}

#define NAME_MOST 48u

/* Bounds are named after their value. */
static const char *bound_name(char room[NAME_MOST], const char *name, const char *bound)
{
    snprintf(room, NAME_MOST, "%s_%s", name, bound);
    return room;
}

void amount_put_members(const struct amount *amount, const char *name, struct json_output *json)
{
    char room[NAME_MOST];
    if (amount->state == AMOUNT_NONE)
        return;
    if (!amount->is_estimate) {
        put_exact(amount, name, json);
        return;
    }
    put_whole(amount, amount->range.value, name, json);
    put_whole(amount, amount->range.low, bound_name(room, name, "low"), json);
    if (has_high(amount))
        put_whole(amount, amount->range.high, bound_name(room, name, "high"), json);
}

void amount_put_array(const struct amount *amount, const char *name, struct json_output *json)
{
    if (amount->state == AMOUNT_NONE) {
        json_null(json, name);
        return;
    }
    json_begin_array(json, name);
    json_real(json, NULL, round(amount->range.value));
    json_real(json, NULL, round(amount->range.low));
    if (isinf(amount->range.high))
        json_null(json, NULL);
    else
        json_real(json, NULL, round(amount->range.high));
    json_end_array(json);
}

/* ---- CSV ---- */

void amount_put_csv_title(const char *name, bool has_bounds, FILE *out)
{
    fprintf(out, has_bounds ? "%s,%s_low,%s_high" : "%s", name, name, name);
}

void amount_put_csv(const struct amount *amount, FILE *out)
{
    if (amount->is_change)
        fprintf(out, "%" PRId64, (int64_t) amount->whole);
    else
        fprintf(out, "%" PRIu64, amount->whole);
    if (!amount->is_estimate)
        return;
    fprintf(out, ",%" PRId64 ",", whole_signed(amount->range.low));
    if (has_high(amount))
        fprintf(out, "%" PRId64, whole_signed(amount->range.high));
}
