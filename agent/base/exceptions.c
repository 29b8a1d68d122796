/* SPDX-License-Identifier: Apache-2.0 */
/* Sets pending exceptions aside while the agent calls JNI, and clears the agent's own. */
#include "agent/base/exceptions.h"

#include <string.h>

#include "agent/base/tracer.h"

jthrowable exception_set_aside(JNIEnv *jni)
{
    if (!(*jni)->ExceptionCheck(jni))
        return NULL;
    jthrowable of_program = (*jni)->ExceptionOccurred(jni);
    (*jni)->ExceptionClear(jni);
    return of_program;
}

/* A class, from which source on it is thrown: a later one throws what an earlier one does. */
static const struct {
    const char *class;
    enum exception_source source;
} thrown[] = {
    {"Ljava/lang/OutOfMemoryError;", THROWN_BY_ALLOCATION},
    {"Ljava/lang/InstantiationException;", THROWN_BY_ALLOCATION},
    {"Ljava/lang/LinkageError;", THROWN_BY_LOOKUP},
    {"Ljava/lang/ClassNotFoundException;", THROWN_BY_LOOKUP},
    {"Ljava/lang/StackOverflowError;", THROWN_BY_LOOKUP},
    {"Ljava/lang/SecurityException;", THROWN_BY_JAVA},
};

static bool throws_class(enum exception_source source, jclass class)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    char *signature = NULL;
    bool found = false;
    if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) != JVMTI_ERROR_NONE)
        return false;
    for (size_t i = 0; i < sizeof thrown / sizeof thrown[0]; i++)
        found = found || (thrown[i].source <= source && strcmp(signature, thrown[i].class) == 0);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) signature);
    return found;
}

/* Tests the exception's class and those above it, by their signatures. None of these calls throws,
 * and none loads a class: looking up java.lang.OutOfMemoryError by name could itself fail for lack
 * of memory. */
static bool is_thrown_by(JNIEnv *jni, enum exception_source source, jthrowable exception)
{
    bool found = false;
    jclass class = (*jni)->GetObjectClass(jni, exception);
    while (class != NULL && !found) {
        found = throws_class(source, class);
        jclass super = (*jni)->GetSuperclass(jni, class);
        (*jni)->DeleteLocalRef(jni, class);
        class = super;
    }
    (*jni)->DeleteLocalRef(jni, class);
    return found;
}

static void make_pending(JNIEnv *jni, jthrowable exception)
{
    if (exception == NULL)
        return;
    (*jni)->Throw(jni, exception);
    (*jni)->DeleteLocalRef(jni, exception);
}

/* Three exceptions may meet here, and the program must end up with the one that it would have
 * without the agent:
 *
 * - The agent's own is cleared. That needs two signs: a call has reported its failure by its
 *   result, and its class is one that such a call throws. One sign is not enough. A pending
 *   exception after a successful call is not the call's; and a call that failed for another reason
 *   may find an asynchronous one pending.
 * - One that arrived from another thread during the group stays pending. It has no other carrier:
 *   cleared, nobody would throw it again.
 * - That of the program, set aside before, is thrown again only if nothing is pending, because
 *   Throw() with a pending exception is not allowed, and the later one is what the program would
 *   see.
 *
 * The check comes first in any case: -Xcheck:jni warns of a call of Java after which nobody has
 * asked for an exception. */
void exception_restore(JNIEnv *jni, jthrowable of_program, bool failed,
                       enum exception_source source)
{
    bool pending = (*jni)->ExceptionCheck(jni); /* -Xcheck:jni wants it after a call of Java */
    jthrowable own = failed && pending ? exception_set_aside(jni) : NULL;
    if (own != NULL && !is_thrown_by(jni, source, own))
        make_pending(jni, own); /* it is not the agent's */
    else
        (*jni)->DeleteLocalRef(jni, own);
    if (of_program != NULL && (*jni)->ExceptionCheck(jni))
        (*jni)->DeleteLocalRef(jni, of_program);
    else
        make_pending(jni, of_program);
}
