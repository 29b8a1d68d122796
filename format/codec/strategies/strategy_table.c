/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of transforms and of targeted strategies, made from STEP_STRATEGY_LIST. */
#include "format/codec/strategies/strategy_table.h"

#include "format/core/rule.h"

#define TRANSFORM_ROW(number, NAME, name) &step_transform_##name,
#define TARGETED_ROW(NAME, name) [STEP_##NAME] = &step_strategy_##name,
#define STRATEGY_ROW(number, NAME, name) TARGETED_ROW(NAME, name)

static const struct step_transform *const rows[] = {
    STEP_STRATEGY_LIST(TRANSFORM_ROW, STEP_STRATEGY_NO_ROW, TRANSFORM_ROW)};

static const struct step_strategy none = {.name = ""};

const struct step_strategy *const step_strategies[STEP_TARGETED_COUNT] = {
    [STEP_TARGETED_NONE] = &none,
    STEP_STRATEGY_LIST(STRATEGY_ROW, TARGETED_ROW, STEP_STRATEGY_NO_ROW)};

const struct step_transform *step_transform_row(size_t i)
{
    return i < sizeof rows / sizeof rows[0] ? rows[i] : NULL;
}

const struct step_transform *step_transform_find(uint64_t id)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i]->id == id)
            return rows[i];
    return NULL;
}

enum step_targeted step_strategy_find(const char *name, size_t length)
{
    for (size_t i = 1; i < STEP_TARGETED_COUNT; i++) {
        const struct step_strategy *strategy = step_strategies[i];
        if (step_rule_text_is(name, length, strategy->name) ||
            (strategy->other_name != NULL && step_rule_text_is(name, length, strategy->other_name)))
            return (enum step_targeted) i;
    }
    return STEP_TARGETED_NONE;
}
