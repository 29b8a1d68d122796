/* SPDX-License-Identifier: Apache-2.0 */
/* libstormnatives.so: the native methods of storm.Natives. */
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ATTACHED_MOST = 64, DESCRIPTORS = 4096 };

static JavaVM *machine;
static jclass natives;
static jmethodID call;

/* Ends attached.  As a daemon, lest the JVM wait at its end for a thread that is no more. */
static void *attach_and_end(void *argument)
{
    JNIEnv *jni;
    if ((*machine)->AttachCurrentThreadAsDaemon(machine, (void **) &jni, NULL) != JNI_OK)
        return NULL;
    (*jni)->CallStaticVoidMethod(jni, natives, call, (jint) (intptr_t) argument);
    return NULL;
}

JNIEXPORT void JNICALL Java_storm_Natives_attachThreads(JNIEnv *jni, jclass class, jint count);
JNIEXPORT void JNICALL Java_storm_Natives_attachThreads(JNIEnv *jni, jclass class, jint count)
{
    pthread_t threads[ATTACHED_MOST];
    int started = 0;
    (*jni)->GetJavaVM(jni, &machine);
    natives = (*jni)->NewGlobalRef(jni, class);
    call = (*jni)->GetStaticMethodID(jni, class, "call", "(I)V");
    while (started < count && started < ATTACHED_MOST &&
           pthread_create(&threads[started], NULL, attach_and_end, (void *) (intptr_t) started) ==
               0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* Uses memory and descriptors as a program would, and ends in one of three ways. */
static void live_as_child(int how)
{
    for (int i = 0; i < 1000; i++) {
        char *block = malloc(1000);
        if (block != NULL)
            memset(block, i, 1000);
        free(block);
    }
    if (how == 1)
        abort();
    if (how == 2)
        for (int i = 3; i < DESCRIPTORS; i++)
            close(i);
    _exit(40 + how);
}

JNIEXPORT jint JNICALL Java_storm_Natives_forkChild(JNIEnv *jni, jclass class, jint how);
JNIEXPORT jint JNICALL Java_storm_Natives_forkChild(JNIEnv *jni, jclass class, jint how)
{
    (void) jni, (void) class;
    pid_t child = fork();
    if (child == 0) {
        /* The JVM's handler would write a report of the crash; abort() is not its affair here. */
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGABRT, SIG_DFL);
        live_as_child(how);
    }
    int status = -1;
    return child < 0 || waitpid(child, &status, 0) < 0 ? -1 : status & 0xff7f;
}

/* The classes of the JDK: without that file the JVM itself crashes. */
static bool is_image(int descriptor)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    return strstr(path, "/lib/modules") != NULL;
}

JNIEXPORT void JNICALL Java_storm_Natives_closeAll(JNIEnv *jni, jclass class, jint first);
JNIEXPORT void JNICALL Java_storm_Natives_closeAll(JNIEnv *jni, jclass class, jint first)
{
    (void) jni, (void) class;
    for (int i = first; i < DESCRIPTORS; i++)
        if (!is_image(i))
            close(i);
}
