/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of engine=sampled, which have a sample of the objects.  A command that takes all objects
 * of a trace for all objects of the program would give wrong numbers: it cannot open them. */
#ifndef CONVERTER_FILES_SAMPLED_TRACE_H
#define CONVERTER_FILES_SAMPLED_TRACE_H

#include <stdbool.h>

#include "converter/numbers/estimates.h"
#include "format/json/json_output.h"
#include "steptrace/reader.h"

/* What needs all objects of a trace, for commands without an option that does. */
#define NEEDS_ALL_OBJECTS "this command"
/* Returns CORRUPT, with a reason, for a sampled trace whose interval is not valid, or if something
 * needs all objects: `needs_all` names it, a command or an option.  NULL: the caller says of a
 * sample that it is one, or gives each with its weight. */
enum step_status sampled_trace_admit(const struct step_reader *reader, const char *path,
                                     const char *needs_all, struct step_error *error);
/*
 * What no number of a sampled trace may go without: that its JVM samples with a bias, so that
 * ranges are no 95 % intervals, and what was not recorded between the files of a ring.  Whoever
 * opens such a trace notes both: the words and members of estimates have them (amount.h),
 * rules are refused, and a command says them on stderr.
 */

/* From now on they are printed on stderr, once for each trace. */
void sampled_traces_tell(void);
enum { SAMPLED_NOTE_ROOM = 448 };
/* Write the sentences for the trace `path`, which was opened; return NULL if there is nothing to
 * say. */
const char *sampled_trace_bias(const char *path, char text[SAMPLED_NOTE_ROOM]);
const char *sampled_trace_pauses(const char *path, char text[SAMPLED_NOTE_ROOM]);
/* Returns how the samples of the trace were drawn, for its estimates; of a trace that was not
 * opened as STEP, with nothing known.  It stays until the process ends.  NULL: out of memory. */
struct sampling *sampled_trace_sampling(const char *path);
/* Puts the members that all JSON of estimates has: "estimated", "sample_interval_bytes",
 * "interval_valid", "interval_fault" if it is not, and "not_recorded_ns". */
void sampled_trace_put_json(struct json_output *json, const char *path, uint64_t interval_bytes);

/* Returns the mean number of bytes allocated from one sample to the next, from the values of the
 * properties `engine` and `sample` (each may be NULL); 0 if the trace is exact or not valid. */
uint64_t sampled_interval_bytes(const char *engine, const char *sample);

#endif
