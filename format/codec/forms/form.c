/* SPDX-License-Identifier: Apache-2.0 */
/* The table of forms; form.h says how to add one. */
#include "format/codec/forms/form.h"

static const struct step_form *const rows[] = {
    &step_form_constant, &step_form_fixed, &step_form_planes, &step_form_varint,
    &step_form_packed,   &step_form_runs,  &step_form_tokens, &step_form_ranked,
};

const struct step_form *step_form_row(size_t i)
{
    return i < sizeof rows / sizeof rows[0] ? rows[i] : NULL;
}

const struct step_form *step_form_find(uint64_t id)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i]->id == id)
            return rows[i];
    return NULL;
}
