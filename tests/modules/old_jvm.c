/* SPDX-License-Identifier: Apache-2.0 */
/* old_jvm AGENT OPTIONS JAVA: loads the agent as a JVM of that version would, one too old to be
 * traced, and prints what the agent answered: 0 (the program runs) or -1. */
#include <dlfcn.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *java_version;

static jvmtiError JNICALL get_property(jvmtiEnv *jvmti, const char *name, char **value)
{
    (void) jvmti;
    if (strcmp(name, "java.vm.specification.version") != 0)
        return JVMTI_ERROR_NOT_AVAILABLE;
    *value = strdup(java_version);
    return *value != NULL ? JVMTI_ERROR_NONE : JVMTI_ERROR_OUT_OF_MEMORY;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *jvmti, unsigned char *memory)
{
    (void) jvmti;
    free(memory);
    return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ jvmti_functions = {.GetSystemProperty = get_property,
                                                         .Deallocate = deallocate};
static jvmtiEnv jvmti_environment = &jvmti_functions;

/* Before Java 11 there is no JVMTI 11. */
static jint JNICALL get_environment(JavaVM *vm, void **environment, jint version)
{
    (void) vm;
    if (version == JVMTI_VERSION_11 && atoi(java_version) < 11)
        return JNI_EVERSION;
    *environment = &jvmti_environment;
    return JNI_OK;
}

int main(int argc, char **argv)
{
    const struct JNIInvokeInterface_ functions = {.GetEnv = get_environment};
    JavaVM vm = &functions;
    if (argc != 4)
        return 2;
    java_version = argv[3];
    void *agent = dlopen(argv[1], RTLD_NOW);
    jint(JNICALL * load)(JavaVM *, char *, void *) =
        agent != NULL ? (jint(JNICALL *)(JavaVM *, char *, void *)) dlsym(agent, "Agent_OnLoad")
                      : NULL;
    if (load == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("%d\n", (int) load(&vm, argv[2], NULL));
    return 0;
}
