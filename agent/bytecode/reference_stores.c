/* SPDX-License-Identifier: Apache-2.0 */
/* Converts stores to raw records. */
#include "agent/bytecode/reference_stores.h"

#include "agent/bytecode/constructors.h"
#include "agent/records/put_record.h"
#include "agent/references/fields.h"
#include "agent/references/object_ids.h"

/* Records a store into `holder`, of `value` or of references that `value` has. The probe comes
 * after the store: before it, an exception could still prevent the store, and for an array the JVM
 * checks the element's class. The ids are found before the record is written, because an object
 * without one is recorded first (object_id_of()), in the same stream, so that its birth precedes
 * the store. Two threads that store into one field at once may be recorded in the other order; no
 * probe could know it. */
static void reference_stores_store(struct session *session, struct os_thread *os, JNIEnv *jni,
                                   enum step_live_reference kind, jobject holder, jobject value,
                                   uint64_t number, uint64_t more)
{
    struct live_stream *stream = thread_stream(session, os);
    struct java_thread *java = thread_current(session, os, NULL);
    if (stream == NULL)
        return;
    if (java != NULL && constructors_wait_long(java, stream))
        constructors_keep_window(session, os, jni, java, stream);
    uint64_t thread = java != NULL ? java->id : 0;
    uint64_t from = object_id_of(session, os, stream, thread, jni, holder);
    uint64_t to = object_id_of(session, os, stream, thread, jni, value);
    write_reference(session, stream, thread, 0, kind, (const uint64_t[2]){from, to}, number, more);
}

void store_into_field(struct session *session, struct os_thread *os, JNIEnv *jni, jobject holder,
                      jobject value, uint64_t field)
{
    reference_stores_store(session, os, jni, STEP_LIVE_FIELD_STORE, holder, value, field, 0);
}

void store_into_element(struct session *session, struct os_thread *os, JNIEnv *jni, jobject array,
                        jint index, jobject value)
{
    reference_stores_store(session, os, jni, STEP_LIVE_ELEMENT_STORE, array, value,
                           (uint32_t) index, 0);
}

void store_clone(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                 jobject object)
{
    reference_stores_store(session, os, jni, STEP_LIVE_CLONE_STORE, object, from, 0, 0);
}

static void store_range(struct session *session, struct os_thread *os, JNIEnv *jni, jobject from,
                        jint first, jobject to, jint at, jint length)
{
    if (length > 0)
        reference_stores_store(session, os, jni, STEP_LIVE_RANGE_STORE, to, from, (uint32_t) length,
                               (uint32_t) first | (uint64_t) (uint32_t) at << 32);
}

struct session *store_enter(struct os_thread **os)
{
    struct session *session = probe_enter(os);
    if (session != NULL && !stores_wanted(session)) {
        probe_leave(*os);
        return NULL;
    }
    return session;
}

void JNICALL on_store_field(JNIEnv *jni, jclass class, jobject holder, jobject value, jint number)
{
    struct os_thread *os;
    struct session *session = store_enter(&os);
    (void) class;
    if (session == NULL)
        return;
    store_into_field(session, os, jni, holder, value,
                     field_of_number(session, jni, (uint32_t) number, holder));
    probe_leave(os);
}

void JNICALL on_store_static(JNIEnv *jni, jclass class, jobject value, jint number)
{
    on_store_field(jni, class, NULL, value, number);
}

void JNICALL on_store_element(JNIEnv *jni, jclass class, jobject array, jint index, jobject value)
{
    struct os_thread *os;
    struct session *session = store_enter(&os);
    (void) class;
    if (session == NULL)
        return;
    store_into_element(session, os, jni, array, index, value);
    probe_leave(os);
}

void JNICALL on_store_copy(JNIEnv *jni, jclass class, jobject array, jobject from, jint first)
{
    struct os_thread *os;
    struct session *session = array != NULL && from != NULL ? store_enter(&os) : NULL;
    (void) class;
    if (session == NULL)
        return;
    jsize room = (*jni)->GetArrayLength(jni, array);
    jsize there = (*jni)->GetArrayLength(jni, from) - first;
    store_range(session, os, jni, from, first, array, 0, room < there ? room : there);
    probe_leave(os);
}

void JNICALL on_store_range(JNIEnv *jni, jclass class, jobject from, jint first, jobject to,
                            jint at, jint length)
{
    struct os_thread *os;
    struct session *session = store_enter(&os);
    (void) class;
    if (session == NULL)
        return;
    store_range(session, os, jni, from, first, to, at, length);
    probe_leave(os);
}

void JNICALL on_store_offset(JNIEnv *jni, jclass class, jobject holder, jlong offset, jobject value)
{
    struct os_thread *os;
    struct session *session = holder != NULL ? store_enter(&os) : NULL;
    (void) class;
    if (session == NULL)
        return;
    struct field_place place = field_at(session, os, jni, holder, offset, value);
    if (place.kind == PLACE_ELEMENT)
        store_into_element(session, os, jni, holder, (jint) place.number, value);
    else
        store_into_field(session, os, jni, place.kind == PLACE_STATIC ? NULL : holder, value,
                         place.number);
    probe_leave(os);
}

void JNICALL on_store_set(JNIEnv *jni, jclass class, jboolean done, jobject holder, jlong offset,
                          jobject value)
{
    if (done)
        on_store_offset(jni, class, holder, offset, value);
}

void JNICALL on_store_exchanged(JNIEnv *jni, jclass class, jobject found, jobject wanted,
                                jobject holder, jlong offset, jobject value)
{
    if ((*jni)->IsSameObject(jni, found, wanted))
        on_store_offset(jni, class, holder, offset, value);
}
