/* SPDX-License-Identifier: Apache-2.0 */
/* The table of transforms. */
#include "format/codec/strategies/strategy_table.h"

static const struct step_transform *const rows[] = {
    &step_transform_delta, &step_transform_zigzag,  &step_transform_offset, &step_transform_front,
    &step_transform_given, &step_transform_context, &step_transform_dfcm,   &step_transform_recent,
    &step_transform_keyed, &step_transform_stack,   &step_transform_age,    &step_transform_live,
    &step_transform_scale,
};

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
