/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the JVM about classes. */
#include "agent/base/jvm_classes.h"

#include <string.h>

#include "agent/base/tracer.h"

#define ACCESS_STATIC 0x0008

void jvm_free(void *memory)
{
    (*tracer.jvmti)->Deallocate(tracer.jvmti, memory);
}

char *class_signature(jclass class)
{
    char *signature = NULL;
    return (*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) ==
                   JVMTI_ERROR_NONE
               ? signature
               : NULL;
}

bool class_passes(jclass class, bool (*test)(const char *signature))
{
    char *signature = class_signature(class);
    bool passes = signature != NULL && test(signature);
    jvm_free(signature);
    return passes;
}

bool method_owner_passes(JNIEnv *jni, jmethodID method, bool (*test)(const char *signature))
{
    jclass owner = NULL;
    bool passes = (*tracer.jvmti)->GetMethodDeclaringClass(tracer.jvmti, method, &owner) ==
                      JVMTI_ERROR_NONE &&
                  class_passes(owner, test);
    (*jni)->DeleteLocalRef(jni, owner);
    return passes;
}

static bool describe(jclass class, struct class_field *field)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    if ((*jvmti)->GetFieldName(jvmti, class, field->id, &field->name, &field->descriptor, NULL) !=
            JVMTI_ERROR_NONE ||
        (*jvmti)->GetFieldModifiers(jvmti, class, field->id, &field->modifiers) != JVMTI_ERROR_NONE)
        return false;
    field->is_static = (field->modifiers & ACCESS_STATIC) != 0;
    field->is_reference = field->descriptor[0] == 'L' || field->descriptor[0] == '[';
    return true;
}

bool class_each_field(jclass class, class_field_visitor *visit, void *context)
{
    jint count = 0;
    jfieldID *fields = NULL;
    if ((*tracer.jvmti)->GetClassFields(tracer.jvmti, class, &count, &fields) != JVMTI_ERROR_NONE)
        return false;
    bool all = true, goes_on = true;
    for (jint i = 0; i < count && goes_on; i++) {
        struct class_field field = {.id = fields[i]};
        bool known = describe(class, &field);
        goes_on = !known || visit(context, class, &field);
        all = all && known && goes_on;
        jvm_free(field.name);
        jvm_free(field.descriptor);
    }
    jvm_free(fields);
    return all;
}

void heap_each_object(jint filter, jclass class, jvmtiHeapIterationCallback callback, void *context)
{
    jvmtiHeapCallbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.heap_iteration_callback = callback;
    (*tracer.jvmti)->IterateThroughHeap(tracer.jvmti, filter, class, &callbacks, context);
}
