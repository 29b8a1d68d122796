/* SPDX-License-Identifier: Apache-2.0 */
/* New objects with engine=bytecode: ids, weak references, records. */
#ifndef AGENT_BYTECODE_NEW_OBJECTS_H
#define AGENT_BYTECODE_NEW_OBJECTS_H

#include "agent/records/hold.h"
#include "agent/records/threads.h"

/* Reports a new object that no other probe reports. */
void object_made(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* Same as probe_leave() where objects may have been created: with collect= a collection may be due,
 * and dead objects are searched for. */
void object_probe_leave(struct os_thread *os, JNIEnv *jni);
/* Same for a string and the array that only it refers to. */
void object_made_string(struct session *session, struct os_thread *os, JNIEnv *jni, jobject string);
/* Returns that array, or NULL if the JVM stores it elsewhere. */
jobject string_array(JNIEnv *jni, jobject string);
/* Returns true if the object is one of this thread's last few reported or noted ones. A false
 * answer proves nothing: a collection forgets all. */
bool object_is_recent(const struct os_thread *os, jobject object);
void object_forget_recent(struct os_thread *os, uint64_t collections);
static inline void object_note_recent(struct os_thread *os, uintptr_t place)
{
    uint64_t collections = collections_seen();
    if (__builtin_expect(os->bytecode.recent.collections != collections, 0))
        object_forget_recent(os, collections);
    os->bytecode.recent.places[os->bytecode.recent.count++ % RECENT_OBJECTS] = place;
}
/* Reports an object that may have been reported already, by object_made_once() or by the VM. */
void object_made_once(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* Reports an array of arrays, with `dimensions` dimensions created at once. */
void object_made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions);

#endif
