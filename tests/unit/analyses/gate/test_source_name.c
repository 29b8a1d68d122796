/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes in snapshots, as docs/gates.md describes them. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "analyses/gate/source_name.h"
#include "tests/unit/run_suite.h"

static void check(const char *name, const char *wanted)
{
    char *found = source_name_of(step_text(name));
    CU_ASSERT_STRING_EQUAL(found, wanted);
    free(found);
}

static void test_arrays(void)
{
    check("java/lang/String", "java.lang.String");
    check("[B", "byte[]");
    check("[[Z", "boolean[][]");
    check("[[Ljava/util/Map$Entry;", "java.util.Map$Entry[][]");
    check("I", "I");
    check("[", "[]");
    check("[L;", "[]");
    check("[L", "L[]");
    check("", "");
}

static void test_runs(void)
{
    check("a/B$$Lambda$14/0x00007f03c0000a28", "a.B$$Lambda");
    check("[La/B$$Lambda/0x7f;", "a.B$$Lambda[]");
    check("java/lang/invoke/LambdaForm$MH/0x00007f", "java.lang.invoke.LambdaForm$MH");
    check("a/B.0xff/C", "a.B.C");
    check("a/B.0xg", "a.B.0xg");
    check("a/B.0x", "a.B.0x");
    check("a/\033\n\xff", "a.\\x1b\\x0a\\xff");
}

static void test_twins(void)
{
    check("a/B (loader 3)", "a.B");
    check("[La/B; (loader 12)", "a.B[]");
    check("[[La/B; (class 7)", "a.B[][]");
    check("a/B$$Lambda$14/0x00007f03c0000a28 (loader 3)", "a.B$$Lambda");
    check("a/B (loader )", "a.B (loader )");
    check("a/B (loader 3", "a.B (loader 3");
    check("a/B (loader x3)", "a.B (loader x3)");
    check("a/B (loader 3)C", "a.B (loader 3)C");
    check("a/B(loader 3)", "a.B(loader 3)");
    check("3)", "3)");
    check(" (class 3)", "");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("source names", NULL, NULL);
    CU_add_test(suite, "arrays", test_arrays);
    CU_add_test(suite, "what varies from run to run", test_runs);
    CU_add_test(suite, "classes that share a name", test_twins);
}
