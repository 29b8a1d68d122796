/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method=count: calls and time of each method, in place of its events.
 *
 * Each native thread adds up in a table of its own, indexed by the method's number in the trace;
 * each Java thread has a stack of its open calls.  When the trace ends the tables are summed up and
 * written, one fact a method.
 */
#ifndef AGENT_RECORDS_METHOD_COUNTS_H
#define AGENT_RECORDS_METHOD_COUNTS_H

#include "agent/records/threads.h"

/* Its caller goes on; an exception leaves it; or goes no further, and it goes on itself. */
enum method_leave { LEAVE_RETURN, LEAVE_UNWIND, LEAVE_CAUGHT };

struct call_counts;
struct call_stack;

/* From rewritten code, which passes the method's number. */
void method_counts_entered(struct session *session, struct os_thread *os, uint32_t number);
void method_counts_left(struct session *session, struct os_thread *os, uint32_t number,
                        enum method_leave how);
/* The same where the method is known; `key` names it at its exit. */
void method_counts_enter(struct session *session, struct os_thread *os, struct java_thread *java,
                         uint64_t method, const void *key);
void method_counts_leave(struct session *session, struct os_thread *os, struct java_thread *java,
                         const void *key, enum method_leave how);
/* The thread goes off this native thread, for a while or for good. */
void method_counts_unmounted(struct os_thread *os, struct java_thread *java);
void method_counts_thread_ended(struct session *session, struct os_thread *os,
                                struct java_thread *java);
/* By the drain thread, when no probe runs any more; unless `all_left`, some threads are in one for
 * good: what these counted is left out, and calls that are open are. */
void method_counts_finish(struct session *session, bool all_left);

#endif
