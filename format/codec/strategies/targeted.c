/* SPDX-License-Identifier: Apache-2.0 */
/* The table of targeted strategies. */
#include "format/codec/strategies/targeted.h"

#include "format/codec/strategies/predictor.h"
#include "format/core/rule.h"

const struct step_targeted_row step_targeted_rows[STEP_TARGETED_COUNT] = {
    [STEP_TARGETED_NONE] = {.name = ""},
    [STEP_DELTA] = {.name = "delta", .has_parameter = true, .usual_parameter = UINT64_MAX},
    [STEP_STRIDE] = {.name = "stride", .has_parameter = true, .usual_parameter = 1},
    [STEP_OFFSET] = {.name = "offset", .is_coded = true, .has_parameter = true},
    [STEP_WINDOW] = {.name = "window", .has_parameter = true, .usual_parameter = UINT64_MAX},
    [STEP_GIVEN] = {.name = "given",
                    .needs = STEP_SERIES_FIELD,
                    .is_coded = true,
                    .has_table = true},
    [STEP_CONTEXT] = {.name = "context",
                      .other_name = "fcm",
                      .is_coded = true,
                      .has_table = true,
                      .has_parameter = true,
                      .usual_parameter = 2,
                      .parameter_max = STEP_CONTEXT_MAX},
    [STEP_DFCM] = {.name = "dfcm",
                   .is_coded = true,
                   .has_table = true,
                   .has_parameter = true,
                   .usual_parameter = 2,
                   .parameter_max = STEP_CONTEXT_MAX},
    [STEP_RECENT] = {.name = "recent",
                     .is_coded = true,
                     .has_parameter = true,
                     .usual_parameter = 4,
                     .parameter_max = STEP_RECENT_MAX},
    [STEP_STACK] = {.name = "stack", .needs = STEP_SERIES_PUSHES, .is_coded = true},
    [STEP_AGE] = {.name = "age", .needs = STEP_SERIES_LATEST, .is_coded = true},
    [STEP_SEQUENCE] = {.name = "sequence", .is_coded = true},
    [STEP_LIVE] = {.name = "live", .is_coded = true},
};

enum step_targeted step_targeted_find(const char *name, size_t length)
{
    for (size_t i = 1; i < STEP_TARGETED_COUNT; i++) {
        const struct step_targeted_row *row = &step_targeted_rows[i];
        if (step_rule_text_is(name, length, row->name) ||
            (row->other_name != NULL && step_rule_text_is(name, length, row->other_name)))
            return (enum step_targeted) i;
    }
    return STEP_TARGETED_NONE;
}
