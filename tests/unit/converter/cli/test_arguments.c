/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines by a table of options, values of options, and names of rotated files. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/cli/rotated_names.h"
#include "tests/unit/run_suite.h"

static const struct verb_help help = {"try", "IN [OPTION]...", "Tries.\n"};

struct values {
    uint64_t top, time_ns;
    bool is_quiet;
    const char *name;
};

/* Returns whether the verb should go on. */
static bool parse_line(struct values *values, struct arguments *arguments, int argc, char **argv)
{
    static struct option_row rows[4];
    *values = (struct values){.top = 0};
    rows[0] = (struct option_row){"top", 'n', "N", "rows", take_count, &values->top};
    rows[1] = (struct option_row){"quiet", 'q', NULL, "less", take_flag, &values->is_quiet};
    rows[2] = (struct option_row){"name", 0, "TEXT", "name", take_text, &values->name};
    rows[3] = (struct option_row){"time", 0, "TIME", "time", take_time, &values->time_ns};
    *arguments = (struct arguments) ARGUMENTS_OF(help, rows);
    return arguments_read(arguments, argc, argv, 1, 2);
}

static void test_good(void)
{
    struct values values;
    struct arguments arguments;
    char *argv[] = {(char *) "--top=5", (char *) "a",   (char *) "-q",
                    (char *) "--name",  (char *) "x y", (char *) "--time=2ms",
                    (char *) "--",      (char *) "-b",  NULL};
    CU_ASSERT_TRUE(parse_line(&values, &arguments, 8, argv));
    CU_ASSERT_TRUE(values.top == 5 && values.is_quiet && values.time_ns == 2000000);
    CU_ASSERT_STRING_EQUAL(values.name, "x y");
    CU_ASSERT_EQUAL_FATAL(arguments.operand_count, 2);
    CU_ASSERT_STRING_EQUAL(arguments.operands[0], "a");
    CU_ASSERT_STRING_EQUAL(arguments.operands[1], "-b");
    CU_ASSERT_PTR_NULL(arguments.operands[2]);
    CU_ASSERT_EQUAL(arguments.given, 15);
}

static void test_bad(void)
{
    static const char *const lines[][4] = {{NULL},           {"a", "b", "c"},    {"a", "--tops=1"},
                                           {"a", "--top"},   {"a", "--quiet=1"}, {"a", "-x"},
                                           {"a", "--top=x"}, {"a", "--time=3x"}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct values values;
        struct arguments arguments;
        char *argv[5] = {NULL};
        int argc = 0;
        for (; argc < 4 && lines[i][argc] != NULL; argc++)
            argv[argc] = (char *) lines[i][argc];
        CU_ASSERT_FALSE(parse_line(&values, &arguments, argc, argv));
        CU_ASSERT_EQUAL(arguments.status, STEP_STATUS_INVALID);
    }
}

static void test_values(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } sizes[] = {{"0", 0}, {"7", 7}, {"1k", 1024}, {"2m", 2 << 20}, {"1g", 1 << 30}},
      times[] = {{"0", 0},
                 {"3us", 3000},
                 {"1.5s", 1500000000},
                 {"30", UINT64_C(30000000000)},
                 {"10min", UINT64_C(600000000000)}};
    static const char *const bad[] = {"", "x", "-1", "1x", "99999999999999999999g", "1 k"};
    const char *fault;
    uint64_t value;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CU_ASSERT_TRUE(take_size(&value, sizes[i].text, &fault));
        CU_ASSERT_EQUAL(value, sizes[i].value);
        CU_ASSERT_TRUE(take_time(&value, times[i].text, &fault));
        CU_ASSERT_EQUAL(value, times[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CU_ASSERT_FALSE(take_size(&value, bad[i], &fault));
        CU_ASSERT_FALSE(take_time(&value, bad[i], &fault));
        CU_ASSERT_FALSE(take_count(&value, bad[i], &fault));
    }
}

static void test_words(void)
{
    static const char *const words[] = {"time", "thread", "heap"};
    unsigned bits = 0;
    CU_ASSERT_TRUE(take_some_of(words, 3, "time+heap", &bits));
    CU_ASSERT_EQUAL(bits, 5);
    CU_ASSERT_FALSE(take_some_of(words, 3, "time+heaps", &bits));
    CU_ASSERT_STRING_EQUAL(nearest_word("thraed", words, 3), "thread");
    CU_ASSERT_PTR_NULL(nearest_word("objects", words, 3));
}

/* NAME.NUMBER.step with 6 digits or more, and with a second number where that name was taken. */
static void test_rotated(void)
{
    static const struct {
        const char *file;
        size_t length;
        uint64_t number;
    } rows[] = {{"run.000001.step", 3, 1},
                {"a.b.1234567.step", 3, 1234567},
                {"run.000007.2.step", 3, 7},
                {"run.000007.02.step", 0, 0},
                {"run.00001.step", 0, 0},
                {"run.000001.zip", 0, 0},
                {"run.00000x.step", 0, 0},
                {"000001.step", 0, 0},
                {".step", 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t number;
        size_t length = rotated_file_name(rows[i].file, &number);
        CU_ASSERT_EQUAL(length, rows[i].length);
        CU_ASSERT(length == 0 || number == rows[i].number);
    }
    CU_ASSERT_FALSE(rotated_file_is("/nowhere/run.000001.step"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("command lines", NULL, NULL);
    CU_add_test(suite, "good", test_good);
    CU_add_test(suite, "bad", test_bad);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "words", test_words);
    CU_add_test(suite, "rotated files", test_rotated);
}
