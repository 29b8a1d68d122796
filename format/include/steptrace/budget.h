/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: how many steps the values of a file may cause.
 *
 * A number in a file can stand for any number of turns of a loop, although it takes few bytes.
 * Where no other limit of the format bounds such a loop, its steps are taken from a budget, which
 * is a constant plus a factor times the bytes that the file really has.  An exhausted budget is an
 * error.
 */
#ifndef STEPTRACE_BUDGET_H
#define STEPTRACE_BUDGET_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "steptrace/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct step_budget {
    uint64_t left;
};

/* Adds the steps that `bytes` of the file account for. */
static inline void step_budget_earn(struct step_budget *budget, uint64_t per_byte, uint64_t bytes)
{
    uint64_t room = UINT64_MAX - budget->left;
    budget->left += per_byte > 0 && bytes > room / per_byte ? room : per_byte * bytes;
}

/* Returns the budget of a file of `bytes`: `least` steps, and `per_byte` for each of its bytes. */
static inline struct step_budget step_budget_of(uint64_t least, uint64_t per_byte, uint64_t bytes)
{
    struct step_budget budget = {least};
    step_budget_earn(&budget, per_byte, bytes);
    return budget;
}

/* Returns false, and takes nothing, if fewer than `steps` are left. */
static inline bool step_budget_take(struct step_budget *budget, uint64_t steps)
{
    if (steps > budget->left)
        return false;
    budget->left -= steps;
    return true;
}

/* As step_budget_take(); LIMIT, with the file, the offset of the number and what it counts, if
 * fewer are left. */
static inline enum step_status step_budget_spend(struct step_budget *budget, uint64_t steps,
                                                 const char *what, const char *file,
                                                 uint64_t offset, struct step_error *error)
{
    if (step_budget_take(budget, steps))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_LIMIT, file, offset,
                          "%" PRIu64 " %s are more than a file of this size can have", steps, what);
}

#ifdef __cplusplus
}
#endif

#endif
