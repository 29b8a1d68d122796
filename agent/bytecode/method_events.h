/* SPDX-License-Identifier: Apache-2.0 */
/* Method events with engine=bytecode: the work of the probes in rewritten methods. */
#ifndef AGENT_BYTECODE_METHOD_EVENTS_H
#define AGENT_BYTECODE_METHOD_EVENTS_H

#include "agent/records/method_counts.h"
#include "agent/records/method_numbers.h"

/* `is_new`: a constructor, whose object is reported by method_constructed(). */
void method_entered(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                    jobject object, bool is_new);
/* Call when a constructor calls its super() or this(). */
void method_calls_super(struct session *session, struct os_thread *os, uint32_t number);
void method_constructed(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                        jobject object);
/* Call when the innermost open frame of that method is left, or (CAUGHT) continues after an
 * exception was caught: the frames above it are gone. */
void method_left(struct session *session, struct os_thread *os, uint32_t number,
                 enum method_leave how);

#endif
