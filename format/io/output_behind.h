/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output that follows behind: what is written is copied to a buffer, and a thread passes full
 * buffers on, in order, while the next is filled.  So compression takes a processor of its own.
 * There is no thread until a buffer is full, and none where the process may use one processor only.
 */
#ifndef FORMAT_IO_OUTPUT_BEHIND_H
#define FORMAT_IO_OUTPUT_BEHIND_H

#include "steptrace/writer.h"

struct step_output_behind;

/* Returns an output before `to`, whose function is then called by one thread at a time; NULL: out
 * of memory.  `to` is copied. */
struct step_output_behind *step_output_behind_create(const struct step_output *to);
struct step_output step_output_behind_as_output(struct step_output_behind *behind);
/* Writes like the output.  A failure of `to` is returned by the next calls. */
enum step_status step_output_behind_write(struct step_output_behind *behind, const void *data,
                                          size_t length, struct step_error *error);
/* Waits until all is passed on.  Then the caller may write to `to` itself. */
enum step_status step_output_behind_finish(struct step_output_behind *behind,
                                           struct step_error *error);
/* Drops what is not passed on.  `behind` may be NULL. */
void step_output_behind_destroy(struct step_output_behind *behind);

#endif
