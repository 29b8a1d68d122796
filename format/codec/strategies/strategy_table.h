/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategies: a row of the list below is the whole registration of one.
 *
 * To add one: a file of its own beside this one, which the folder's CMakeLists.txt names, with
 * `step_transform_NAME` (what it makes of a column, and when that is worth a trial) and
 * `step_strategy_NAME` (what an attribute says of it, and what it makes of a value in rows); its
 * row here; its lines in docs/formats/step.md.  Attributes and their check by stepc, the directory
 * of rows, messages, tests and fuzzers go by the table.
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
 * Of chains that are equally good a column gets that of the first row: the order is that of trials.
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
        STEP_TRANSFORM_STRINGS = 14 /* of bytes (packed_strings.h); it has no row in the table */
};

/* Transforms from this number on, and forms after those of form.h, tell their names in the file,
 * for readers that do not know them: up to 8 letters, the first in the lowest byte, after the other
 * parameters. */
enum { STEP_TRANSFORM_NAMED = 12, STEP_TRANSFORM_NAME = 8 };

enum { STEP_TRANSFORM_PARAMETERS = 4 };

/* The targeted strategy of a policy (policy.h): its number in memory, not in files. */
enum step_targeted {
    STEP_TARGETED_NONE,
    STEP_STRATEGY_LIST(STEP_STRATEGY_TARGETED, STEP_STRATEGY_TARGETED_ALONE, STEP_STRATEGY_NO_ROW)
        STEP_TARGETED_COUNT
};

/* Values of another column, one for each value at hand (but for PUSHES); `step` 0: all are
 * values[0]. */
struct step_series {
    const uint64_t *values;
    size_t step;
    const struct step_series *linked; /* those of `linked`; NULL where nothing asks for them */
};

/* What `linked` goes by. */
enum step_linked_series {
    STEP_LINKED_KEY,
    STEP_LINKED_HOLDER,
    STEP_LINKED_NEWEST,
    STEP_LINKED_SERIES
};

enum step_series_kind {
    STEP_SERIES_NONE,
    STEP_SERIES_FIELD,  /* another field of the same record */
    STEP_SERIES_PUSHES, /* is the record of a type: values[i / 64] has bit i % 64 for value i */
    STEP_SERIES_LATEST, /* what another column had last */
    STEP_SERIES_LINKED  /* step_series.linked */
};

struct step_trial;

/*
 * A reversible map from an array of 64-bit values to one of the same length, which aims at small
 * values; a column applies a chain of them.  All arithmetic is modulo 2^64 and every state starts
 * afresh in each call, so that any input and any valid parameters give a result: a transform cannot
 * fail but for lack of memory.
 */
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
    /* The chains that begin with it and are worth a trial in this round (candidates.h). NULL: none
     * in any. */
    void (*propose)(const struct step_trial *trial);
};

/* The row of that number, or NULL. */
const struct step_transform *step_transform_find(uint64_t id);
/* The rows one by one, NULL after the last. */
const struct step_transform *step_transform_row(size_t i);

struct step_policy;

/* What a strategy makes of the values of a field in rows, one at a time: a number each, which is
 * put down as a varint. */
struct step_row_coder {
    size_t state_size; /* of what it remembers: at first zeroed, from then on the same one */
    /* Before the first value of each block; `bits` and `hashed` as in step_encoder_start().  NULL:
     * there is nothing to do.  False: out of memory, as in the other functions. */
    bool (*start)(void *state, const struct step_policy *policy, unsigned bits, bool hashed);
    /* `key` is what it needs (step_strategy.needs) at this value, for PUSHES 1 or 0. */
    bool (*code)(void *state, uint64_t value, uint64_t key, uint64_t *code);
    bool (*value)(void *state, uint64_t code, uint64_t key, uint64_t *value);
    void (*reset)(void *state); /* frees what the state refers to; NULL: nothing */
};

enum step_parameter { STEP_PARAMETER_NONE, STEP_PARAMETER_COUNT, STEP_PARAMETER_SIGNED };

struct step_strategy {
    const char *name;            /* in attributes and in the directory of rows */
    const char *other_name;      /* in attributes; NULL: none */
    enum step_series_kind needs; /* what it looks at beside the field, which its value names */
    enum step_parameter parameter;
    uint64_t usual_parameter; /* where none is given */
    uint64_t parameter_max;   /* 0: any will do; else it is 1 at least */
    bool wants_long_sample;   /* the first values of a block foretell nothing */
    bool has_table;           /* in rows, of 2^bits entries */
    struct step_row_coder rows;
    /* Where rows.code is NULL, values in rows are measured from an earlier one: the differences
     * that the parameter allows are put down as they are, before others a restart. */
    bool is_silent;  /* only one difference is allowed, which takes no bytes */
    bool keeps_base; /* the earlier value is the last that was put down whole */
};

/* By enum step_targeted; what is called NONE has the name "". */
extern const struct step_strategy *const step_strategies[STEP_TARGETED_COUNT];

/* The number of the strategy of that name, STEP_TARGETED_NONE where there is none. */
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

/* For what deals with no negative numbers: signed values by zigzag. */
static inline uint64_t step_fold(uint64_t value, bool is_unsigned)
{
    return is_unsigned ? value : step_zigzag(value);
}

static inline uint64_t step_unfold(uint64_t value, bool is_unsigned)
{
    return is_unsigned ? value : step_unzigzag(value);
}

#endif
