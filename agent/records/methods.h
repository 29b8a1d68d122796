/* SPDX-License-Identifier: Apache-2.0 */
/* Methods by the JVM's ids: their numbers in the trace, and which of them are traced. */
#ifndef AGENT_RECORDS_METHODS_H
#define AGENT_RECORDS_METHODS_H

#include "agent/base/tracer.h"

struct method_entry {
    void *key;
    uint64_t session;
    uint64_t id;
    bool is_static;
    bool is_traced;
};

/* The method's entry for this session; NULL if the JVM cannot name it. */
const struct method_entry *method_lookup(struct session *session, jmethodID method);

#endif
