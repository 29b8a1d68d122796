/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of a STEP trace, as every verb opens it. */
#ifndef CONVERTER_FILES_TRACE_READER_H
#define CONVERTER_FILES_TRACE_READER_H

#include "steptrace/reader.h"

/* Opens a trace with the definition that was given, or else with its own.  Every verb opens a STEP
 * trace here: a sampled one is refused if something needs all objects (sampled_trace.h). */
enum step_status open_with_given_definition(const char *path, const char *needs_all,
                                            struct step_reader **reader, struct step_error *error);

#endif
