/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the slicing options: class patterns, times, kinds. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/trace/selection_options.h"
#include "tests/unit/run_suite.h"

static bool matches(const char *glob, const char *name)
{
    return trace_glob_matches(glob, (struct step_bytes){(const uint8_t *) name, strlen(name)});
}

static void test_globs(void)
{
    CU_ASSERT_TRUE(matches("java/lang/String", "java/lang/String"));
    CU_ASSERT_TRUE(matches("java.lang.String", "java/lang/String"));
    CU_ASSERT_FALSE(matches("java/lang/String", "java/lang/StringBuilder"));
    CU_ASSERT_FALSE(matches("java/lang/String", "java/lang/Strin"));
    CU_ASSERT_TRUE(matches("java/lang/*", "java/lang/String"));
    CU_ASSERT_FALSE(matches("java/lang/*", "java/lang/ref/Reference"));
    CU_ASSERT_TRUE(matches("java/lang/**", "java/lang/ref/Reference"));
    CU_ASSERT_FALSE(matches("*", "java/lang/String"));
    CU_ASSERT_TRUE(matches("**", "java/lang/String"));
    CU_ASSERT_TRUE(matches("**", ""));
    CU_ASSERT_TRUE(matches("*", ""));
    CU_ASSERT_FALSE(matches("?", ""));
    CU_ASSERT_TRUE(matches("**/Str*ng", "java/lang/String"));
    CU_ASSERT_TRUE(matches("**a/*/S*", "java/lang/String"));
    CU_ASSERT_TRUE(matches("j**g/*S*", "java/lang/String"));
    CU_ASSERT_FALSE(matches("j**g/*S?", "java/lang/String"));
    CU_ASSERT_TRUE(matches("java?lang", "java.lang"));
    CU_ASSERT_FALSE(matches("java?lang", "java/lang"));
    CU_ASSERT_TRUE(matches("[?", "[I"));
    CU_ASSERT_FALSE(matches("", "a"));
    CU_ASSERT_TRUE(matches("", ""));
}

static bool time_is(const char *text, uint64_t ns)
{
    uint64_t value = 0;
    const char *fault = NULL;
    return take_time(&value, text, &fault) && value == ns;
}

static bool time_is_bad(const char *text)
{
    uint64_t value = 0;
    const char *fault = NULL;
    return !take_time(&value, text, &fault) && fault != NULL;
}

static void test_times(void)
{
    CU_ASSERT_TRUE(time_is("0", 0));
    CU_ASSERT_TRUE(time_is("30", UINT64_C(30000000000)));
    CU_ASSERT_TRUE(time_is("1.5", 1500000000));
    CU_ASSERT_TRUE(time_is("5m", UINT64_C(300000000000)));
    CU_ASSERT_TRUE(time_is("10min", UINT64_C(600000000000)));
    CU_ASSERT_TRUE(time_is("1500ns", 1500));
    CU_ASSERT_TRUE(time_is("3us", 3000));
    CU_ASSERT_TRUE(time_is("200ms", 200000000));
    CU_ASSERT_TRUE(time_is("1.5s", 1500000000));
    CU_ASSERT_TRUE(time_is(".25us", 250));
    CU_ASSERT_TRUE(time_is("1.9999999999999s", 1999999999));
    CU_ASSERT_TRUE(time_is("18446744073709551615ns", UINT64_MAX));
    CU_ASSERT_TRUE(time_is_bad("18446744073709551616ns"));
    CU_ASSERT_TRUE(time_is_bad("18446744073709551615us"));
    CU_ASSERT_TRUE(time_is_bad(""));
    CU_ASSERT_TRUE(time_is_bad("."));
    CU_ASSERT_TRUE(time_is_bad("s"));
    CU_ASSERT_TRUE(time_is_bad("-1"));
    CU_ASSERT_TRUE(time_is_bad("1 s"));
    CU_ASSERT_TRUE(time_is_bad("18446744074"));
    CU_ASSERT_TRUE(time_is_bad("1mi"));
}

