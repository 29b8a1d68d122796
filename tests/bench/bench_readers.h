/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which programs read a trace, for bench_step to measure. */
#ifndef TESTS_BENCH_BENCH_READERS_H
#define TESTS_BENCH_BENCH_READERS_H

#include "format/core/bytes.h"
#include "steptrace/status.h"

/* What a way came to: the records, and a sum of what was looked at, so that nothing is idle. */
struct read_tally {
    uint64_t records;
    uint64_t sum;
};

/* Block by block, the slots as they are. */
enum step_status read_blocks(const struct step_buffer *file, struct read_tally *tally,
                             struct step_error *error);
/* Through what `stepc --c java.step` makes: streams merged by time, each record into its struct. */
enum step_status read_generated(const struct step_buffer *file, struct read_tally *tally,
                                struct step_error *error);
/* With no generated code: streams merged by time, each field by its type in the definition that the
 * trace embeds, identifiers looked up in their dictionaries. */
enum step_status read_dynamic(const struct step_buffer *file, struct read_tally *tally,
                              struct step_error *error);

#endif
