/* SPDX-License-Identifier: Apache-2.0 */
/* Method events with engine=bytecode: the numbers that rewritten methods pass, and what they mean.
 */
#ifndef METHOD_PROBES_H
#define METHOD_PROBES_H

#include "agent/records/threads.h"

enum method_leave { LEAVE_RETURN, LEAVE_UNWIND, LEAVE_CAUGHT };

/* A number for a method that is being rewritten; 0: none are left. */
uint32_t method_new_number(void);
/* The probe in Java that stands between a method and its native probe. */
void method_called_through(jmethodID probe);
/* The method's entry in the session's dictionary; 0: it is not traced.  Called by its own probe. */
uint64_t method_of_number(struct session *session, uint32_t number);
/* The class of a method that has been called: a local reference, or NULL; its number in the
 * session's dictionary. */
jclass method_declaring_class(uint32_t number);
uint64_t method_class_of(struct session *session, uint32_t number);
/* Says which method a number is, where it cannot be seen on the stack; false: it is not traced. */
bool method_know(struct session *session, uint32_t number, jmethodID method);
/* `is_new`: a constructor, whose object comes with method_constructed(). */
void method_entered(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                    jobject object, bool is_new);
/* The same, and method_left(), as the whole probe, for what is usual: a thread that is known, a
 * record in short, an exit from the innermost frame, no object.  False: nothing was done. */
bool method_entered_quickly(uint32_t number);
bool method_left_quickly(uint32_t number);
/* A constructor calls its super() or this(). */
void method_calls_super(struct session *session, struct os_thread *os, uint32_t number);
void method_constructed(struct session *session, struct os_thread *os, JNIEnv *jni, uint32_t number,
                        jobject object);
/* The innermost open frame of that method is left, or (CAUGHT) goes on where an exception was
 * caught: what it had called is gone. */
void method_left(struct session *session, struct os_thread *os, uint32_t number,
                 enum method_leave how);

#endif
