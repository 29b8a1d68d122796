/* SPDX-License-Identifier: Apache-2.0 */
/* Prints estimates with their intervals, as columns, JSON and CSV.  Values are rounded to whole
 * numbers, which JSON numbers and columns hold exactly. */
#ifndef CONVERTER_BASE_ESTIMATE_TEXT_H
#define CONVERTER_BASE_ESTIMATE_TEXT_H

#include <stdint.h>

#include "converter/base/estimates.h"
#include "format/json/json_output.h"

/* Rounds a value that is not negative. */
uint64_t estimate_whole(double value);
#define ESTIMATE_TEXT 256u
/* Returns what stands at ranges: "95 %", or "bias", of the same width, if no interval is one of 95
 * % (struct sampling); and the same in brackets. */
const char *estimate_level(bool is_biased);
const char *estimate_range_title(const struct sampling *sampling);
/* Write "estimated from N samples, one in SIZE on average (95 % intervals)", and "7 objects (2 to
 * 18), 1.00 KiB (300 B to 2.50 KiB)" or "no sample". */
void estimate_source_text(uint64_t samples, const struct sampling *sampling,
                          char text[ESTIMATE_TEXT]);
void estimate_amount_text(const struct sample_sums *sums, char text[ESTIMATE_TEXT]);
/* Writes the second text for two estimates. */
void estimate_pair_text(struct estimate objects, struct estimate bytes, char text[ESTIMATE_TEXT]);
/* Print the same. */
void estimate_print_source(uint64_t samples, const struct sampling *sampling);
void estimate_print_amount(const struct sample_sums *sums);
/* Print columns of ESTIMATE_WIDTH characters: the value and its interval. */
#define ESTIMATE_WIDTH 39
#define ESTIMATE_TITLES " %12s %-25s"
void estimate_print(struct estimate estimate);
void estimate_print_change(struct estimate change);
/* Puts the object `name` with the members estimate, low and high. */
void estimate_put_json(struct json_output *json, const char *name, struct estimate estimate);
/* Put the members NAME, NAME_low and NAME_high; no NAME_high without a sample.  Names have at most
 * 40 characters. */
void estimate_put_members(struct json_output *json, const char *name, struct estimate estimate);
void estimate_put_change(struct json_output *json, const char *name, struct estimate change);
/* Prints "value,low,high"; high is empty without a sample. */
void estimate_put_csv(struct estimate estimate);
void estimate_put_change_csv(struct estimate change);

#endif
