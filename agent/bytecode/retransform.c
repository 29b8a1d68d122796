/* SPDX-License-Identifier: Apache-2.0 */
/* Selects loaded classes, and retransforms them in one call. */
#include "agent/bytecode/retransform.h"

#include <string.h>

#include "agent/stacks/stacks.h"

static bool passes(JNIEnv *jni, jclass class, class_test *test)
{
    char *signature = NULL;
    jobject loader = NULL;
    if ((*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) !=
        JVMTI_ERROR_NONE)
        return false;
    size_t length = strlen(signature);
    bool passed = false;
    if (length > 2 && signature[0] == 'L' &&
        (*tracer.jvmti)->GetClassLoader(tracer.jvmti, class, &loader) == JVMTI_ERROR_NONE) {
        signature[length - 1] = '\0';
        passed = test(jni, loader, signature + 1);
        (*jni)->DeleteLocalRef(jni, loader);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) signature);
    return passed;
}

/* Moves the classes that can be retransformed and pass the test to the front. */
static jint choose(JNIEnv *jni, jclass *classes, jint count, class_test *test,
                   class_refused *refused)
{
    jint chosen = 0;
    for (jint i = 0; i < count; i++) {
        jboolean modifiable = JNI_FALSE;
        (*tracer.jvmti)->IsModifiableClass(tracer.jvmti, classes[i], &modifiable);
        bool wanted = passes(jni, classes[i], test);
        if (wanted && !modifiable)
            refused(classes[i], JVMTI_ERROR_UNMODIFIABLE_CLASS);
        if (wanted && modifiable)
            classes[chosen++] = classes[i];
        else
            (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    return chosen;
}

/* One class that the JVM refuses makes the whole call fail: then each half is retransformed
 * alone. */
void retransform(const jclass *classes, jint count, class_refused *refused)
{
    if (count == 0)
        return;
    stacks_methods_change();
    jvmtiError code = (*tracer.jvmti)->RetransformClasses(tracer.jvmti, count, classes);
    stacks_methods_change();
    if (code != JVMTI_ERROR_NONE && count == 1)
        refused(classes[0], code);
    if (code == JVMTI_ERROR_NONE || count == 1)
        return;
    retransform(classes, count / 2, refused);
    retransform(classes + count / 2, count - count / 2, refused);
}

void retransform_loaded(JNIEnv *jni, class_test *test, class_refused *refused)
{
    jint count = 0;
    jclass *classes = NULL;
    if ((*tracer.jvmti)->GetLoadedClasses(tracer.jvmti, &count, &classes) != JVMTI_ERROR_NONE)
        return;
    count = choose(jni, classes, count, test, refused);
    retransform(classes, count, refused);
    for (jint i = 0; i < count; i++)
        (*jni)->DeleteLocalRef(jni, classes[i]);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) classes);
}
