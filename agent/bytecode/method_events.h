/* SPDX-License-Identifier: Apache-2.0 */
/* Method events with engine=bytecode: what the probes of rewritten methods do. */
#ifndef AGENT_BYTECODE_METHOD_EVENTS_H
#define AGENT_BYTECODE_METHOD_EVENTS_H

#include "agent/records/method_counts.h"
#include "agent/records/method_numbers.h"

/* `is_new`: a constructor, whose object comes with method_constructed(). */
void method_entered(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                    jobject object, bool is_new);
/* The same, and method_left(), as the whole probe, in the usual case: see quick_events.h; not where
 * the object is asked for (`of_object`: there is one). */
bool method_entered_quickly(uint32_t number, bool of_object);
bool method_left_quickly(uint32_t number);
bool method_called_quickly(uint32_t number); /* both at once */
/* A constructor calls its super() or this(). */
void method_calls_super(struct session *session, struct os_thread *os, uint32_t number);
void method_constructed(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                        jobject object);
/* The innermost open frame of that method is left, or (CAUGHT) goes on where an exception was
 * caught: what it had called is gone. */
void method_left(struct session *session, struct os_thread *os, uint32_t number,
                 enum method_leave how);

#endif
