/* SPDX-License-Identifier: Apache-2.0 */
/* Strings in rows that are given by their numbers, or without what they share. */
#ifndef FORMAT_STEP_ROWS_ROW_STRINGS_H
#define FORMAT_STEP_ROWS_ROW_STRINGS_H

#include "format/codec/strategies/packed_strings.h"

/* What is known of the strings of a column, by reader and writer alike. */
struct step_row_strings {
    struct step_string_numbers numbers;
    size_t last_start; /* of the string that was given before */
    size_t last_length;
};

#endif
