/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot have probes: facts for the trace. They are found when classes get their probes, which
 * is before a gentle session is published, or, with probes=keep, in an earlier trace or between
 * two. */
#ifndef AGENT_BYTECODE_NOT_PROBED_H
#define AGENT_BYTECODE_NOT_PROBED_H

#include <stdbool.h>
#include <stdint.h>

/* Returns false if there is no session that could have the fact now or later. */
bool not_probed_record(const char *class_name, const char *method_name, const char *descriptor,
                       const char *reason, uint64_t missing);
/* From now on, facts are held until not_probed_report(). `keep`: also after it, for the traces that
 * follow. */
void not_probed_hold(bool keep);
/* Records in the session, which is published now, what was found before. */
void not_probed_report(void);
/* A trace has ended whose probes stay: what is found from now on waits for the next one. */
void not_probed_rest(void);
/* Whether classes get probes again, so that what is found may be known. */
void not_probed_again(bool again);
/* Facts are not held any more, and those that were are gone. */
void not_probed_forget(void);

#endif
