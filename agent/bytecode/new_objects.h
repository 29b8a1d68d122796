/* SPDX-License-Identifier: Apache-2.0 */
/* New objects with engine=bytecode: ids, weak references, records. */
#ifndef AGENT_BYTECODE_NEW_OBJECTS_H
#define AGENT_BYTECODE_NEW_OBJECTS_H

#include "agent/records/threads.h"

/* A new object that nobody has reported. */
void object_made(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* The same as probe_leave() where objects may have been made: with collect= the JVM may have to
 * collect now, and the dead are looked for. */
void object_probe_leave(struct os_thread *os, JNIEnv *jni);
/* The same for a string and the array that only it has. */
void object_made_string(struct session *session, struct os_thread *os, JNIEnv *jni, jobject string);
/* That array; NULL: the JVM keeps it elsewhere. */
jobject string_array(JNIEnv *jni, jobject string);
/* Is it one of the last few objects of this thread that were reported, or noted?  It may be though
 * the answer is no: a collection forgets all. */
bool object_is_recent(const struct os_thread *os, jobject object);
void object_forget_recent(struct os_thread *os, uint64_t collections);
static inline void object_note_recent(struct os_thread *os, uintptr_t place)
{
    uint64_t collections = atomic_load_explicit(&tracer.collections_begun, memory_order_relaxed);
    if (__builtin_expect(os->recent.collections != collections, 0))
        object_forget_recent(os, collections);
    os->recent.places[os->recent.count++ % RECENT_OBJECTS] = place;
}
/* An object that may have been reported already, by object_made_once() or by the VM. */
void object_made_once(struct session *session, struct os_thread *os, JNIEnv *jni, jobject object);
/* An array of arrays, with that many dimensions made at once. */
void object_made_arrays(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint dimensions);

#endif
