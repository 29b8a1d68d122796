/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of engine=sampled, which have a sample of the objects.  A command that takes all objects
 * of a trace for all objects of the program would give wrong numbers: it cannot open them. */
#ifndef CONVERTER_BASE_SAMPLED_TRACE_H
#define CONVERTER_BASE_SAMPLED_TRACE_H

#include <stdbool.h>

#include "steptrace/reader.h"

/* Declares that this command says of a sample that it is one, unless an option (not copied; NULL:
 * none) needs all objects.  Without it, such traces cannot be opened. */
void sampled_traces_accept(const char *unless);
/* Returns CORRUPT, with a reason, for a sampled trace that this command does not accept or whose
 * interval is not valid. */
enum step_status sampled_trace_admit(const struct step_reader *reader, const char *path,
                                     struct step_error *error);
/* The same for a caller that gives each sample with its weight: it accepts sampled traces. */
enum step_status sampled_trace_check(const struct step_reader *reader, const char *path,
                                     struct step_error *error);
/* Returns the mean number of bytes allocated from one sample to the next, from the values of the
 * properties `engine` and `sample` (each may be NULL); 0 if the trace is exact or not valid. */
uint64_t sampled_interval_bytes(const char *engine, const char *sample);

#endif
