/* SPDX-License-Identifier: Apache-2.0 */
/* engine=walk: what the program allocated, by class, from the objects themselves: eden is walked
 * when a collection begins. The program runs as it does without the agent. docs/engine-walk.md */
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/events/eden_walk.h"
#include "agent/events/engine.h"
#include "agent/hotspot/eden_threads.h"

static void walk_want_capabilities(uint32_t event, jvmtiCapabilities *wanted)
{
    (void) event, (void) wanted; /* announcements of collections are of all engines */
}

static const char *walk_prove(JNIEnv *jni, struct session *session)
{
    (void) session;
    const char *reason = eden_walk_prove(jni);
    if (reason == NULL)
        eden_walk_prove_survivors(jni);
    return reason;
}

/* An event on its way, of the engine before this one. */
static void JNICALL on_vm_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                jclass class, jlong size)
{
    (void) jvmti, (void) jni, (void) thread, (void) object, (void) class, (void) size;
}

static void walk_enable(struct session *session, bool on)
{
    JNIEnv *jni = jvm_jni();
    if (jni == NULL)
        return;
    if (!on)
        eden_walk_end(session, jni);
    else if (!eden_walk_begin(session, jni))
        session_give_up(session, "engine=walk: eden could not be walked");
}

const struct engine engine_walk = {
    .want_capabilities = walk_want_capabilities,
    .prove = walk_prove,
    .vm_object_alloc = on_vm_alloc,
    .enable = walk_enable,
    .collection_begins = eden_walk_collection_begins,
    .collection_ended = eden_walk_collection_ended,
    .platform_thread_ends = eden_threads_ended,
    .ends_first = true,
    .needs_allocs = "engine=walk: this JVM does not announce its collections: no trace is made"};
