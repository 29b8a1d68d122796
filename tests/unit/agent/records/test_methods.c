/* SPDX-License-Identifier: Apache-2.0 */
/* Threads look methods up while others give them their numbers of the next session. */
#include <CUnit/Basic.h>
#include <string.h>

#include "agent/records/methods.h"
#include "tests/unit/run_suite.h"

#define THREADS 3u
#define METHODS 64u
#define SESSIONS 200u

struct tracer tracer; /* else that of the entry points */

static struct session sessions[SESSIONS];
static pthread_barrier_t begun;

/* A JVM that has unloaded the classes of all methods. */
static jvmtiError JNICALL no_class(jvmtiEnv *jvmti, jmethodID method, jclass *class)
{
    (void) jvmti, (void) method, (void) class;
    return JVMTI_ERROR_INVALID_METHODID;
}

static void *look_up_all(void *wrong)
{
    for (unsigned i = 0; i < SESSIONS; i++) {
        pthread_barrier_wait(&begun);
        for (uintptr_t method = 1; method <= METHODS; method++) {
            const struct method_entry *entry =
                method_lookup(&sessions[i], (jmethodID) (method * 64));
            if (entry == NULL || !method_is_of(entry, &sessions[i]) || entry->id != 0)
                atomic_fetch_add((_Atomic unsigned *) wrong, 1);
        }
    }
    return NULL;
}

static void test_publication(void)
{
    struct jvmtiInterface_1_ functions;
    jvmtiEnv jvmti = &functions;
    _Atomic unsigned wrong = 0;
    pthread_t threads[THREADS];
    memset(&functions, 0, sizeof functions);
    functions.GetMethodDeclaringClass = no_class;
    tracer.jvmti = &jvmti;
    for (unsigned i = 0; i < SESSIONS; i++)
        sessions[i].number = i + 1;
    pthread_barrier_init(&begun, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, look_up_all, &wrong);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(atomic_load(&wrong), 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("methods", NULL, NULL);
    CU_add_test(suite, "publication", test_publication);
}
