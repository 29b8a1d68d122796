/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings one after the other: each that occurs again as its number, each that begins like the one
 * before without that beginning (docs/formats/step.md).
 */
#ifndef FORMAT_CODEC_STRATEGIES_PACKED_STRINGS_H
#define FORMAT_CODEC_STRATEGIES_PACKED_STRINGS_H

#include "format/codec/strategies/strategy_table.h"
#include "format/core/bytes.h"
#include "format/core/hash_index.h"
#include "steptrace/status.h"

/* Flags: what is done to strings. */
enum {
    STEP_STRINGS_NUMBERED = 1, /* each is given once, then by its number */
    STEP_STRINGS_SHARED = 2    /* what it shares with the one given before is a length */
};
enum { STEP_STRINGS_MOST = 1 << 22 }; /* that can have numbers */

/* Where strings are in bytes, by number from 1.  Zero-initialised is empty. */
struct step_string_numbers {
    struct step_string_place {
        size_t start;
        size_t length;
    } * places;
    size_t count;
    size_t capacity;
    struct step_index index; /* of the places; the writer's alone */
};
void step_string_numbers_reset(struct step_string_numbers *numbers); /* frees the storage */
void step_string_numbers_clear(struct step_string_numbers *numbers);
/* The number of the string at `start` of `bytes`, or 0: then it is given the next one, if there is
 * one left.  False when memory runs out. */
bool step_string_number(struct step_string_numbers *numbers, const uint8_t *bytes, size_t start,
                        size_t length, uint64_t *number);
/* Gives a string the next number, without looking. */
bool step_string_number_next(struct step_string_numbers *numbers, size_t start, size_t length);

/* How many bytes two strings have in common at their beginnings. */
size_t step_shared_prefix(const uint8_t *left, size_t left_length, const uint8_t *right,
                          size_t right_length);

/* The strings' bytes with the flags applied, in place of what `out` has. */
enum step_status step_strings_pack(unsigned flags, const uint64_t *lengths, size_t count,
                                   const uint8_t *bytes, struct step_buffer *out);
/* Back again: `out` has room for the sum of the lengths, which is `total`.  CORRUPT where the bytes
 * are none, or some are left. */
enum step_status step_strings_unpack(unsigned flags, const struct step_series *lengths,
                                     size_t count, const uint8_t *packed, size_t packed_length,
                                     uint8_t *out, size_t total);

#endif
