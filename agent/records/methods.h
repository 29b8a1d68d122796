/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the JVM's method ids to their numbers in the trace, and says which methods are traced. */
#ifndef AGENT_RECORDS_METHODS_H
#define AGENT_RECORDS_METHODS_H

#include "agent/base/tracer.h"

struct method_entry {
    void *key;
    _Atomic uint64_t session; /* stored last, with release: then the rest is of this session */
    uint64_t id;
    bool is_static;
    bool is_traced;
};

static inline bool method_is_of(const struct method_entry *entry, const struct session *session)
{
    return atomic_load_explicit(&entry->session, memory_order_acquire) == session->number;
}

/* Returns the method's entry for this session; NULL if the JVM cannot name it. */
const struct method_entry *method_lookup(struct session *session, jmethodID method);
/* Frees all entries: no thread is in a probe, and the next session asks the JVM again. */
void methods_forget(void);

/* Source files of classes, as their class files name them: attributes SourceFile and
 * SourceDebugExtension (JSR 45). */

/* Asks the JVM for the attributes' names and texts. HotSpot keeps SourceDebugExtension only if it
 * is asked at load: an attached agent gets none. */
void source_files_prepare(void);

#endif
