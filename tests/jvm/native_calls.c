/* SPDX-License-Identifier: Apache-2.0 */
/* libnativecalls.so: the native methods of java-tests/facts/NativeCalls.java, NativeStores.java,
 * PendingExceptions.java, NativeRounds.java, Suspended.java, Daemon.java and ForkedWriters.java. */
#include <fcntl.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

JNIEXPORT jobjectArray JNICALL Java_facts_NativeStores_stores(JNIEnv *jni, jclass class,
                                                              jobject holder, jobjectArray array,
                                                              jobject a, jobject b);
JNIEXPORT jobjectArray JNICALL Java_facts_NativeStores_stores(JNIEnv *jni, jclass class,
                                                              jobject holder, jobjectArray array,
                                                              jobject a, jobject b)
{
    const char *type = "Lfacts/NativeStores$Node;";
    jclass sub = (*jni)->GetObjectClass(jni, holder), node = (*jni)->GetSuperclass(jni, sub);
    jfieldID next = (*jni)->GetFieldID(jni, sub, "next", type);
    jfieldID own = (*jni)->GetFieldID(jni, sub, "own", type);
    jfieldID first = (*jni)->GetStaticFieldID(jni, node, "first", type);
    (void) class;
    (*jni)->SetObjectField(jni, holder, next, a);
    (*jni)->SetObjectField(jni, holder, own, b);
    (*jni)->SetObjectField(jni, holder, next, NULL);
    (*jni)->SetStaticObjectField(jni, node, first, b);
    (*jni)->SetStaticObjectField(jni, sub, first, a);
    (*jni)->SetObjectArrayElement(jni, array, 1, a);
    (*jni)->SetObjectArrayElement(jni, array, 99, a);
    (*jni)->ExceptionClear(jni);
    (*jni)->SetObjectArrayElement(jni, array, 2, NULL);
    return (*jni)->NewObjectArray(jni, 2, node, b);
}

JNIEXPORT jobject JNICALL Java_facts_PendingExceptions_make(JNIEnv *jni, jclass class, jclass made);
JNIEXPORT jobject JNICALL Java_facts_PendingExceptions_make(JNIEnv *jni, jclass class, jclass made)
{
    jmethodID constructor = (*jni)->GetMethodID(jni, made, "<init>", "()V");
    (void) class;
    return constructor != NULL ? (*jni)->NewObject(jni, made, constructor) : NULL;
}

static void throw_own(JNIEnv *jni)
{
    jclass class = (*jni)->FindClass(jni, "java/lang/IllegalStateException");
    if (class != NULL)
        (*jni)->ThrowNew(jni, class, "the program's");
}

JNIEXPORT void JNICALL Java_facts_PendingExceptions_stores(JNIEnv *jni, jclass class,
                                                           jobject holder, jobjectArray array);
JNIEXPORT void JNICALL Java_facts_PendingExceptions_stores(JNIEnv *jni, jclass class,
                                                           jobject holder, jobjectArray array)
{
    const char *type = "Ljava/lang/Object;";
    jclass type_of_holder = (*jni)->GetObjectClass(jni, holder);
    jfieldID field = (*jni)->GetFieldID(jni, type_of_holder, "field", type);
    jfieldID shared = (*jni)->GetStaticFieldID(jni, type_of_holder, "shared", type);
    (void) class;
    throw_own(jni);
    (*jni)->SetObjectField(jni, holder, field, holder);
    (*jni)->SetStaticObjectField(jni, type_of_holder, shared, holder);
    (*jni)->SetObjectArrayElement(jni, array, 0, holder);
}

JNIEXPORT jobject JNICALL Java_facts_PendingExceptions_allocates(JNIEnv *jni, jclass class,
                                                                 jclass made);
JNIEXPORT jobject JNICALL Java_facts_PendingExceptions_allocates(JNIEnv *jni, jclass class,
                                                                 jclass made)
{
    (void) class;
    throw_own(jni);
    jobject object = (*jni)->AllocObject(jni, made);
    (*jni)->NewByteArray(jni, 1);
    return object;
}

JNIEXPORT jint JNICALL Java_facts_NativeRounds_makes(JNIEnv *jni, jclass class, jclass made,
                                                     jint count);
JNIEXPORT jint JNICALL Java_facts_NativeRounds_makes(JNIEnv *jni, jclass class, jclass made,
                                                     jint count)
{
    jint done = 0;
    (void) class;
    for (jint i = 0; i < count; i++) {
        jobject object = (*jni)->AllocObject(jni, made), bytes = (*jni)->NewByteArray(jni, 1);
        done += object != NULL && bytes != NULL;
        (*jni)->DeleteLocalRef(jni, bytes);
        (*jni)->DeleteLocalRef(jni, object);
    }
    return done;
}

/* As a debugger does it. */
static jvmtiEnv *suspender(JNIEnv *jni)
{
    static jvmtiEnv *jvmti;
    JavaVM *vm;
    jvmtiCapabilities wanted;
    if (jvmti != NULL || (*jni)->GetJavaVM(jni, &vm) != JNI_OK ||
        (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11) != JNI_OK)
        return jvmti;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_suspend = 1;
    (*jvmti)->AddCapabilities(jvmti, &wanted);
    return jvmti;
}

JNIEXPORT jboolean JNICALL Java_facts_Suspended_suspend(JNIEnv *jni, jclass class, jobject thread);
JNIEXPORT jboolean JNICALL Java_facts_Suspended_suspend(JNIEnv *jni, jclass class, jobject thread)
{
    jvmtiEnv *jvmti = suspender(jni);
    (void) class;
    return jvmti != NULL && (*jvmti)->SuspendThread(jvmti, thread) == JVMTI_ERROR_NONE;
}

