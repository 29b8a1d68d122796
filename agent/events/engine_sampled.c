/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled: the objects that the JVM samples, and their deaths. It uses only what JVMTI
 * specifies; the callback is that of engine=jvmti. docs/engine-sampled.md */
#include <string.h>

#include "agent/base/patience.h"
#include "agent/events/engine.h"
#include "agent/events/sample_rate.h"
#include "agent/events/sampled_lives.h"
#include "agent/events/sampled_objects.h"

static void want_capabilities(uint32_t event, jvmtiCapabilities *wanted)
{
    if (event == EVENT_ALLOC)
        wanted->can_generate_sampled_object_alloc_events = 1;
}

/* An event on its way, of the engine before this one. */
static void JNICALL on_vm_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
                                jclass class, jlong size)
{
    (void) jvmti, (void) jni, (void) thread, (void) object, (void) class, (void) size;
}

/* Another agent may have the events then. */
static void give_back_capability(void)
{
    jvmtiCapabilities mine;
    memset(&mine, 0, sizeof mine);
    want_capabilities(EVENT_ALLOC, &mine);
    if ((*tracer.jvmti)->RelinquishCapabilities(tracer.jvmti, &mine) == JVMTI_ERROR_NONE)
        tracer.capable &= ~(uint32_t) (EVENT_ALLOC | EVENT_FREE);
}

static void begin(struct session *session)
{
    if (!sampled_lives_begin(session))
        session_give_up(session, "out of memory for live=");
    sampled_objects_begin(session);
    sample_rate_begin(session);
    engine_notify(true, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
}

/* The interval is the JVM's, not this agent's: afterwards it is what it was at the JVM's start. */
static void enable(struct session *session, bool on)
{
    if (on) {
        begin(session);
        return;
    }
    engine_notify(on, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC);
    sample_rate_end();
    if (session->is_followed) {
        sampled_lives_pause(session);
        return;
    }
    sampled_lives_end();
    give_back_capability();
}

const struct engine engine_sampled = {
    .want_capabilities = want_capabilities,
    .vm_object_alloc = on_vm_alloc,
    .enable = enable,
    .take_sample = sampled_object,
    .thread_starts = sampled_thread_starts,
    .awaits = sampled_lives_take,
    .needs_allocs = "engine=sampled: this JVM has no SampledObjectAlloc events, or another agent "
                    "has taken them: no trace is made"};
