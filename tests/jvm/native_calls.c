/* SPDX-License-Identifier: Apache-2.0 */
/* libnativecalls.so: the native methods of java-tests/facts/NativeCalls.java. */
#include <jni.h>

static void keep(JNIEnv *jni, jclass class, jobject made)
{
    jmethodID method = (*jni)->GetStaticMethodID(jni, class, "keep", "(Ljava/lang/Object;)V");
    (*jni)->CallStaticVoidMethod(jni, class, method, made);
    (*jni)->DeleteLocalRef(jni, made);
}

static void call_thrower(JNIEnv *jni, jclass class)
{
    jmethodID method = (*jni)->GetStaticMethodID(jni, class, "thrower", "()V");
    (*jni)->CallStaticVoidMethod(jni, class, method);
}

JNIEXPORT jint JNICALL Java_facts_NativeCalls_add(JNIEnv *jni, jclass class, jint a, jint b);
JNIEXPORT jint JNICALL Java_facts_NativeCalls_add(JNIEnv *jni, jclass class, jint a, jint b)
{
    (void) jni, (void) class;
    return a + b;
}

JNIEXPORT void JNICALL Java_facts_NativeCalls_calls(JNIEnv *jni, jobject self);
JNIEXPORT void JNICALL Java_facts_NativeCalls_calls(JNIEnv *jni, jobject self)
{
    jmethodID method = (*jni)->GetMethodID(jni, (*jni)->GetObjectClass(jni, self), "called", "()V");
    (*jni)->CallVoidMethod(jni, self, method);
    (*jni)->CallVoidMethod(jni, self, method);
}

JNIEXPORT void JNICALL Java_facts_NativeCalls_raises(JNIEnv *jni, jclass class, jclass failure);
JNIEXPORT void JNICALL Java_facts_NativeCalls_raises(JNIEnv *jni, jclass class, jclass failure)
{
    (void) class;
    jobject made = (*jni)->AllocObject(jni, failure);
    (*jni)->Throw(jni, made);
}

JNIEXPORT void JNICALL Java_facts_NativeCalls_passes(JNIEnv *jni, jclass class);
JNIEXPORT void JNICALL Java_facts_NativeCalls_passes(JNIEnv *jni, jclass class)
{
    call_thrower(jni, class);
}

JNIEXPORT jboolean JNICALL Java_facts_NativeCalls_catches(JNIEnv *jni, jclass class);
JNIEXPORT jboolean JNICALL Java_facts_NativeCalls_catches(JNIEnv *jni, jclass class)
{
    call_thrower(jni, class);
    jboolean caught = (*jni)->ExceptionCheck(jni);
    (*jni)->ExceptionClear(jni);
    return caught;
}

JNIEXPORT void JNICALL Java_facts_NativeCalls_makes(JNIEnv *jni, jclass class, jclass made,
                                                    jint count);
JNIEXPORT void JNICALL Java_facts_NativeCalls_makes(JNIEnv *jni, jclass class, jclass made,
                                                    jint count)
{
    jmethodID constructor = (*jni)->GetMethodID(jni, made, "<init>", "()V");
    for (jint i = 0; i < count; i++) {
        keep(jni, class, (*jni)->NewObject(jni, made, constructor));
        keep(jni, class, (*jni)->AllocObject(jni, made));
        keep(jni, class, (*jni)->NewObjectArray(jni, i, made, NULL));
    }
}

JNIEXPORT void JNICALL Java_facts_NativeCalls_arrays(JNIEnv *jni, jclass class, jint count);
JNIEXPORT void JNICALL Java_facts_NativeCalls_arrays(JNIEnv *jni, jclass class, jint count)
{
    for (jint i = 0; i < count; i++) {
        keep(jni, class, (*jni)->NewLongArray(jni, i));
        keep(jni, class, (*jni)->NewBooleanArray(jni, i));
        keep(jni, class, (*jni)->NewDoubleArray(jni, i));
        keep(jni, class, (*jni)->NewStringUTF(jni, "from C"));
    }
}