/* Finds also agents' threads, which Java does not show. */
static jthread thread_named(jvmtiEnv *jvmti, const char *name)
{
    jint count = 0;
    jthread *threads = NULL, found = NULL;
    if ((*jvmti)->GetAllThreads(jvmti, &count, &threads) != JVMTI_ERROR_NONE)
        return NULL;
    for (jint i = 0; i < count && found == NULL; i++) {
        jvmtiThreadInfo info;
        if ((*jvmti)->GetThreadInfo(jvmti, threads[i], &info) != JVMTI_ERROR_NONE)
            continue;
        if (strcmp(info.name, name) == 0)
            found = threads[i];
        (*jvmti)->Deallocate(jvmti, (unsigned char *) info.name);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *) threads);
    return found;
}

JNIEXPORT jboolean JNICALL Java_facts_Suspended_suspendNamed(JNIEnv *jni, jclass class,
                                                             jstring name);
JNIEXPORT jboolean JNICALL Java_facts_Suspended_suspendNamed(JNIEnv *jni, jclass class,
                                                             jstring name)
{
    const char *text = (*jni)->GetStringUTFChars(jni, name, NULL);
    jvmtiEnv *jvmti = suspender(jni);
    jthread thread = jvmti != NULL ? thread_named(jvmti, text) : NULL;
    (void) class;
    (*jni)->ReleaseStringUTFChars(jni, name, text);
    return thread != NULL && (*jvmti)->SuspendThread(jvmti, thread) == JVMTI_ERROR_NONE;
}

JNIEXPORT jboolean JNICALL Java_facts_Suspended_resume(JNIEnv *jni, jclass class, jobject thread);
JNIEXPORT jboolean JNICALL Java_facts_Suspended_resume(JNIEnv *jni, jclass class, jobject thread)
{
    jvmtiEnv *jvmti = suspender(jni);
    (void) class;
    return jvmti != NULL && (*jvmti)->ResumeThread(jvmti, thread) == JVMTI_ERROR_NONE;
}

#define OWN_TEXT "the program's\n"
#define DESCRIPTORS 1024

/* Opens PREFIX.i, and says whether that was done. */
static int open_own(JNIEnv *jni, jstring prefix, jint i, int flags)
{
    char path[4096];
    const char *start = (*jni)->GetStringUTFChars(jni, prefix, NULL);
    snprintf(path, sizeof path, "%s.%d", start, (int) i);
    (*jni)->ReleaseStringUTFChars(jni, prefix, start);
    return open(path, flags, 0666);
}

/* The JDK's classes, lib/modules. */
static bool is_image(int descriptor)
{
    static const char name[] = "/modules";
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path);
    size_t end = sizeof name - 1;
    return length > (ssize_t) end && memcmp(path + length - end, name, end) == 0;
}

JNIEXPORT jboolean JNICALL Java_facts_Daemon_closeAndOpen(JNIEnv *jni, jclass class, jstring prefix,
                                                          jint count);
JNIEXPORT jboolean JNICALL Java_facts_Daemon_closeAndOpen(JNIEnv *jni, jclass class, jstring prefix,
                                                          jint count)
{
    jboolean done = JNI_TRUE;
    (void) class;
    for (int i = 3; i < DESCRIPTORS; i++)
        if (getenv("FACTS_KEEP_IMAGE") == NULL || !is_image(i))
            close(i);
    for (jint i = 0; i < count; i++) {
        int file = open_own(jni, prefix, i, O_RDWR | O_CREAT | O_TRUNC);
        if (file < 0 || write(file, OWN_TEXT, strlen(OWN_TEXT)) < 0)
            done = JNI_FALSE;
    }
    return done;
}

JNIEXPORT jboolean JNICALL Java_facts_Daemon_areUntouched(JNIEnv *jni, jclass class, jstring prefix,
                                                          jint count);
JNIEXPORT jboolean JNICALL Java_facts_Daemon_areUntouched(JNIEnv *jni, jclass class, jstring prefix,
                                                          jint count)
{
    jboolean untouched = JNI_TRUE;
    (void) class;
    for (jint i = 0; i < count; i++) {
        int file = open_own(jni, prefix, i, O_RDONLY);
        struct stat now;
        if (file < 0 || fstat(file, &now) != 0 || now.st_size != (off_t) strlen(OWN_TEXT))
            untouched = JNI_FALSE;
        close(file);
    }
    return untouched;
}

JNIEXPORT jboolean JNICALL Java_facts_ForkedWriters_forkIsChild(JNIEnv *jni, jclass class);
JNIEXPORT jboolean JNICALL Java_facts_ForkedWriters_forkIsChild(JNIEnv *jni, jclass class)
{
    static const char waiting[] = "waiting\n";
    (void) jni, (void) class;
    pid_t child = fork();
    if (child == 0)
        return JNI_TRUE;
    waitpid(child, NULL, 0);
    while (write(STDOUT_FILENO, waiting, sizeof waiting - 1) > 0)
        pause();
    return JNI_FALSE;
}

JNIEXPORT void JNICALL Java_facts_ForkedWriters_exitNow(JNIEnv *jni, jclass class);
JNIEXPORT void JNICALL Java_facts_ForkedWriters_exitNow(JNIEnv *jni, jclass class)
{
    (void) jni, (void) class;
    _exit(0);
}
