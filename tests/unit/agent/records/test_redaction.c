/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in place of names. */
#include "agent/records/redaction.h"

#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"

struct tracer tracer; /* else that of the entry points */

/* A thread that the JVM does not know: nothing is known to be the JDK's. */
static jint JNICALL get_env(JavaVM *vm, void **env, jint version)
{
    (void) vm, (void) env, (void) version;
    return JNI_EDETACHED;
}

static const struct JNIInvokeInterface_ functions = {.GetEnv = get_env};
static JavaVM vm = &functions;

/* The vectors of the function's authors: key 00 to 0f, text 00, 01.. of that length. */
static void test_hash(void)
{
    static const struct {
        size_t length;
        uint64_t hash;
    } vectors[] = {{0, UINT64_C(0x726fdb47dd0e0e31)},
                   {1, UINT64_C(0x74f839c593dc67fd)},
                   {7, UINT64_C(0xab0200f58b01d137)},
                   {8, UINT64_C(0x93f5f5799a932462)},
                   {15, UINT64_C(0xa129ca6149be45e5)}};
    char text[16];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char) i;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        CU_ASSERT_EQUAL(redaction_hash(UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908),
                                       text, vectors[i].length),
                        vectors[i].hash);
}

static void test_names(void)
{
    char first[REDACTION_BYTES], again[REDACTION_BYTES], other[REDACTION_BYTES];
    redaction_name('t', "worker-1", first);
    redaction_name('t', "worker-1", again);
    redaction_name('t', "worker-2", other);
    CU_ASSERT_STRING_EQUAL(first, again);
    CU_ASSERT_STRING_NOT_EQUAL(first, other);
    CU_ASSERT_EQUAL(strlen(first), 13);
    CU_ASSERT_EQUAL(strspn(first + 1, "0123456789abcdef"), 12);
    CU_ASSERT_EQUAL(first[0], 't');
}

static void expect(const char *descriptor, const char *wanted)
{
    char *text = redaction_descriptor(descriptor);
    char *at = text;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (char *number; (number = strstr(at, "redacted/c")) != NULL;) {
        at = number + strlen("redacted/c");
        memset(at, '#', strspn(at, "0123456789abcdef"));
    }
    CU_ASSERT_STRING_EQUAL(text, wanted);
    free(text);
}

#define C "redacted/c############"

static void test_descriptors(void)
{
    tracer.vm = &vm;
    expect("", "");
    expect("(IJ[[Z)V", "(IJ[[Z)V");
    expect("LAccount;", "L" C ";");
    expect("(Lcom/acme/Account;I[[Lcom/acme/L;)Lcom/acme/Bank;", "(L" C ";I[[L" C ";)L" C ";");
    expect("Lcut", "L" C);
    expect("(Ljava/lang/String;Ljava/util/L;)Ljava/X;",
           "(Ljava/lang/String;Ljava/util/L;)Ljava/X;");
    expect("(Ljavax/A;Ljava;Ljava/;Ljdk/B;)Lsun/C;", "(L" C ";L" C ";L" C ";L" C ";)L" C ";");
    char *name = redaction_class("com/acme/Account"),
         *array = redaction_class("[Lcom/acme/Account;");
    CU_ASSERT_EQUAL(strncmp(name, "redacted/c", 10), 0);
    CU_ASSERT_EQUAL(strncmp(array + 2, name, strlen(name)), 0);
    free(name);
    free(array);
    name = redaction_class("[[I");
    CU_ASSERT_STRING_EQUAL(name, "[[I");
    free(name);
}

static void test_numbers(void)
{
    struct session *session = calloc(1, sizeof *session);
    session->number = 1;
    CU_ASSERT_FALSE(redaction_spares(session, 3));
    redaction_note_class(session, 3, true);
    redaction_note_class(session, 5000, true);
    redaction_note_class(session, 4, false);
    CU_ASSERT_TRUE(redaction_spares(session, 3) && redaction_spares(session, 5000));
    CU_ASSERT_FALSE(redaction_spares(session, 2) || redaction_spares(session, 4) ||
                    redaction_spares(session, 4999) || redaction_spares(session, 5001));
    session->number = 2;
    CU_ASSERT_FALSE(redaction_spares(session, 3));
    redaction_note_class(session, 4, true);
    CU_ASSERT_FALSE(redaction_spares(session, 3));
    free(session);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("redaction", NULL, NULL);
    CU_add_test(suite, "hash", test_hash);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "descriptors", test_descriptors);
    CU_add_test(suite, "numbers", test_numbers);
}
