/* SPDX-License-Identifier: Apache-2.0 */
/* method=count: calls and time of each method, instead of its events.
 *
 * Each native thread adds up in its own table, indexed by the method's number in the trace. Each
 * Java thread has a stack of its open calls. When the trace ends, the tables are summed up and
 * written, one fact per method. */
#ifndef AGENT_RECORDS_METHOD_COUNTS_H
#define AGENT_RECORDS_METHOD_COUNTS_H

#include "agent/records/threads.h"

/* A return; an exception that leaves the method; an exception that the method catches. */
enum method_leave { LEAVE_RETURN, LEAVE_UNWIND, LEAVE_CAUGHT };

struct call_counts;
struct call_stack;

/* Called from rewritten code, which passes the method's number. */
void method_counts_entered(struct session *session, struct os_thread *os, uint32_t number);
void method_counts_left(struct session *session, struct os_thread *os, uint32_t number,
                        enum method_leave how);
/* Same, for a method that is known; `key` identifies it at its exit. */
void method_counts_enter(struct session *session, struct os_thread *os, struct java_thread *java,
                         uint64_t method, const void *key);
void method_counts_leave(struct session *session, struct os_thread *os, struct java_thread *java,
                         const void *key, enum method_leave how);
/* Call when the thread leaves this native thread, for a while or for good. */
void method_counts_unmounted(struct os_thread *os, struct java_thread *java);
void method_counts_thread_ended(struct session *session, struct os_thread *os,
                                struct java_thread *java);
/* Called by the drain thread when no probe runs any more. If not `all_left`, some threads are in a
 * probe for good: their counts and open calls are left out. */
void method_counts_finish(struct session *session, bool all_left);

#endif
