/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number of a report: exact, or an estimate with the bounds of its 95 % confidence interval.
 *
 * Sums are kept as what they are (counts; sample_sums with their variances), and an amount is made
 * of them when they are shown.  A variance alone could not be shown: the intervals of few samples
 * are skewed, and depend on their number and on what was not sampled (estimates.h).  An exact
 * amount has no variance, so its value is both of its bounds.  Whoever prints amounts does not ask
 * whether the trace was sampled, has a clock, or has what is asked for: the amount knows.
 */
#ifndef CONVERTER_NUMBERS_AMOUNT_H
#define CONVERTER_NUMBERS_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "converter/numbers/estimates.h"
#include "converter/numbers/quantity.h"
#include "format/json/json_output.h"

enum amount_unit {
    AMOUNT_OBJECTS,
    AMOUNT_BYTES,
    AMOUNT_NS,
    AMOUNT_STEPS,
    AMOUNT_PERCENT,
    AMOUNT_FIT
};

enum amount_state {
    AMOUNT_KNOWN,
    AMOUNT_NOT_RECORDED, /* the trace does not have what it counts: text has "-" */
    AMOUNT_NONE          /* there is no such number: text has "-", JSON leaves it out */
};

struct amount {
    struct estimate range; /* of an exact amount: its value, three times */
    uint64_t whole; /* the value; of an estimate, rounded; of a change, its two's complement */
    enum amount_unit unit;
    enum amount_state state;
    bool is_estimate;
    bool is_real;   /* exact, but not whole: a mean or a percentile */
    bool is_change; /* has a sign: the difference of two numbers */
    bool is_flag;   /* 0 or 1: false or true in JSON */
    bool is_unsure; /* a change that may be none: text has "~" in its place */
};

struct amount amount_exact(uint64_t value, enum amount_unit unit);
struct amount amount_real(double value, enum amount_unit unit);
struct amount amount_estimated(struct estimate range, enum amount_unit unit);
struct amount amount_none(enum amount_unit unit);
struct amount amount_change(int64_t change, enum amount_unit unit);
struct amount amount_flag(bool is_set);
struct amount amount_estimated_change(struct estimate change, enum amount_unit unit);
struct amount amount_real_change(double change, enum amount_unit unit);
/* Returns whether an estimated change may be none at all: its interval contains 0. */
static inline bool amount_is_noise(const struct amount *change)
{
    return estimate_contains(change->range, 0);
}
/* Returns `factor` times the amount; `factor` is not negative. */
struct amount amount_times(struct amount amount, double factor);
/* Return the amount of objects, or of their bytes: `exact`, or what samples stand for.  `samples`
 * NULL: the trace has all objects. */
struct amount amount_of_objects(uint64_t exact, const struct sample_sums *samples);
struct amount amount_of_bytes(uint64_t exact, const struct sample_sums *samples);
/* Returns the amount as one that the trace does not have. */
struct amount amount_not_recorded(struct amount amount);
/* Returns the unit of a trace's times. */
static inline enum amount_unit amount_unit_of_times(enum time_unit unit)
{
    return unit == TIME_STEPS ? AMOUNT_STEPS : AMOUNT_NS;
}

/* Returns its name for pages: "objects", "bytes", "time" or "number". */
const char *amount_unit_name(enum amount_unit unit);

/* Returns "-" for what is not there or has no sample, else the value: its digits, or scaled with
 * its unit ("1.50 KiB"). */
struct quantity amount_digits(const struct amount *amount);
struct quantity amount_scaled(const struct amount *amount);
/* Returns another value with the amount's unit, and its sign if it is a change: "+1.00 KiB"; "-" if
 * the amount itself is not there. */
struct quantity amount_scaled_value(const struct amount *amount, double value);
struct amount_range {
    char text[2 * sizeof(struct quantity) + 2];
};
/* Returns the interval, "7..18"; "-" where amount_digits() returns that. */
struct amount_range amount_range_of(const struct amount *amount, bool is_scaled);
/* Print the value and its interval, both as digits or both scaled, and the title of such a column;
 * estimate_range_title() stands for the interval. */
void amount_print_range(const struct amount *amount, bool is_scaled, FILE *out);
void amount_print_range_title(const char *title, const struct sampling *sampling, bool is_scaled,
                              FILE *out);
/* Returns what stands at intervals: "95 %", or "bias", of the same width, if no interval is one of
 * 95 % (struct sampling); and the same in brackets. */
const char *estimate_level(bool is_biased);
const char *estimate_range_title(const struct sampling *sampling);
#define ESTIMATE_TEXT 256u
/* Writes, or prints, "estimated from N samples, one in SIZE on average (95 % intervals)". */
void estimate_source_text(uint64_t samples, const struct sampling *sampling,
                          char text[ESTIMATE_TEXT]);
void estimate_print_source(uint64_t samples, const struct sampling *sampling);
#define AMOUNT_PAIR_TEXT 256u
/* Writes "7 objects, 1.00 KiB", "7 objects (2 to 18), 1.00 KiB (300 B to 2.50 KiB)" or "no
 * sample". */
void amount_pair_text(const struct amount *objects, const struct amount *bytes,
                      char text[AMOUNT_PAIR_TEXT]);
/* Put the member `name`: a number, or an object with the members estimate, low and high (without
 * high where there is no sample); the second puts NAME, NAME_low and NAME_high.  Names have at
 * most 40 characters. */
void amount_put_json(const struct amount *amount, const char *name, struct json_output *json);
void amount_put_members(const struct amount *amount, const char *name, struct json_output *json);
/* Puts [value, low, high] for the page; high is null where there is no sample. */
void amount_put_array(const struct amount *amount, const char *name, struct json_output *json);
/* Prints "value", or "value,low,high" (high is empty where there is no sample); and their titles.
 */
void amount_put_csv(const struct amount *amount, FILE *out);
void amount_put_csv_title(const char *name, bool has_bounds, FILE *out);

#endif
