/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a session's engine. engine=bytecode has to prove that the JDK's own classes accept its
 * probes: without them a trace misses nearly everything, and nothing in it would show that. */
#include "agent/session/session.h"

#include "agent/base/java_versions.h"
#include "agent/base/option_values.h"
#include "agent/bytecode/engine_bytecode.h"
#include "agent/hotspot/vm_structs.h"
#include "capture/log.h"

const struct engine *engine_of_options(const struct options *options)
{
    static const struct engine *const engines[] = {[ENGINE_JVMTI] = &engine_jvmti,
                                                   [ENGINE_BYTECODE] = &engine_bytecode,
                                                   [ENGINE_SAMPLED] = &engine_sampled,
                                                   [ENGINE_WALK] = &engine_walk};
    return engines[options->engine];
}

void engine_choice_prepare(const struct options *options)
{
    if (options->engine == ENGINE_BYTECODE && tracer.java_major > JAVA_NEWEST_TESTED &&
        (options->events & TRACED_ALLOC) != 0 && option_rules_allow_jvmti(options))
        engine_reserve(&engine_jvmti, TRACED_ALLOC);
}

void engine_choice_apply(struct session *session)
{
    const struct options *options = &session->options;
    bool is_bytecode = options->engine == ENGINE_BYTECODE;
    session->engine = engine_of_options(options);
    session->names_objects = is_bytecode &&
                             (~options->events & (TRACED_ALLOC | TRACED_METHOD)) == 0 &&
                             options->method != METHOD_COUNT;
    session->finds_objects = session->names_objects || (options->events & TRACED_REFERENCE) != 0;
    session->keeps_references =
        session->finds_objects || (is_bytecode && (options->events & TRACED_FREE) != 0);
}

/* Changes the engine before anything of the session has been written. The callbacks are set
 * already, as the table has those of all engines. A thread draws the distance to its first sample
 * when it is created, so threads that exist have drawn it with the JVM's interval of 512 KiB; the
 * calling thread allocates until that distance is used up (engine_jvmti_advance()), the others lose
 * up to that much. */
static bool fall_back(struct session *session, JNIEnv *jni, const char *reason)
{
    session->options.engine = ENGINE_JVMTI;
    log_message("engine=bytecode: %s; this trace is made with engine=jvmti", reason);
    static const jvmtiEventCallbacks set_already;
    if (!engine_prepare(&engine_jvmti, session->options.events, &set_already))
        return false;
    session->options.events &= tracer.capable;
    if ((session->options.events & TRACED_ALLOC) != 0)
        engine_jvmti_advance(jni);
    session->fallback = reason;
    engine_choice_apply(session);
    return true;
}

/* Objects are found again by weak references, tags and comparisons. An object of a value class has
 * no identity, and JNI creates no weak reference to it. */
static bool objects_can_be_found(const struct session *session)
{
    if (!session->finds_objects || tracer.java_major < JAVA_VALUE_CLASSES ||
        !vm_argument_given("--enable-preview"))
        return true;
    log_message("this JVM has value classes (--enable-preview), whose objects have no identity: "
                "references, and methods together with allocations, cannot be traced");
    return false;
}

/* JVMTI reports no allocations of value objects, and Integer is a value class with
 * --enable-preview. Probes and walks of eden find them. */
static bool objects_are_reported(struct session *session)
{
    static const char reason[] = "with value classes (--enable-preview), only engine=bytecode "
                                 "and engine=walk have their objects";
    bool finds_all =
        session->options.engine == ENGINE_BYTECODE || session->options.engine == ENGINE_WALK;
    if (finds_all || tracer.java_major < JAVA_VALUE_CLASSES ||
        (session->options.events & TRACED_ALLOC) == 0 || !vm_argument_given("--enable-preview"))
        return true;
    log_message("%s%s", reason, session->options.required ? "" : "; the trace is incomplete");
    session->incomplete = reason;
    return !session->options.required;
}

static bool engine_works(struct session *session, JNIEnv *jni)
{
    const struct engine *engine = session->engine;
    if (engine->prove == NULL || session->incomplete != NULL)
        return true;
    const char *reason = engine->prove(jni, session);
    if (reason == NULL)
        return true;
    if (session->options.engine == ENGINE_WALK) {
        log_message("engine=walk: %s: no trace is made", reason);
        return false;
    }
    if (option_rules_allow_jvmti(&session->options))
        return fall_back(session, jni, reason);
    if (session->options.required) {
        log_message("engine=bytecode: %s", reason);
        return false;
    }
    log_message("engine=bytecode: %s; the trace is incomplete", reason);
    session->incomplete = reason;
    return true;
}

bool engine_choice_settle(struct session *session, JNIEnv *jni)
{
    return objects_can_be_found(session) && engine_works(session, jni) &&
           objects_are_reported(session);
}
