/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms that predict a value from earlier ones: `dfcm` predicts differences, `keyed` also uses
 * the value of another column, `recent` keeps the last distinct values.
 */
#include <stdlib.h>

#include "format/codec/strategies/candidates.h"
#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/predictor.h"
#include "format/core/hash.h"

/* Parameters of `dfcm`: the number of preceding differences in the context, 1 to 4; the table's
 * bits. */
static bool dfcm_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= STEP_CONTEXT_MAX && parameters[1] >= 1 &&
           parameters[1] <= STEP_TABLE_BITS_MAX;
}

static enum step_status dfcm_forward(const uint64_t *parameters, const struct step_series *series,
                                     const uint64_t *in, uint64_t *out, size_t count)
{
    (void) series;
    uint64_t *table = calloc((size_t) 1 << parameters[1], sizeof *table);
    if (table == NULL)
        return STEP_STATUS_NO_MEMORY;
    struct step_context context = {{0}, (size_t) parameters[0], 64 - (unsigned) parameters[1]};
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t *guess = &table[step_context_entry(&context)];
        uint64_t difference = in[i] - last;
        last = in[i];
        out[i] = difference - *guess;
        step_context_push(&context, *guess = difference);
    }
    free(table);
    return STEP_STATUS_OK;
}

static enum step_status dfcm_inverse(const uint64_t *parameters, const struct step_series *series,
                                     uint64_t *values, size_t count)
{
    (void) series;
    uint64_t *table = calloc((size_t) 1 << parameters[1], sizeof *table);
    if (table == NULL)
        return STEP_STATUS_NO_MEMORY;
    struct step_context context = {{0}, (size_t) parameters[0], 64 - (unsigned) parameters[1]};
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t *guess = &table[step_context_entry(&context)];
        uint64_t difference = values[i] + *guess;
        values[i] = last += difference;
        step_context_push(&context, *guess = difference);
    }
    free(table);
    return STEP_STATUS_OK;
}

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

struct dfcm_row {
    struct step_table table;
    struct step_context context;
    uint64_t last;
};

static bool dfcm_start(void *state, const struct step_policy *policy, unsigned bits, bool hashed)
{
    struct dfcm_row *row = state;
    (void) hashed;
    row->last = 0;
    row->context = (struct step_context){{0}, (size_t) policy->parameter, 64 - bits};
    return step_table_start(&row->table, bits);
}

static bool dfcm_code(void *state, uint64_t value, uint64_t key, uint64_t *code)
{
    struct dfcm_row *row = state;
    uint64_t *entry = &row->table.entries[step_context_entry(&row->context)];
    uint64_t difference = value - row->last;
    (void) key;
    *code = step_zigzag(difference - *entry);
    step_context_push(&row->context, *entry = difference);
    row->last = value;
    return true;
}

static bool dfcm_value(void *state, uint64_t code, uint64_t key, uint64_t *value)
{
    struct dfcm_row *row = state;
    uint64_t *entry = &row->table.entries[step_context_entry(&row->context)];
    uint64_t difference = *entry + step_unzigzag(code);
    (void) key;
    step_context_push(&row->context, *entry = difference);
    *value = row->last += difference;
    return true;
}

static void dfcm_reset(void *state)
{
    struct dfcm_row *row = state;
    step_table_reset(&row->table);
}

/* Strategy `dfcm`: like `context`, on differences. */
const struct step_strategy step_strategy_dfcm = {
    .name = "dfcm",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = 2,
    .parameter_max = STEP_CONTEXT_MAX,
    .has_table = true,
    .rows = {.state_size = sizeof(struct dfcm_row),
             .start = dfcm_start,
             .code = dfcm_code,
             .value = dfcm_value,
             .reset = dfcm_reset},
};

/* Parameter of `recent`: the number of values kept, 1 to 16. */
static bool recent_valid(const uint64_t *parameters)
{
    return parameters[0] >= 1 && parameters[0] <= STEP_RECENT_MAX;
}

static enum step_status recent_forward(const uint64_t *parameters, const struct step_series *series,
                                       const uint64_t *in, uint64_t *out, size_t count)
{
    (void) series;
    struct step_recent recent = {.size = (size_t) parameters[0]};
    for (size_t i = 0; i < count; i++)
        out[i] = step_recent_code(&recent, in[i]);
    return STEP_STATUS_OK;
}

