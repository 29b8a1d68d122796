/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once, and never more of it than a budget: what a definition and its
 * syntax tree live in. */
#ifndef STEP_DL_POOL_H
#define STEP_DL_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct step_dl_pool_chunk;

struct step_dl_pool {
    struct step_dl_pool_chunk *chunks; /* the newest first */
    size_t free_bytes;                 /* in the newest chunk, at its end */
    size_t left_bytes;                 /* of the budget */
    bool over_budget;                  /* why a take failed: the budget, else the system */
};

void step_dl_pool_init(struct step_dl_pool *pool, size_t budget_bytes);
void step_dl_pool_reset(struct step_dl_pool *pool);

/* Zeroed storage for `count` items, or NULL. */
void *step_dl_pool_take(struct step_dl_pool *pool, size_t count, size_t size);

/* A NUL-terminated copy, or NULL. */
char *step_dl_pool_text(struct step_dl_pool *pool, const char *text, size_t length);

#endif
