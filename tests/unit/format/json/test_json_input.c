/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader: what it takes, what it refuses and where. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/json/json_input.h"
#include "tests/unit/run_suite.h"

/* The tokens of a text as one string: `{k"a"s"b"n1}`, and how reading ended. */
static enum step_status read_all(const char *text, size_t length, char *out, size_t out_size,
                                 struct step_error *error)
{
    static const char marks[] = "$ { } [ ] k s n t f 0";
    char path[64];
    struct json_input *input = NULL;
    enum json_token token = JSON_NULL;
    size_t used = 0;
    int file = memfd_create("json", MFD_CLOEXEC);
    CU_ASSERT_EQUAL_FATAL(write(file, text, length), (ssize_t) length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    CU_ASSERT_EQUAL_FATAL(json_input_open(path, &input, error), STEP_STATUS_OK);
    enum step_status status;
    out[0] = '\0';
    while ((status = json_input_next(input, &token, error)) == STEP_STATUS_OK &&
           token != JSON_END) {
        struct step_bytes text_of = json_input_text(input);
        used += (size_t) snprintf(out + used, out_size - used, "%c%.*s", marks[2 * token],
                                  (int) text_of.length, (const char *) text_of.data);
        CU_ASSERT_FATAL(used < out_size);
    }
    CU_ASSERT_EQUAL(json_input_next(input, &token, NULL), status);
    json_input_close(input);
    close(file);
    return status;
}

static void test_good(void)
{
    static const char *const good[][2] = {
        {" {} ", "{}"},
        {"[]", "[]"},
        {"{\"a\": 1, \"b\": [true, false, null]}", "{kan1kb[tf0]}"},
        {"-0.5e+10", "n-0.5e+10"},
        {"[0,10,1E5]", "[n0n10n1E5]"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s\"\\/\b\f\n\r\t"},
        {"\"\\u00e9\\u20AC\\ud83d\\ude00\"", "s\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\"\\ud800\"", "s\xed\xa0\x80"},      /* unpaired */
        {"\"\\ud800\\n\"", "s\xed\xa0\x80\n"}, /* followed by another escape */
        {"\"\\ud800\\ud83d\\ude00\"", "s\xed\xa0\x80\xf0\x9f\x98\x80"},
        {"[[[[]]],{\"\":{}}]", "[[[[]]]{k{}}]"},
    };
    char out[256];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct step_error error;
        enum step_status status = read_all(good[i][0], strlen(good[i][0]), out, sizeof out, &error);
        CU_ASSERT_EQUAL(status, STEP_STATUS_OK);
        CU_ASSERT_STRING_EQUAL(out, good[i][1]);
    }
}

static void test_bad(void)
{
    static const struct {
        const char *text;
        enum step_status status;
        uint64_t offset;
    } bad[] = {
        {"", STEP_STATUS_CUT, 0},
        {"{", STEP_STATUS_CUT, 1},
        {"[1,", STEP_STATUS_CUT, 3},
        {"\"abc", STEP_STATUS_CUT, 4},
        {"tru", STEP_STATUS_CUT, 3},
        {"[1,]", STEP_STATUS_CORRUPT, 3},
        {"{\"a\":1,}", STEP_STATUS_CORRUPT, 7},
        {"{\"a\" 1}", STEP_STATUS_CORRUPT, 5},
        {"{a:1}", STEP_STATUS_CORRUPT, 1},
        {"[1}", STEP_STATUS_CORRUPT, 2},
        {"]", STEP_STATUS_CORRUPT, 0},
        {"01", STEP_STATUS_CORRUPT, 1},
        {"-", STEP_STATUS_CORRUPT, 1},
        {"1.", STEP_STATUS_CORRUPT, 2},
        {"1e", STEP_STATUS_CORRUPT, 2},
        {"\"\n\"", STEP_STATUS_CORRUPT, 1},
        {"\"\\x\"", STEP_STATUS_CORRUPT, 2},
        {"\"\\u12g4\"", STEP_STATUS_CORRUPT, 5},
        {"nul1", STEP_STATUS_CORRUPT, 3},
        {"{} {}", STEP_STATUS_CORRUPT, 3},
        {"NaN", STEP_STATUS_CORRUPT, 0},
    };
    char out[256];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct step_error error = {.offset = STEP_NO_OFFSET};
        CU_ASSERT_EQUAL(read_all(bad[i].text, strlen(bad[i].text), out, sizeof out, &error),
                        bad[i].status);
        CU_ASSERT_EQUAL(error.offset, bad[i].offset);
    }
}

/* Longer and deeper than is allowed. */
static void test_limits(void)
{
    size_t length = JSON_INPUT_TEXT_MAX + 10;
    char *text = malloc(length), out[2 * JSON_INPUT_DEPTH_MAX];
    struct step_error error;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, '[', length);
    CU_ASSERT_EQUAL(read_all(text, length, out, sizeof out, &error), STEP_STATUS_LIMIT);
    CU_ASSERT_EQUAL(error.offset, JSON_INPUT_DEPTH_MAX);
    CU_ASSERT_EQUAL(read_all(text, JSON_INPUT_DEPTH_MAX, out, sizeof out, &error), STEP_STATUS_CUT);
    memset(text, '7', length);
    CU_ASSERT_EQUAL(read_all(text, length, out, sizeof out, &error), STEP_STATUS_LIMIT);
    text[0] = '"';
    CU_ASSERT_EQUAL(read_all(text, length, out, sizeof out, &error), STEP_STATUS_LIMIT);
    free(text);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("JSON", NULL, NULL);
    CU_add_test(suite, "good", test_good);
    CU_add_test(suite, "bad", test_bad);
    CU_add_test(suite, "limits", test_limits);
}