static enum step_status recent_inverse(const uint64_t *parameters, const struct step_series *series,
                                       uint64_t *values, size_t count)
{
    (void) series;
    struct step_recent recent = {.size = (size_t) parameters[0]};
    for (size_t i = 0; i < count; i++)
        values[i] = step_recent_value(&recent, values[i]);
    return STEP_STATUS_OK;
}

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

struct recent_row {
    struct step_recent recent;
    bool is_unsigned;
};

static bool recent_start(void *state, const struct step_policy *policy, unsigned bits, bool hashed)
{
    (void) bits, (void) hashed;
    *(struct recent_row *) state = (struct recent_row){.recent.size = (size_t) policy->parameter,
                                                       .is_unsigned = policy->is_unsigned};
    return true;
}

static bool recent_code(void *state, uint64_t value, uint64_t key, uint64_t *code)
{
    struct recent_row *row = state;
    (void) key;
    *code = step_recent_code(&row->recent, step_fold(value, row->is_unsigned));
    return true;
}

static bool recent_value(void *state, uint64_t code, uint64_t key, uint64_t *value)
{
    struct recent_row *row = state;
    (void) key;
    *value = step_unfold(step_recent_value(&row->recent, code), row->is_unsigned);
    return true;
}

/* Strategy `recent`: one of the last values; the parameter is their number. */
const struct step_strategy step_strategy_recent = {
    .name = "recent",
    .parameter = STEP_PARAMETER_COUNT,
    .usual_parameter = 4,
    .parameter_max = STEP_RECENT_MAX,
    .rows = {.state_size = sizeof(struct recent_row),
             .start = recent_start,
             .code = recent_code,
             .value = recent_value},
};

/*
 * Parameters of `keyed`: the column; the number of preceding values in the context, 1 to 4; the
 * bits of each of its tables.  The prediction is the value that last followed the same key and
 * context; if that is new, the one for the key and one preceding value; else the one for the key.
 */
enum { LEVELS = 3 };

struct keyed {
    uint64_t *tables[LEVELS]; /* values plus 1; 0: empty */
    size_t entries[LEVELS];   /* for the current value */
    uint64_t last[STEP_CONTEXT_MAX];
    size_t order;
    unsigned shift;
};

static bool keyed_valid(const uint64_t *parameters)
{
    return parameters[1] >= 1 && parameters[1] <= STEP_CONTEXT_MAX && parameters[2] >= 1 &&
           parameters[2] <= STEP_TABLE_BITS_MAX;
}

static bool keyed_start(struct keyed *keyed, const uint64_t *parameters)
{
    size_t size = (size_t) 1 << parameters[2];
    uint64_t *tables = calloc(LEVELS * size, sizeof *tables);
    *keyed =
        (struct keyed){.order = (size_t) parameters[1], .shift = 64 - (unsigned) parameters[2]};
    for (size_t i = 0; tables != NULL && i < LEVELS; i++)
        keyed->tables[i] = tables + i * size;
    return tables != NULL;
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

static enum step_status keyed_forward(const uint64_t *parameters, const struct step_series *series,
                                      const uint64_t *in, uint64_t *out, size_t count)
{
    struct keyed keyed;
    if (!keyed_start(&keyed, parameters))
        return STEP_STATUS_NO_MEMORY;
    const uint64_t *key = series->values;
    for (size_t i = 0; i < count; i++, key += series->step) {
        uint64_t value = in[i];
        out[i] = step_front_code(value, keyed_guess(&keyed, *key));
        keyed_learn(&keyed, value);
    }
    free(keyed.tables[0]);
    return STEP_STATUS_OK;
}

static enum step_status keyed_inverse(const uint64_t *parameters, const struct step_series *series,
                                      uint64_t *values, size_t count)
{
    struct keyed keyed;
    if (!keyed_start(&keyed, parameters))
        return STEP_STATUS_NO_MEMORY;
    const uint64_t *key = series->values;
    for (size_t i = 0; i < count; i++, key += series->step) {
        values[i] = step_front_value(values[i], keyed_guess(&keyed, *key));
        keyed_learn(&keyed, values[i]);
    }
    free(keyed.tables[0]);
    return STEP_STATUS_OK;
}

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
