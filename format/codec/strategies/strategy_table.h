/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms: reversible maps from an array of 64-bit values to one of the same length, which
 * aim at small values.  Each is a row of one table; a column applies a chain of them.  All
 * arithmetic is modulo 2^64 and every state starts afresh in each call, so that any input and any
 * valid parameters give a result: a transform cannot fail but for lack of memory.
 *
 * To add one: a number that was never used, a row in strategy_table.c, a line in
 * docs/formats/step.md. Tests and fuzzers take it from the table.
 */
#ifndef FORMAT_CODEC_STRATEGIES_STRATEGY_TABLE_H
#define FORMAT_CODEC_STRATEGIES_STRATEGY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

enum step_transform_id {
    STEP_TRANSFORM_DELTA = 1,
    STEP_TRANSFORM_ZIGZAG = 2,
    STEP_TRANSFORM_OFFSET = 3,
    STEP_TRANSFORM_FRONT = 4,
    STEP_TRANSFORM_GIVEN = 5,
    STEP_TRANSFORM_CONTEXT = 6,
    STEP_TRANSFORM_DFCM = 7,
    STEP_TRANSFORM_RECENT = 8,
    STEP_TRANSFORM_KEYED = 9,
    STEP_TRANSFORM_STACK = 10,
    STEP_TRANSFORM_AGE = 11,
    STEP_TRANSFORM_LIVE = 12,
    STEP_TRANSFORM_SCALE = 13,
    STEP_TRANSFORM_STRINGS = 14 /* of bytes (packed_strings.h); it has no row in the table */
};

/* Transforms from this number on, and forms after those of form.h, tell their names in the file,
 * for readers that do not know them: up to 8 letters, the first in the lowest byte, after the other
 * parameters. */
enum { STEP_TRANSFORM_NAMED = 12, STEP_TRANSFORM_NAME = 8 };

enum { STEP_TRANSFORM_PARAMETERS = 4 };

/* Values of another column, one for each value at hand (but for PUSHES); `step` 0: all are
 * values[0]. */
struct step_series {
    const uint64_t *values;
    size_t step;
};

enum step_series_kind {
    STEP_SERIES_NONE,
    STEP_SERIES_FIELD,  /* another field of the same record */
    STEP_SERIES_PUSHES, /* is the record of a type: values[i / 64] has bit i % 64 for value i */
    STEP_SERIES_LATEST  /* what another column had last */
};

struct step_transform {
    uint32_t id;
    const char *name;
    uint32_t parameter_count;
    enum step_series_kind series; /* what it needs, by its parameter 0 (docs/formats/step.md) */
    bool (*valid)(const uint64_t *parameters); /* NULL: any are */
    /* `out` may be `in`. */
    enum step_status (*forward)(const uint64_t *parameters, const struct step_series *series,
                                const uint64_t *in, uint64_t *out, size_t count);
    enum step_status (*inverse)(const uint64_t *parameters, const struct step_series *series,
                                uint64_t *values, size_t count);
};

/* The row of that number, or NULL. */
const struct step_transform *step_transform_find(uint64_t id);
/* The rows one by one, NULL after the last. */
const struct step_transform *step_transform_row(size_t i);

extern const struct step_transform step_transform_delta;
extern const struct step_transform step_transform_zigzag;
extern const struct step_transform step_transform_offset;
extern const struct step_transform step_transform_front;
extern const struct step_transform step_transform_given;
extern const struct step_transform step_transform_context;
extern const struct step_transform step_transform_dfcm;
extern const struct step_transform step_transform_recent;
extern const struct step_transform step_transform_keyed;
extern const struct step_transform step_transform_stack;
extern const struct step_transform step_transform_age;
extern const struct step_transform step_transform_live;
extern const struct step_transform step_transform_scale;

static inline uint64_t step_zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

#endif