static void test_kinds(void)
{
    uint32_t kinds = 0;
    const char *fault = NULL;
    CU_ASSERT_TRUE(take_kinds(&kinds, "OA,of", &fault));
    CU_ASSERT_EQUAL(kinds, TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE));
    CU_ASSERT_TRUE(take_kinds(&kinds, "FP", &fault));
    CU_ASSERT_EQUAL(kinds, TRACE_KIND_BIT(EVENT_METHOD_POP));
    static const char *const bad[] = {"", "O", "OAX", "OA,", ",OA", "OA;OF", "XX"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(take_kinds(&kinds, bad[i], &fault));
}

static bool range_is(bool (*take)(void *, const char *, const char **), const char *text,
                     uint64_t least, uint64_t most)
{
    struct selected_range range = {.is_set = false};
    const char *fault = NULL;
    return take(&range, text, &fault) && range.is_set && range.least == least && range.most == most;
}

static void test_ranges(void)
{
    static const char *const bad[] = {"",
                                      "<",
                                      ">=",
                                      "5",
                                      "..",
                                      "5..3",
                                      "1...2",
                                      "==1",
                                      "<<1",
                                      "=>1",
                                      "<0",
                                      "<1x",
                                      ">18446744073709551615"};
    struct selected_range range;
    const char *fault = NULL;
    CU_ASSERT_TRUE(range_is(take_size_range, ">=1k", 1024, UINT64_MAX));
    CU_ASSERT_TRUE(range_is(take_size_range, ">1KiB", 1025, UINT64_MAX));
    CU_ASSERT_TRUE(range_is(take_size_range, "<64", 0, 63));
    CU_ASSERT_TRUE(range_is(take_size_range, "<=64", 0, 64));
    CU_ASSERT_TRUE(range_is(take_size_range, "=24", 24, 24));
    CU_ASSERT_TRUE(range_is(take_size_range, "16..1.5k", 16, 1536));
    CU_ASSERT_TRUE(range_is(take_size_range, "16..", 16, UINT64_MAX));
    CU_ASSERT_TRUE(range_is(take_size_range, "..16", 0, 16));
    CU_ASSERT_TRUE(range_is(take_time_range, "<10ms", 0, 9999999));
    CU_ASSERT_TRUE(range_is(take_time_range, "200us..1.5s", 200000, 1500000000));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CU_ASSERT_FALSE(take_size_range(&range, bad[i], &fault));
}

static bool name_matches(const void *user, const char *glob)
{
    return strcmp(user, glob) == 0;
}

static bool accepts(const struct selected_globs *globs, const char *name)
{
    return selected_globs_accept(globs, selected_globs_mask(globs, name_matches, name));
}

/* One of those without `!`, none of those with it. */
static void test_several_globs(void)
{
    struct selected_globs some = {.items = {"a", "b", "!b"}, .count = 3};
    struct selected_globs none = {.items = {"!a"}, .count = 1};
    struct selected_globs full = {.count = 0};
    const char *fault = NULL;
    CU_ASSERT_TRUE(accepts(&some, "a") && !accepts(&some, "b") && !accepts(&some, "c"));
    CU_ASSERT_TRUE(!accepts(&none, "a") && accepts(&none, "b"));
    CU_ASSERT_TRUE(accepts(&full, "a"));
    for (unsigned i = 0; i < SELECTED_GLOBS_MOST; i++)
        CU_ASSERT_TRUE(take_globs(&full, "x", &fault));
    CU_ASSERT_FALSE(take_globs(&full, "x", &fault));
    CU_ASSERT_FALSE(take_globs(&none, "!", &fault));
}

static void test_nearest(void)
{
    static const char *const words[] = {"record", "convert", "dump"};
    CU_ASSERT_STRING_EQUAL(nearest_word("dmup", words, 3), "dump");
    CU_ASSERT_STRING_EQUAL(nearest_word("convrt", words, 3), "convert");
    CU_ASSERT_PTR_NULL(nearest_word("something", words, 3));
    CU_ASSERT_PTR_NULL(nearest_word("", words, 3));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("wishes", NULL, NULL);
    CU_add_test(suite, "class patterns", test_globs);
    CU_add_test(suite, "times", test_times);
    CU_add_test(suite, "kinds", test_kinds);
    CU_add_test(suite, "ranges", test_ranges);
    CU_add_test(suite, "several patterns", test_several_globs);
    CU_add_test(suite, "nearest word", test_nearest);
}
