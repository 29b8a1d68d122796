/* SPDX-License-Identifier: Apache-2.0 */
/* Where estimates are from, and what stands at their intervals.  Amounts print them (amount.h). */
#ifndef CONVERTER_NUMBERS_ESTIMATE_TEXT_H
#define CONVERTER_NUMBERS_ESTIMATE_TEXT_H

#include <stdint.h>

#include "converter/numbers/estimates.h"

/* Rounds a value that is not negative to a number that JSON and columns hold exactly. */
uint64_t estimate_whole(double value);
#define ESTIMATE_TEXT 256u
/* Returns what stands at ranges: "95 %", or "bias", of the same width, if no interval is one of 95
 * % (struct sampling); and the same in brackets. */
const char *estimate_level(bool is_biased);
const char *estimate_range_title(const struct sampling *sampling);
/* Writes "estimated from N samples, one in SIZE on average (95 % intervals)". */
void estimate_source_text(uint64_t samples, const struct sampling *sampling,
                          char text[ESTIMATE_TEXT]);
/* Prints the same. */
void estimate_print_source(uint64_t samples, const struct sampling *sampling);

#endif
