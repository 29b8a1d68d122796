/* SPDX-License-Identifier: Apache-2.0 */
/* Facts: rare records that are not events of the program (STEP_LIVE_FACT). */
#ifndef AGENT_RECORDS_RARE_RECORDS_H
#define AGENT_RECORDS_RARE_RECORDS_H

#include "agent/base/tracer.h"

enum rare_missing { FACT_METHOD_EVENTS = 1, FACT_ALLOCATIONS = 2, FACT_STORES = 4 };

/* Records that a method, or a class if `method_name` is empty, has no probes. Texts are modified
 * UTF-8. */
void fact_not_probed(struct session *session, const char *class_name, const char *method_name,
                     const char *descriptor, const char *reason, uint64_t missing);

struct method_totals {
    uint64_t calls, exceptions, inclusive_ns, exclusive_ns;
};

/* Records the totals of all calls of a method of the session's dictionary. */
void fact_method_count(struct session *session, uint64_t method,
                       const struct method_totals *totals);

#endif
