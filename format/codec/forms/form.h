/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: encodings of an array of 64-bit values as bytes, the last step before compression.  Each
 * is a row of one table.  A decoder accepts untrusted bytes: it returns false unless they encode
 * exactly `count` values.
 *
 * To add one: a new number that was never used, a row in form.c, a line in docs/formats/step.md.
 * Tests and fuzzers use the table.
 */
#ifndef FORMAT_CODEC_FORMS_FORM_H
#define FORMAT_CODEC_FORMS_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returned by encode() if memory runs out. */
#define STEP_FORM_NO_MEMORY SIZE_MAX

enum step_form_id {
    STEP_FORM_CONSTANT = 1, /* parameter: the value; no bytes */
    STEP_FORM_FIXED = 2,    /* parameter: bytes per value, 1..8, little-endian, value after value */
    STEP_FORM_PLANES = 3,   /* as FIXED, but all lowest bytes first, then all second ones, ... */
    STEP_FORM_VARINT = 4,
    STEP_FORM_PACKED = 5, /* parameter: bits per value, 1, 2, 4 or 8; larger ones overflow */
    STEP_FORM_RUNS = 6,   /* runs of zeros, and the values between them */
    STEP_FORM_TOKENS =
        7, /* parameter: high bits kept; a byte for these and the size, and the rest */
    STEP_FORM_RANKED = 8 /* a table of the most frequent values, and one byte per value */
};

struct step_form {
    uint32_t id;
    const char *name;
    uint32_t parameter_count;          /* 0 or 1 */
    bool (*valid)(uint64_t parameter); /* NULL: any is valid */
    /* Returns true if the form can encode the values, whose bits are all in `mask`.  NULL: it can
     * encode any. */
    bool (*fits)(uint64_t parameter, uint64_t mask);
    /* Returns the maximum size of `count` values, in bytes. */
    uint64_t (*bound)(uint64_t parameter, uint64_t count);
    /* Encodes to `out`, which has room for bound() bytes.  Returns the number of bytes, or
     * STEP_FORM_NO_MEMORY. */
    size_t (*encode)(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out);
    bool (*decode)(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                   size_t count);
};

const struct step_form *step_form_find(uint64_t id);
/* Returns row `i` of the table, or NULL after the last. */
const struct step_form *step_form_row(size_t i);

extern const struct step_form step_form_constant;
extern const struct step_form step_form_fixed;
extern const struct step_form step_form_planes;
extern const struct step_form step_form_varint;
extern const struct step_form step_form_packed;
extern const struct step_form step_form_runs;
extern const struct step_form step_form_tokens;
extern const struct step_form step_form_ranked;

#endif
