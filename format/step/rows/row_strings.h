/* SPDX-License-Identifier: Apache-2.0 */
/* Strings in rows that are stored by number, or without a common prefix. */
#ifndef FORMAT_STEP_ROWS_ROW_STRINGS_H
#define FORMAT_STEP_ROWS_ROW_STRINGS_H

#include "format/codec/strategies/packed_strings.h"

/* State of the strings of a column, for readers and writers. */
struct step_row_strings {
    struct step_string_numbers numbers;
    size_t last_start; /* of the last stored string */
    size_t last_length;
};

#endif
