/* SPDX-License-Identifier: Apache-2.0 */
/* Names that stay from run to run, and the middle of runs. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "converter/statistics/lasting_names.h"
#include "converter/statistics/measured.h"
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
    struct measured none = measured_of(NULL, 0, AMOUNT_BYTES);
    struct measured three = measured_of(odd, 3, AMOUNT_BYTES);
    struct measured four = measured_of(even, 4, AMOUNT_BYTES);
    CU_ASSERT_EQUAL(none.runs, 0);
    CU_ASSERT_TRUE(measured_value(&three) == 2 && three.amount.range.low == 1 &&
                   three.amount.range.high == 3);
    CU_ASSERT_TRUE(measured_value(&four) == 2.5 && four.amount.range.high == 4);
}

static struct measured exactly(double value)
{
    return (struct measured){.amount = amount_real(value, AMOUNT_BYTES), .runs = 1};
}

static struct measured estimated(double low, double value, double high)
{
    return (struct measured){
        .amount = amount_estimated((struct estimate){value, low, high, 1}, AMOUNT_BYTES),
        .runs = 1};
}

/* A change of single runs is no noise; of several, or of estimates, it may be. */
static void test_pairs(void)
{
    double low[] = {10, 20, 30}, high[] = {25, 40, 50}, higher[] = {31, 40, 50};
    struct measured before = measured_of(low, 3, AMOUNT_BYTES);
    struct measured_pair one = measured_pair_of(exactly(1024), exactly(3072));
    CU_ASSERT_EQUAL(measured_pair_change(&one), 2048);
    CU_ASSERT_FALSE(one.is_noise || one.change.is_estimate);
    CU_ASSERT_STRING_EQUAL(amount_scaled(&one.change).text, "+2.00 KiB");
    struct measured_pair same = measured_pair_of(exactly(7), exactly(7));
    CU_ASSERT_STRING_EQUAL(amount_scaled(&same.change).text, "0 B");
    CU_ASSERT_TRUE(measured_pair_of(before, measured_of(high, 3, AMOUNT_BYTES)).is_noise);
    CU_ASSERT_FALSE(measured_pair_of(before, measured_of(higher, 3, AMOUNT_BYTES)).is_noise);
    struct measured_pair near = measured_pair_of(exactly(10), estimated(8, 20, 40));
    CU_ASSERT_TRUE(near.is_noise && near.change.is_estimate && measured_pair_change(&near) == 10);
    CU_ASSERT_FALSE(measured_pair_of(exactly(7), estimated(8, 20, 40)).is_noise);
    struct measured none = {.amount = amount_none(AMOUNT_NS)};
    struct measured_pair one_sided = measured_pair_of(none, exactly(7));
    CU_ASSERT_FALSE(measured_pair_is_known(&one_sided) || one_sided.is_noise);
    CU_ASSERT_STRING_EQUAL(amount_scaled(&one_sided.change).text, "-");
    CU_ASSERT_STRING_EQUAL(amount_scaled_value(&none.amount, 5).text, "-");
}

/* Metrics have the order of their sums, and names of their own; one is made of two sums. */
static void test_metrics(void)
{
    struct metric_list list;
    uint64_t sums[SUM_COUNT] = {[SUM_LIVED_US] = 60, [SUM_FREED_OBJECTS] = 4, [SUM_CALLS] = 9};
    metric_list_init(&list);
    CU_ASSERT_TRUE_FATAL(list.count >= SUM_COUNT);
    for (size_t i = 0; i < SUM_COUNT; i++) {
        CU_ASSERT_EQUAL(list.items[i]->sum, i);
        CU_ASSERT_PTR_EQUAL(metric_by_name(list.items[i]->name, strlen(list.items[i]->name)),
                            list.items[i]);
    }
    CU_ASSERT_PTR_NULL(metric_by_name("call", 4));
    CU_ASSERT_EQUAL(metric_amount(metric_by_name("calls", 5), sums).range.value, 9);
    CU_ASSERT_EQUAL(metric_amount(metric_by_name("lifetime", 8), sums).range.value, 15000);
    sums[SUM_FREED_OBJECTS] = 0;
    CU_ASSERT_EQUAL(metric_amount(metric_by_name("lifetime", 8), sums).state, AMOUNT_NONE);
}

/* A selection matches nothing if it does so in all traces. */
static void test_names(void)
{
    struct trace_names some, others;
    struct measures measures;
    struct event_selection selected;
    trace_names_init(&some);
    trace_names_init(&others);
    event_selection_init(&selected);
    CU_ASSERT_TRUE_FATAL(measures_init(&measures, 2));
    *(struct trace_class *) id_table_get(&some.classes, 1) =
        (struct trace_class){.name = step_text("a/B"), .known = true};
    *(struct trace_class *) id_table_get(&others.classes, 1) =
        (struct trace_class){.name = step_text("a/C"), .known = true};
    selected.classes.items[selected.classes.count++] = "a.C";
    CU_ASSERT_TRUE(measures_note_names(&measures, &some, &selected, false));
    CU_ASSERT_TRUE(measures.is_unmatched);
    measures.run_count = 1;
    CU_ASSERT_TRUE(measures_note_names(&measures, &others, &selected, false));
    CU_ASSERT_FALSE(measures.is_unmatched);
    CU_ASSERT_EQUAL(measures.known[AXIS_CLASS].count, 2);
    measures.run_count = 0;
    measures_reset(&measures);
    trace_names_reset(&some);
    trace_names_reset(&others);
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
    CU_add_test(suite, "both sides", test_pairs);
    CU_add_test(suite, "metrics", test_metrics);
    CU_add_test(suite, "names of traces", test_names);
    CU_add_test(suite, "rows", test_rows);
}
