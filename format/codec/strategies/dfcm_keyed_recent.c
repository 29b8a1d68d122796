/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that predict a value from earlier ones: `dfcm` predicts differences, `keyed` also uses
 * the value of another column, `recent` keeps the last distinct values.
 *
 * A table entry is overwritten by each value that comes to it: the last value after the same
 * context is the best guess while a program is in a loop, and when it leaves the loop one wrong
 * guess corrects the entry.
 */
#include "format/codec/strategies/coder.h"

/* Parameters of `dfcm`: the number of preceding differences in the context, 1 to 4; the table's
 * bits. */
static bool dfcm_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= STEP_CONTEXT_MAX && parameters[1] >= 1 &&
           parameters[1] <= STEP_TABLE_BITS_MAX;
}

/* `dfcm` finds patterns of steps, whatever the values that they start from: a context of values
 * would have to be learnt anew for each array that is passed in steps of 16. Its codes are
 * differences of differences, so a near miss is small as well. */
struct dfcm {
    struct step_table table;
    struct step_context context;
    uint64_t last;
    bool failed;
};

static inline bool dfcm_begin(struct dfcm *dfcm, uint64_t order, unsigned bits, bool hashed)
{
    (void) hashed;
    dfcm->last = 0;
    dfcm->context = (struct step_context){{0}, (size_t) order, 64 - bits};
    return step_table_start(&dfcm->table, bits);
}

static inline uint64_t dfcm_code(struct dfcm *dfcm, uint64_t value, uint64_t key)
{
    (void) key;
    uint64_t *guess = &dfcm->table.entries[step_context_entry(&dfcm->context)];
    uint64_t difference = value - dfcm->last;
    uint64_t code = difference - *guess;
    dfcm->last = value;
    step_context_push(&dfcm->context, *guess = difference);
    return code;
}

static inline uint64_t dfcm_value(struct dfcm *dfcm, uint64_t code, uint64_t key)
{
    (void) key;
    uint64_t *guess = &dfcm->table.entries[step_context_entry(&dfcm->context)];
    uint64_t difference = code + *guess;
    step_context_push(&dfcm->context, *guess = difference);
    return dfcm->last += difference;
}

static inline void dfcm_end(struct dfcm *dfcm)
{
    step_table_reset(&dfcm->table);
}

STEP_COLUMN_CODER(dfcm, dfcm, false, parameters[0], parameters[1], false)

static void dfcm_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    if (trial->round == STEP_ROUND_TABLES && !trial->thorough && step_hints_name(hints, STEP_DFCM))
        step_trial_add(trial, &step_transform_dfcm, hints->parameters[STEP_DFCM], trial->bits, 0);
    if (trial->round == STEP_ROUND_ORDERS && trial->order < STEP_CONTEXT_MAX && !hints->identifier)
        step_trial_add(trial, &step_transform_dfcm, trial->order, trial->bits, 0);
}

const struct step_transform step_transform_dfcm = {
    .id = STEP_TRANSFORM_DFCM,
    .name = "dfcm",
    .parameter_count = 2,
    .valid = dfcm_valid,
    .forward = dfcm_forward,
    .inverse = dfcm_inverse,
    .propose = dfcm_propose,
};

/* Strategy `dfcm`: like `context`, on differences. */
STEP_ROW_CODER(dfcm, dfcm, true);
const struct step_strategy step_strategy_dfcm = {
    .name = "dfcm",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = 2,
    .parameter_max = STEP_CONTEXT_MAX,
    .has_table = true,
    .rows = &dfcm_rows,
};

/* Parameter of `recent`: the number of values kept, 1 to 16. */
static bool recent_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= STEP_RECENT_MAX;
}

struct recent {
    struct step_recent recent;
    bool failed;
};

static inline bool recent_begin(struct recent *state, uint64_t size, unsigned bits, bool hashed)
{
    (void) bits, (void) hashed;
    *state = (struct recent){.recent.size = (size_t) size};
    return true;
}

static inline uint64_t recent_code(struct recent *state, uint64_t value, uint64_t key)
{
    (void) key;
    return step_recent_code(&state->recent, value);
}

static inline uint64_t recent_value(struct recent *state, uint64_t code, uint64_t key)
{
    (void) key;
    return step_recent_value(&state->recent, code);
}

static inline void recent_end(struct recent *state)
{
    (void) state;
}

STEP_COLUMN_CODER(recent, recent, false, parameters[0], 0, false)

static void recent_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    if (trial->round == STEP_ROUND_TABLES && step_hints_name(hints, STEP_RECENT))
        step_trial_add(trial, &step_transform_recent, hints->parameters[STEP_RECENT], 0, 0);
    if (trial->round == STEP_ROUND_HOPES) {
        step_trial_add(trial, &step_transform_recent, 4, 0, 0);
        step_trial_add(trial, &step_transform_recent, STEP_RECENT_MAX, 0, 0);
    }
}

