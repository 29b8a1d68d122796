/* SPDX-License-Identifier: Apache-2.0 */
/* Names that stay from run to run, and the middle of runs. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "converter/statistics/measures.h"
#include "tests/unit/run_suite.h"

static bool is(size_t (*of)(struct step_bytes, char *, size_t), const char *name,
               const char *wanted)
{
    char out[LASTING_NAME_MOST];
    size_t length = of((struct step_bytes){(const uint8_t *) name, strlen(name)}, out, sizeof out);
    return length == strlen(wanted) && memcmp(out, wanted, length) == 0;
}

static void test_classes(void)
{
    static const char *const pairs[][2] = {
        {"java/lang/String", "java/lang/String"},
        {"[[I", "[[I"},
        {"", ""},
        {"Shop$$Lambda$6.0x00007ffb99001a28", "Shop$$Lambda"},
        {"Shop$$Lambda.0x00007ffb99001a28", "Shop$$Lambda"},
        {"Shop$$Lambda/0x00007ffb99001a28", "Shop$$Lambda"},
        {"Shop$$Lambda$14/123456", "Shop$$Lambda"},
        {"[LShop$$Lambda$6.0x7f00;", "[LShop$$Lambda;"},
        {"java/lang/invoke/LambdaForm$MH.0x00007f12", "java/lang/invoke/LambdaForm$MH"},
        {"A+0xabc", "A"},
        {"$Proxy12", "$Proxy#"},
        {"jdk/proxy2/$Proxy12", "jdk/proxy#/$Proxy#"},
        {"$Proxy", "$Proxy"},
        {"jdk/internal/reflect/GeneratedMethodAccessor7",
         "jdk/internal/reflect/GeneratedMethodAccessor#"},
        {"A$$EnhancerBySpringCGLIB$$1f2e", "A$$EnhancerBySpringCGLIB$$#"},
        {"A$MockitoMock$1812", "A$MockitoMock$#"},
        {"A$1", "A$1"},
        {"a/B0x12", "a/B0x12"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        CU_ASSERT_TRUE(is(lasting_class_name, pairs[i][0], pairs[i][1]));
    char small[4];
    CU_ASSERT_EQUAL(lasting_class_name((struct step_bytes){(const uint8_t *) "$Proxy12", 8}, small,
                                       sizeof small),
                    4);
}

static void test_threads(void)
{
    CU_ASSERT_TRUE(is(lasting_thread_name, "pool-12-thread-3", "pool-#-thread-#"));
    CU_ASSERT_TRUE(is(lasting_thread_name, "main", "main"));
    CU_ASSERT_TRUE(is(lasting_thread_name, "7", "#"));
}

static void test_middle(void)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 2, 3};
    struct measured none = measured_of(NULL, 0);
    struct measured three = measured_of(odd, 3);
    struct measured four = measured_of(even, 4);
    CU_ASSERT_EQUAL(none.runs, 0);
    CU_ASSERT_TRUE(three.median == 2 && three.least == 1 && three.most == 3);
    CU_ASSERT_TRUE(four.median == 2.5 && four.most == 4);
}

/* Rows beyond the first room that there is keep their sums. */
static void test_rows(void)
{
    struct measures measures;
    char name[16];
    CU_ASSERT_TRUE_FATAL(measures_init(&measures, 2));
    for (uint32_t i = 1; i <= 1000; i++) {
        int length = snprintf(name, sizeof name, "c%u", i);
        uint32_t row = measures_row(&measures, AXIS_CLASS, 0,
                                    (struct step_bytes){(const uint8_t *) name, (size_t) length});
        CU_ASSERT_EQUAL_FATAL(row, i);
        measures_sums(&measures, AXIS_CLASS, row, 1)[SUM_GROWTH_BYTES] = i;
    }
    for (uint32_t i = 1; i <= 1000; i++) {
        CU_ASSERT_EQUAL(measures_sums(&measures, AXIS_CLASS, i, 1)[SUM_GROWTH_BYTES], i);
        CU_ASSERT_EQUAL(measures_sums(&measures, AXIS_CLASS, i, 0)[SUM_GROWTH_BYTES], 0);
    }
    measures_reset(&measures);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("measures", NULL, NULL);
    CU_add_test(suite, "names of classes", test_classes);
    CU_add_test(suite, "names of threads", test_threads);
    CU_add_test(suite, "the middle of runs", test_middle);
    CU_add_test(suite, "rows", test_rows);
}
