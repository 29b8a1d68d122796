/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set of values that leave, each once, in ascending batches: the identifiers of objects that die
 * together.  A value's code is the number of remaining values that it skips; values that left in
 * earlier batches do not count, so neighbours among the survivors are 0 apart.
 *
 * Any value has a code, and any code a value (docs/formats/step.md has the rule): negative codes,
 * in two's complement, start a new batch, or are for values that left already.
 */
#ifndef FORMAT_CODEC_STRATEGIES_DEPARTURES_H
#define FORMAT_CODEC_STRATEGIES_DEPARTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values from first to last that left, and the number of smaller ones that left. */
struct step_gone_run {
    uint64_t first;
    uint64_t last;
    uint64_t before;
};

/* The set.  Zero-initialise. */
struct step_departures {
    struct step_gone_run *runs; /* ascending, not adjacent */
    size_t run_count;
    size_t run_capacity;
    struct step_gone_run *merged; /* buffer for merging */
    size_t merged_capacity;
    uint64_t gone;     /* values in the runs */
    size_t at;         /* where the last search ended */
    uint64_t *waiting; /* values since the runs were made */
    size_t waiting_count;
    size_t waiting_capacity;
    uint64_t base; /* number of values in the set that are not above the last value */
    uint64_t last;
};

void step_departures_reset(struct step_departures *set); /* frees the storage */
void step_departures_clear(struct step_departures *set); /* keeps the storage */

/* Return false if memory runs out. */
bool step_departures_code(struct step_departures *set, uint64_t value, uint64_t *code);
bool step_departures_value(struct step_departures *set, uint64_t code, uint64_t *value);

#endif
