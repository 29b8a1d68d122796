/* SPDX-License-Identifier: Apache-2.0 */
/* layout=yes: fields of classes, and bytes after the elements of arrays, of which `steptrace
 * layout` computes what objects would take under other object layouts. */
#ifndef AGENT_RECORDS_LAYOUTS_H
#define AGENT_RECORDS_LAYOUTS_H

#include "agent/base/tracer.h"
#include "agent/records/threads.h"

/* Room for layouts_describe(). */
#define LAYOUT_TEXT 96u

/* With layout=yes, finds out how this JVM lays out objects and sets session->padding_mask. Call on
 * a Java thread, before probes find the session. Logs if it fails: then the session has no layouts.
 */
void layouts_begin(struct session *session, JNIEnv *jni);
/* Writes the value of the property `layout`: "alignment=8,reference=4,elements=16/16/16/16". */
void layouts_describe(char text[LAYOUT_TEXT]);

/* Both only if session->padding_mask is not 0. */
/* Returns the bytes up to the end of the elements if the class is one of arrays, else `size`. */
uint64_t layout_used_bytes(JNIEnv *jni, jclass class, jobject object, uint64_t size);
/* Same for an array of `length` elements of a class with this tag; for others if length is
 * negative. */
uint64_t layout_used_of_tag(jlong class_tag, jint length, uint64_t size);

/* Writes the fields of a class with this number in the trace, and of its superclasses, once in a
 * session; nothing for a class of arrays. Needs session->padding_mask. The caller holds no lock. */
void layout_define(struct session *session, JNIEnv *jni, jclass mirror, uint64_t class);
/* Same, once for each entry of a thread's cache. Does nothing without layout=yes. */
static inline void layout_of_cached(struct session *session, JNIEnv *jni, jclass mirror,
                                    struct class_cache_entry *class)
{
    if (session->padding_mask != 0 && class->number != 0 && !class->has_layout)
        layout_define(session, jni, mirror, class->number);
    class->has_layout = true;
}
/* Same for any loaded class, if it is linked. */
void layout_of_loaded(struct session *session, JNIEnv *jni, jclass mirror);

#endif
