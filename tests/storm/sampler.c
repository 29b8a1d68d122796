/* SPDX-License-Identifier: Apache-2.0 */
/* libstormsampler.so: an agent that samples as profilers do: a timer's SIGPROF, in whose handler
 * the interrupted thread's stack is taken by AsyncGetCallTrace. */
#include <dlfcn.h>
#include <errno.h>
#include <jvmti.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

enum { FRAMES = 128, MICROSECONDS = 1000 };

struct call_frame {
    jint line;
    jmethodID method;
};

struct call_trace {
    JNIEnv *jni;
    jint frame_count;
    struct call_frame *frames;
};

static JavaVM *machine;
static void (*get_call_trace)(struct call_trace *trace, jint depth, void *context);
static atomic_long samples;

static void take_sample(int number, siginfo_t *info, void *context)
{
    (void) number, (void) info;
    int saved = errno;
    struct call_frame frames[FRAMES];
    struct call_trace trace = {.frames = frames};
    if ((*machine)->GetEnv(machine, (void **) &trace.jni, JNI_VERSION_1_6) == JNI_OK)
        get_call_trace(&trace, FRAMES, context);
    atomic_fetch_add(&samples, 1);
    errno = saved;
}

static void JNICALL class_load(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    (void) jvmti, (void) jni, (void) thread, (void) class;
}

/* AsyncGetCallTrace gives only methods that have their ids. */
static void JNICALL class_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass class)
{
    jint count;
    jmethodID *methods;
    (void) jni, (void) thread;
    if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE)
        (*jvmti)->Deallocate(jvmti, (unsigned char *) methods);
}

static void JNICALL start_sampling(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
    (void) jvmti, (void) jni, (void) thread;
    struct sigaction action = {.sa_sigaction = take_sample, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    struct itimerval timer = {.it_interval = {0, MICROSECONDS}, .it_value = {0, MICROSECONDS}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void JNICALL stop_sampling(jvmtiEnv *jvmti, JNIEnv *jni)
{
    (void) jvmti, (void) jni;
    struct itimerval timer = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
    jvmtiEnv *jvmti;
    (void) options, (void) reserved;
    machine = vm;
    void *found = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
    memcpy(&get_call_trace, &found, sizeof found);
    if (found == NULL || (*vm)->GetEnv(vm, (void **) &jvmti, JVMTI_VERSION_11) != JNI_OK)
        return JNI_ERR;
    jvmtiEventCallbacks callbacks = {.ClassLoad = class_load,
                                     .ClassPrepare = class_prepare,
                                     .VMInit = start_sampling,
                                     .VMDeath = stop_sampling};
    (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint) sizeof callbacks);
    static const jvmtiEvent events[] = {JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE,
                                        JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
    return JNI_OK;
}
