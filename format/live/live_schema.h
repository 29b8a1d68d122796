/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a trace has the records that a live file's raw records become. */
#ifndef FORMAT_LIVE_LIVE_SCHEMA_H
#define FORMAT_LIVE_LIVE_SCHEMA_H

#include "steptrace/definition.h"
#include "steptrace/live.h"

/* The decoders put records by their numbers and slots as this program knows them.  True if all of
 * those that the trace's definition has are the same there: only then may a live file of that kind
 * be decoded into a writer of it.  (The last ones may be missing: the writer refuses them.) */
bool live_schema_fits(uint64_t kind, const struct step_definition *theirs);

#endif
