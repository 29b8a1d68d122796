/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategies: one row in the list below registers one.
 *
 * To add one: a separate source file beside this one, named in the folder's CMakeLists.txt, with
 * `step_transform_NAME` (its transform of a column, and when to try it) and `step_strategy_NAME`
 * (its attribute, and its code in rows), which coder.h makes of one pair of functions; its row
 * here; its lines in docs/formats/step.md. Attributes and their check by stepc, the directory of
 * rows, messages, tests and fuzzers use the table.
 */
#ifndef FORMAT_CODEC_STRATEGIES_STRATEGY_TABLE_H
#define FORMAT_CODEC_STRATEGIES_STRATEGY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

/*
 *   STRATEGY   is a transform of columns, with a number in files that was never used before, and
 *              an attribute can name it
 *   TARGETED   an attribute can name it; columns have a transform of another row for it
 *   TRANSFORM  of columns alone
 *
 * The order of rows is the order of trials: of equally good chains the first one wins.  So a row
 * that moves may change files, though every reader reads them; numbers in files are given once and
 * stay.
 */
#define STEP_STRATEGY_LIST(STRATEGY, TARGETED, TRANSFORM)                                          \
    STRATEGY(1, DELTA, delta)                                                                      \
    TARGETED(STRIDE, stride)                                                                       \
    TARGETED(WINDOW, window)                                                                       \
    TARGETED(SEQUENCE, sequence)                                                                   \
    STRATEGY(5, GIVEN, given)                                                                      \
    STRATEGY(10, STACK, stack)                                                                     \
    STRATEGY(11, AGE, age)                                                                         \
    STRATEGY(12, LIVE, live)                                                                       \
    TRANSFORM(4, FRONT, front)                                                                     \
    STRATEGY(3, OFFSET, offset)                                                                    \
    STRATEGY(6, CONTEXT, context)                                                                  \
    TRANSFORM(9, KEYED, keyed)                                                                     \
    STRATEGY(7, DFCM, dfcm)                                                                        \
    STRATEGY(8, RECENT, recent)                                                                    \
    TRANSFORM(2, ZIGZAG, zigzag)                                                                   \
    TRANSFORM(13, SCALE, scale)                                                                    \
    TRANSFORM(15, LINKED, linked)                                                                  \
    TRANSFORM(16, LISTED, listed)

#define STEP_STRATEGY_NO_ROW(...)
#define STEP_STRATEGY_ID(number, NAME, name) STEP_TRANSFORM_##NAME = (number),
#define STEP_STRATEGY_TARGETED(number, NAME, name) STEP_##NAME,
#define STEP_STRATEGY_TARGETED_ALONE(NAME, name) STEP_##NAME,

enum step_transform_id {
    STEP_STRATEGY_LIST(STEP_STRATEGY_ID, STEP_STRATEGY_NO_ROW, STEP_STRATEGY_ID)
        STEP_TRANSFORM_STRINGS = 14 /* of byte strings (packed_strings.h); it has no row in the
                                       table */
};

/* Transforms from this number on, and forms after those of form.h, store their names in the file,
 * for readers that do not know them: up to 8 letters, the first in the lowest byte, after the other
 * parameters. */
enum { STEP_TRANSFORM_NAMED = 12, STEP_TRANSFORM_NAME = 8 };

enum { STEP_TRANSFORM_PARAMETERS = 4 };

/* Number of a policy's targeted strategy (policy.h), in memory only. */
enum step_targeted {
    STEP_TARGETED_NONE,
    STEP_STRATEGY_LIST(STEP_STRATEGY_TARGETED, STEP_STRATEGY_TARGETED_ALONE, STEP_STRATEGY_NO_ROW)
        STEP_TARGETED_COUNT
};

/* Values of another column, one for each current value (except for PUSHES); `step` 0: all are
 * values[0]. */
struct step_series {
    const uint64_t *values;
    size_t step;
    const struct step_series *linked; /* those of `linked`; NULL if unused */
};

/* The series that `linked` uses. */
enum step_linked_series {
    STEP_LINKED_KEY,
    STEP_LINKED_HOLDER,
    STEP_LINKED_NEWEST,
    STEP_LINKED_SERIES
};

enum step_series_kind {
    STEP_SERIES_NONE,
    STEP_SERIES_FIELD,  /* another field of the same record */
    STEP_SERIES_PUSHES, /* whether the record has a type: bit i % 64 of values[i / 64] for value
                           i */
    STEP_SERIES_LATEST, /* the last value of another column */
    STEP_SERIES_LINKED  /* step_series.linked */
};

struct step_trial;

