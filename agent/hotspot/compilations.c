/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a JVMTI environment of its own, so that the tracer's does not need this event. */
#include "agent/hotspot/compilations.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/vm_structs.h"

#define WAIT_NS 2000000L
#define ROUNDS 400

static struct {
    jvmtiEnv *jvmti; /* NULL: none */
    int compilers;   /* C1, then C2; or C2 only */
    size_t count;
    jmethodID methods[COMPILATIONS_METHODS];
    _Atomic int compiled[COMPILATIONS_METHODS];
} watch;

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *address,
                                jint count, const jvmtiAddrLocationMap *map, const void *info)
{
    (void) jvmti, (void) size, (void) address, (void) count, (void) map, (void) info;
    for (size_t i = 0; i < watch.count; i++)
        if (method == watch.methods[i])
            atomic_fetch_add(&watch.compiled[i], 1);
}

static bool switch_on(void)
{
    jvmtiEventCallbacks callbacks;
    jvmtiCapabilities wanted;
    memset(&callbacks, 0, sizeof callbacks);
    memset(&wanted, 0, sizeof wanted);
    wanted.can_generate_compiled_method_load_events = 1;
    callbacks.CompiledMethodLoad = on_compiled;
    jvmtiEnv *jvmti = watch.jvmti;
    return (*jvmti)->AddCapabilities(jvmti, &wanted) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventCallbacks(jvmti, &callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
           (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD,
                                              NULL) == JVMTI_ERROR_NONE;
}

static void compilations_end(void)
{
    if (watch.jvmti != NULL)
        (*watch.jvmti)->DisposeEnvironment(watch.jvmti);
    watch.jvmti = NULL;
}

static bool compilations_begin(const jmethodID *methods, size_t count)
{
    const unsigned char *tiered = vm_flag("TieredCompilation");
    watch.compilers = tiered != NULL && *tiered == 0 ? 1 : 2;
    watch.count = count;
    for (size_t i = 0; i < count; i++) {
        watch.methods[i] = methods[i];
        atomic_store(&watch.compiled[i], 0);
    }
    return (*tracer.vm)->GetEnv(tracer.vm, (void **) &watch.jvmti, JVMTI_VERSION_11) == JNI_OK &&
           switch_on();
}

static bool are_made(void)
{
    for (size_t i = 0; i < watch.count; i++)
        if (atomic_load(&watch.compiled[i]) < watch.compilers)
            return false;
    return true;
}

/* Runs the test until both compilers have made code of each method, and then COMPILATIONS_AFTER
 * times more, so that the last code has run, too. A JVM that only interprets needs no compilation.
 * The rounds are bounded: a JVM whose second compiler never comes gives 0, which callers treat as a
 * failure. */
int compilations_prove(const jmethodID *methods, size_t count, bool (*run)(void *context),
                       void *context)
{
    bool never = jvm_property_has("java.vm.info", "interpreted");
    int after = compilations_begin(methods, count) ? 0 : -1;
    for (int i = 0; i < ROUNDS && after >= 0 && after < COMPILATIONS_AFTER; i++) {
        if (!run(context))
            after = -1;
        else if (never || are_made())
            after++;
        else
            nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
    compilations_end();
    return after;
}
