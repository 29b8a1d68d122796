/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing of consecutive strings: a repeated string becomes its number, and a common prefix with
 * the previous stored string is omitted (docs/formats/step.md).
 */
#ifndef FORMAT_CODEC_STRATEGIES_PACKED_STRINGS_H
#define FORMAT_CODEC_STRATEGIES_PACKED_STRINGS_H

#include "format/codec/strategies/strategy_table.h"
#include "format/core/bytes.h"
#include "format/core/hash_index.h"
#include "steptrace/status.h"

/* Flags that select the packing. */
enum {
    STEP_STRINGS_NUMBERED = 1, /* each string is stored once, then referred to by number */
    STEP_STRINGS_SHARED = 2    /* the common prefix with the last stored string is stored as a
                                  length */
};
enum { STEP_STRINGS_MOST = 1 << 22 }; /* strings that can have numbers */

/* Positions of strings in a buffer, by number from 1.  Zero-initialise. */
struct step_string_numbers {
    struct step_string_place {
        size_t start;
        size_t length;
    } * places;
    size_t count;
    size_t capacity;
    struct step_index index; /* of the positions; only in writers */
};
void step_string_numbers_reset(struct step_string_numbers *numbers); /* frees the storage */
void step_string_numbers_clear(struct step_string_numbers *numbers);
/* Sets the number of the string at `start` of `bytes`; 0 means that it is new, and gets the next
 * number if one is left.  Returns false if memory runs out. */
bool step_string_number(struct step_string_numbers *numbers, const uint8_t *bytes, size_t start,
                        size_t length, uint64_t *number);
/* Assigns the next number to a string without a search. */
bool step_string_number_next(struct step_string_numbers *numbers, size_t start, size_t length);

/* Returns the length of the common prefix of two strings. */
size_t step_shared_prefix(const uint8_t *left, size_t left_length, const uint8_t *right,
                          size_t right_length);

/* Replaces the content of `out` by the strings' bytes, packed by the flags. */
enum step_status step_strings_pack(unsigned flags, const uint64_t *lengths, size_t count,
                                   const uint8_t *bytes, struct step_buffer *out);
/* Unpacks to `out`, which has room for `total`, the sum of the lengths.  CORRUPT: the bytes are
 * malformed, or some are left over. */
enum step_status step_strings_unpack(unsigned flags, const struct step_series *lengths,
                                     size_t count, const uint8_t *packed, size_t packed_length,
                                     uint8_t *out, size_t total);

#endif