/* A reversible map from an array of 64-bit values to one of the same length with smaller values; a
 * column applies a chain of them.  All arithmetic is modulo 2^64, and each call starts with a fresh
 * state, so any input and any valid parameters give a result: a transform can only fail for lack of
 * memory.  That keeps decoding of hostile files simple: no sequence of codes is invalid, and a
 * block needs no block before it. */
struct step_transform {
    uint32_t id;
    const char *name;
    uint32_t parameter_count;
    enum step_series_kind series; /* the series for its parameter 0 (docs/formats/step.md) */
    bool (*valid)(const uint64_t *parameters); /* NULL: any are valid */
    /* `out` may be `in`. */
    enum step_status (*forward)(const uint64_t *parameters, const struct step_series *series,
                                const uint64_t *in, uint64_t *out, size_t count);
    enum step_status (*inverse)(const uint64_t *parameters, const struct step_series *series,
                                uint64_t *values, size_t count);
    /* Proposes the chains that begin with it in this round (candidates.h).  NULL: none. */
    void (*propose)(const struct step_trial *trial);
};

/* Returns the row of that number, or NULL. */
const struct step_transform *step_transform_find(uint64_t id);
/* Returns row `i`, or NULL after the last. */
const struct step_transform *step_transform_row(size_t i);

struct step_policy;

/* A strategy in rows: it codes the values of a field one at a time, each as a number that is stored
 * as a varint. */
struct step_row_coder {
    size_t state_size; /* of its state: zeroed at first, then kept */
    /* Called before the first value of each block; `bits` and `hashed` as in step_encoder_start().
     * Returns false if out of memory, like the other functions. */
    bool (*start)(void *state, const struct step_policy *policy, unsigned bits, bool hashed);
    /* `key` is what the strategy needs (step_strategy.needs) at this value; for PUSHES 1 or 0. */
    bool (*code)(void *state, uint64_t value, uint64_t key, uint64_t *code);
    bool (*value)(void *state, uint64_t code, uint64_t key, uint64_t *value);
    void (*reset)(void *state); /* frees memory of the state */
    /* Codes are signed and stored zigzag-coded; else the values of signed fields are zigzag-coded
     * before they are coded. */
    bool gives_differences;
};

enum step_parameter { STEP_PARAMETER_NONE, STEP_PARAMETER_COUNT, STEP_PARAMETER_SIGNED };

struct step_strategy {
    const char *name;            /* in attributes and in the directory of rows */
    const char *other_name;      /* in attributes; NULL: none */
    enum step_series_kind needs; /* the series that it needs; its parameter names the column or
                                    record */
    enum step_parameter parameter;
    uint64_t usual_parameter; /* default */
    uint64_t parameter_max;   /* the minimum is then 1; 0: any is valid */
    bool wants_long_sample;   /* the first values of a block predict nothing */
    bool has_table;           /* in rows, of 2^bits entries */
    const struct step_row_coder *rows;
    /* If `rows` is NULL, values in rows are coded relative to an earlier one: differences that
     * the parameter allows are stored, others need a restart. */
    bool is_silent;  /* only one difference is allowed, which takes no bytes */
    bool keeps_base; /* the earlier value is the last one that was stored in full */
};

/* Indexed by enum step_targeted; the name of NONE is "". */
extern const struct step_strategy *const step_strategies[STEP_TARGETED_COUNT];

/* Returns the number of the strategy of that name, or STEP_TARGETED_NONE. */
enum step_targeted step_strategy_find(const char *name, size_t length);

#define STEP_STRATEGY_TRANSFORM_OF(number, NAME, name)                                             \
    extern const struct step_transform step_transform_##name;
#define STEP_STRATEGY_OF(NAME, name) extern const struct step_strategy step_strategy_##name;
#define STEP_STRATEGY_BOTH_OF(number, NAME, name)                                                  \
    STEP_STRATEGY_TRANSFORM_OF(number, NAME, name) STEP_STRATEGY_OF(NAME, name)
STEP_STRATEGY_LIST(STEP_STRATEGY_BOTH_OF, STEP_STRATEGY_OF, STEP_STRATEGY_TRANSFORM_OF)

static inline uint64_t step_zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

static inline uint64_t step_unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* Returns a signed value zigzag-coded, for code without negative numbers. */
static inline uint64_t step_fold(uint64_t value, bool is_unsigned)
{
    return is_unsigned ? value : step_zigzag(value);
}

static inline uint64_t step_unfold(uint64_t value, bool is_unsigned)
{
    return is_unsigned ? value : step_unzigzag(value);
}

#endif
