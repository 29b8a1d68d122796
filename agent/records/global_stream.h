/* SPDX-License-Identifier: Apache-2.0 */
/* The session's global stream: definitions, classes, threads, rare records. Writers hold the
 * session's global_lock. */
#ifndef AGENT_RECORDS_GLOBAL_STREAM_H
#define AGENT_RECORDS_GLOBAL_STREAM_H

#include "agent/base/tracer.h"

/* Writes words to the global stream, stamped now if `kind` has a stamp. The caller holds the
 * lock. */
void global_write(struct session *session, const uint64_t *words, size_t count, unsigned events);
/* Writes one event record: kind, stamp and a word. */
void global_event(struct session *session, enum step_live_kind kind, uint64_t word, size_t words);

/* Converts the JVM's modified UTF-8 to UTF-8 (an unpaired surrogate keeps its three bytes). `out`
 * has room for strlen(text) bytes. Returns the length. */
size_t utf8_of_modified(const char *text, char *out);

/* Cuts UTF-8 of more than 65,536 bytes before a character and ends it with three dots and zeros up
 * to a multiple of 8 bytes. Returns the length. */
size_t utf8_cut(char *text, size_t length);

/* Facts: rare records that are not events of the program (STEP_LIVE_FACT). */

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