const struct step_transform step_transform_recent = {
    .id = STEP_TRANSFORM_RECENT,
    .name = "recent",
    .parameter_count = 1,
    .valid = recent_valid,
    .forward = recent_forward,
    .inverse = recent_inverse,
    .propose = recent_propose,
};

/* Strategy `recent`: one of the last values; the parameter is their number. */
STEP_ROW_CODER(recent, recent, false);
const struct step_strategy step_strategy_recent = {
    .name = "recent",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = 4,
    .parameter_max = STEP_RECENT_MAX,
    .rows = &recent_rows,
};

/*
 * Parameters of `keyed`: the column; the number of preceding values in the context, 1 to 4; the
 * bits of each of its tables.  The prediction is the value that last followed the same key and
 * context; if that is new, the one for the key and one preceding value; else the one for the key.
 *
 * Longer contexts predict better but are met for the first time more often.  Entries hold values
 * plus 1, so that an empty one (0) is recognised, and the next shorter context is asked.  (A value
 * of 2^64 - 1 looks empty, on both sides alike.) All three learn from each value.
 */
enum { LEVELS = 3 };

struct keyed {
    uint64_t *tables[LEVELS]; /* values plus 1; 0: empty */
    size_t entries[LEVELS];   /* for the current value */
    uint64_t last[STEP_CONTEXT_MAX];
    size_t order;
    unsigned shift;
    bool failed;
};

static bool keyed_valid(const uint64_t *parameters)
{
    return parameters[1] >= 1 && parameters[1] <= STEP_CONTEXT_MAX && parameters[2] >= 1 &&
           parameters[2] <= STEP_TABLE_BITS_MAX;
}

static inline bool keyed_begin(struct keyed *keyed, uint64_t order, unsigned bits, bool hashed)
{
    (void) hashed;
    uint64_t *tables = calloc((size_t) LEVELS << bits, sizeof *tables);
    *keyed = (struct keyed){.order = (size_t) order, .shift = 64 - bits};
    for (size_t i = 0; tables != NULL && i < LEVELS; i++)
        keyed->tables[i] = tables + (i << bits);
    return tables != NULL;
}

static inline void keyed_end(struct keyed *keyed)
{
    free(keyed->tables[0]);
}

static inline uint64_t keyed_guess(struct keyed *keyed, uint64_t key)
{
    uint64_t hash = key + 1;
    keyed->entries[0] = step_top_bits(hash ^ hash >> 29, keyed->shift);
    for (size_t i = 0; i < keyed->order; i++) {
        hash = step_hash(hash ^ hash >> 32) + keyed->last[i];
        if (i == 0)
            keyed->entries[1] = step_top_bits(hash ^ hash >> 29, keyed->shift);
    }
    keyed->entries[2] = step_top_bits(hash ^ hash >> 29, keyed->shift);
    for (size_t i = LEVELS; i-- > 0;)
        if (keyed->tables[i][keyed->entries[i]] != 0)
            return keyed->tables[i][keyed->entries[i]] - 1;
    return 0;
}

static inline void keyed_learn(struct keyed *keyed, uint64_t value)
{
    for (size_t i = 0; i < LEVELS; i++)
        keyed->tables[i][keyed->entries[i]] = value + 1;
    for (size_t i = keyed->order - 1; i > 0; i--)
        keyed->last[i] = keyed->last[i - 1];
    keyed->last[0] = value;
}

static inline uint64_t keyed_code(struct keyed *keyed, uint64_t value, uint64_t key)
{
    uint64_t code = step_front_code(value, keyed_guess(keyed, key));
    keyed_learn(keyed, value);
    return code;
}

static inline uint64_t keyed_value(struct keyed *keyed, uint64_t code, uint64_t key)
{
    uint64_t value = step_front_value(code, keyed_guess(keyed, key));
    keyed_learn(keyed, value);
    return value;
}

STEP_COLUMN_CODER(keyed, keyed, true, parameters[1], parameters[2], false)

static void keyed_propose(const struct step_trial *trial)
{
    const struct step_coding_hints *hints = trial->hints;
    bool context = step_hints_name(hints, STEP_CONTEXT);
    if (!step_hints_name(hints, STEP_GIVEN))
        return;
    if (trial->round == STEP_ROUND_KEYED && (trial->thorough || context))
        step_trial_add(trial, &step_transform_keyed, trial->reference,
                       context ? hints->parameters[STEP_CONTEXT] : 1, trial->bits);
    if (trial->round == STEP_ROUND_ORDERS)
        step_trial_add(trial, &step_transform_keyed, trial->reference, trial->order, trial->bits);
}

const struct step_transform step_transform_keyed = {
    .id = STEP_TRANSFORM_KEYED,
    .name = "keyed",
    .parameter_count = 3,
    .series = STEP_SERIES_FIELD,
    .valid = keyed_valid,
    .forward = keyed_forward,
    .inverse = keyed_inverse,
    .propose = keyed_propose,
};
