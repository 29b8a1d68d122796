/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the text format: escapes, numbers, every form of a bad line, random round trips. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/text.h"
#include "tests/unit/run_suite.h"

static struct step_bytes bytes_of(const char *text)
{
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

static bool same_bytes(struct step_bytes bytes, const char *text)
{
    return bytes.length == strlen(text) && memcmp(bytes.data, text, bytes.length) == 0;
}

static bool parse(const char *line, size_t length, struct step_text_event *event,
                  struct step_text_fault *fault)
{
    static uint8_t scratch[4096];
    return step_text_parse(line, length, scratch, event, fault);
}

/* True if the line parses and formats to itself. */
static bool is_identity(const char *line, size_t length)
{
    struct step_text_event event;
    char out[8192];
    return parse(line, length, &event, NULL) && step_text_format(&event, out) == length &&
           memcmp(out, line, length) == 0;
}

static void test_every_kind(void)
{
    static const char *const lines[] = {
        "VS:0\n",
        "VI:12\n",
        "VD:18446744073709551615\n",
        "CL:1:java/lang/Object\n",
        "OA:100:[Ljava/lang/String;:1\n",
        "OF:101:[I:18446744073709551615\n",
        "TB:5:1\n",
        "TE:9:0\n",
        "MN:7:1:a/B:<init>:42\n",
        "MX:8:1:a/B:<init>\n",
        "FP:8:10000000000000000000:a/B:run\n",
        "CL:1:\xc3\xa9/\xe2\x82\xac/\xf0\x9f\x98\x80\n",
        "MN:7:1:a\\u003ab\\u005c:x\\u000ay\\u000dz:0\n",
        "CL:0:\\ud800\n",
        "CL:0:\\udc00\\ud83d\n",
        "CL:0:\\ud83da\\ude00\n",
        "CL:0:a b\tc\x7f\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        CU_ASSERT_TRUE(is_identity(lines[i], strlen(lines[i])));
        if (!is_identity(lines[i], strlen(lines[i])))
            printf("not an identity: %s", lines[i]);
    }
    CU_ASSERT_TRUE(is_identity("CL:0:a\0b\n", 9));
}

static void test_fields(void)
{
    struct step_text_event event;
    const char line[] = "MN:7:3:a\\u003ab:run\\ud800:42\n";
    CU_ASSERT_TRUE_FATAL(parse(line, strlen(line), &event, NULL));
    CU_ASSERT_EQUAL(event.kind, STEP_TEXT_MN);
    CU_ASSERT_EQUAL(event.time_ns, 7);
    CU_ASSERT_EQUAL(event.thread, 3);
    CU_ASSERT_EQUAL(event.object, 42);
    CU_ASSERT_TRUE(same_bytes(event.class_name, "a:b"));
    CU_ASSERT_TRUE(same_bytes(event.method_name, "run\xed\xa0\x80"));
    CU_ASSERT_TRUE_FATAL(parse("VS:1\n", 5, &event, NULL));
    CU_ASSERT_EQUAL(event.thread, 0);
    CU_ASSERT_EQUAL(event.object, 0);
    CU_ASSERT_EQUAL(event.class_name.length, 0);
}

static void test_kind_names(void)
{
    CU_ASSERT_STRING_EQUAL(step_text_kind_name(STEP_TEXT_VS), "VS");
    CU_ASSERT_STRING_EQUAL(step_text_kind_name(STEP_TEXT_FP), "FP");
    CU_ASSERT_STRING_EQUAL(step_text_kind_fields(STEP_TEXT_MN), "TCMO");
    CU_ASSERT_STRING_EQUAL(step_text_kind_name(STEP_TEXT_KIND_COUNT), "?");
    CU_ASSERT_STRING_EQUAL(step_text_kind_fields(STEP_TEXT_KIND_COUNT), "");
}

static void test_bad_lines(void)
{
    static const struct {
        const char *line;
        size_t position;
        const char *reason; /* a part of it */
    } bad[] = {
        {"", 0, "line feed"},
        {"VS:1", 4, "line feed"},
        {"\n", 0, "unknown event type"},
        {"V\n", 0, "unknown event type"},
        {"XX:1\n", 0, "unknown event type"},
        {"vs:1\n", 0, "unknown event type"},
        {"VSS:1\n", 0, "unknown event type"},
        {" VS:1\n", 0, "unknown event type"},
        {"\xef\xbb\xbfVS:1\n", 0, "unknown event type"},
        {"VS\n", 2, "too few"},
        {"VS:\n", 3, "missing"},
        {"VS:1:\n", 4, "too many"},
        {"VS:1:2\n", 4, "too many"},
        {"VS:1 \n", 4, "decimal"},
        {"VS: 1\n", 3, "decimal"},
        {"VS:+1\n", 3, "decimal"},
        {"VS:-1\n", 3, "decimal"},
        {"VS:0x1\n", 4, "decimal"},
        {"VS:1.5\n", 4, "decimal"},
        {"VS:01\n", 3, "leading zeros"},
        {"VS:00\n", 3, "leading zeros"},
        {"VS:000000000000000000000000000000\n", 3, "leading zeros"},
        {"VS:18446744073709551616\n", 3, "too large"},
        {"VS:18446744073709551620\n", 3, "too large"},
        {"VS:99999999999999999999\n", 3, "too large"},
        {"VS:100000000000000000000\n", 3, "too large"},
        {"VS:1\r\n", 4, "decimal"},
        {"VS:1\n\n", 4, "decimal"},
        {"CL:1\n", 4, "too few"},
        {"CL:1:\n", 5, "name is missing"},
        {"CL:1:a:b\n", 6, "too many"},
        {"CL:1:a\r\n", 6, "carriage return"},
        {"CL:1:a\nb\n", 6, "line feed"},
        {"OA:1:a\n", 6, "too few"},
        {"OA:1::5\n", 5, "name is missing"},
        {"OA:1:a:\n", 7, "missing"},
        {"OA:1:a:b\n", 7, "decimal"},
        {"OA:1:a\r:5\n", 6, "carriage return"},
        {"OA:1:a\n5:5\n", 6, "colon"},
        {"TB:1:\n", 5, "missing"},
        {"TB:1:1:1\n", 6, "too many"},
        {"MN:1:1:a:b\n", 10, "too few"},
        {"MN:1:1:a::0\n", 9, "name is missing"},
        {"MX:1:1:a:b:0\n", 10, "too many"},
        {"CL:1:a\\\n", 6, "backslash"},
        {"CL:1:a\\u\n", 6, "backslash"},
        {"CL:1:a\\u003\n", 6, "backslash"},
        {"CL:1:a\\x003a\n", 6, "backslash"},
        {"CL:1:a\\\\\n", 6, "backslash"},
        {"CL:1:a\\U003a\n", 6, "backslash"},
        {"CL:1:a\\u003A\n", 6, "lower-case"},
        {"CL:1:a\\u00g0\n", 6, "lower-case"},
        {"CL:1:a\\uD800\n", 6, "lower-case"},
        {"CL:1:a\\u003:b\n", 6, "lower-case"},
        {"CL:1:a\\u0041\n", 6, "needs none"},
        {"CL:1:a\\u0009\n", 6, "needs none"},
        {"CL:1:a\\u00a0\n", 6, "needs none"},
        {"CL:1:a\\u20ac\n", 6, "needs none"},
        {"CL:1:a\\ud7ff\n", 6, "needs none"},
        {"CL:1:a\\ue000\n", 6, "needs none"},
        {"CL:1:\\ud83d\\ude00\n", 11, "pair"},
        {"CL:1:\\ud83d\\ud83d\\ude00\n", 17, "pair"},
        {"CL:1:a\x80\n", 6, "UTF-8"},
        {"CL:1:a\xc3\n", 6, "UTF-8"},
        {"CL:1:a\xc0\x80\n", 6, "UTF-8"},
        {"CL:1:a\xc1\xbf\n", 6, "UTF-8"},
        {"CL:1:a\xe0\x80\x80\n", 6, "UTF-8"},
        {"CL:1:a\xe2\x82\n", 6, "UTF-8"},
        {"CL:1:a\xed\xa0\x80\n", 6, "UTF-8"},
        {"CL:1:a\xed\xbf\xbf\n", 6, "UTF-8"},
        {"CL:1:a\xf0\x80\x80\x80\n", 6, "UTF-8"},
        {"CL:1:a\xf0\x9f\x98\n", 6, "UTF-8"},
        {"CL:1:a\xf4\x90\x80\x80\n", 6, "UTF-8"},
        {"CL:1:a\xf5\x80\x80\x80\n", 6, "UTF-8"},
        {"CL:1:a\xff\n", 6, "UTF-8"},
        {"CL:1:\\u003a\xff\n", 11, "UTF-8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct step_text_event event;
        struct step_text_fault fault = {"", 999};
        bool taken = parse(bad[i].line, strlen(bad[i].line), &event, &fault);
        CU_ASSERT_FALSE(taken);
        CU_ASSERT_EQUAL(fault.position, bad[i].position);
        CU_ASSERT_PTR_NOT_NULL(strstr(fault.reason, bad[i].reason));
        if (taken || fault.position != bad[i].position || !strstr(fault.reason, bad[i].reason))
            printf("%s -> %d %zu %s\n", bad[i].line, taken, fault.position, fault.reason);
    }
}

static void check_escape(const char *name, const char *wanted)
{
    char out[256];
    size_t length = 0;
    bool done = step_text_escape(bytes_of(name), out, &length);
    CU_ASSERT_EQUAL(done, wanted != NULL);
    if (done && wanted != NULL)
        CU_ASSERT_TRUE(same_bytes((struct step_bytes){(uint8_t *) out, length}, wanted));
}

static void test_escapes(void)
{
    check_escape("java/lang/Object", "java/lang/Object");
    check_escape("a:b\\c\nd\re", "a\\u003ab\\u005cc\\u000ad\\u000de");
    check_escape("\xed\xa0\x80", "\\ud800");
    check_escape("\xed\xbf\xbf", "\\udfff");
    check_escape("\xed\xb8\x80\xed\xa0\xbd", "\\ude00\\ud83d");
    check_escape("\xed\xa0\xbd\xed\xb8\x80", "\xf0\x9f\x98\x80");
    check_escape("\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80", "\\ud83d\xf0\x9f\x98\x80");
    check_escape("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf");
    check_escape("", NULL);
    check_escape("\xff", NULL);
    check_escape("a\xc3", NULL);
    check_escape("\xed\xa0\xbd\xed\xb8", NULL);
    check_escape("\xc0\x80", NULL);
    struct step_text_event event = {.kind = STEP_TEXT_CL, .class_name = bytes_of("\xff")};
    char out[256];
    CU_ASSERT_EQUAL(step_text_format(&event, out), 0);
}

static void test_space(void)
{
    struct step_text_event event = {.kind = STEP_TEXT_MN,
                                    .time_ns = UINT64_MAX,
                                    .thread = UINT64_MAX,
                                    .object = UINT64_MAX,
                                    .class_name = bytes_of("::::"),
                                    .method_name = bytes_of("\\")};
    char out[STEP_TEXT_LINE_SPACE(24, 6)];
    size_t length = step_text_format(&event, out);
    CU_ASSERT_TRUE(length > 0 && length <= sizeof out);
    CU_ASSERT_TRUE(is_identity(out, length));
    event.class_name = bytes_of("a");
    event.method_name = bytes_of("b");
    CU_ASSERT_EQUAL(step_text_format_escaped(&event, out), length - 24 - 6 + 2);
}

/* Every number of digits, both ends of each. */
static void test_numbers(void)
{
    uint64_t power = 1;
    for (unsigned digits = 1; digits <= 20; digits++) {
        const uint64_t values[] = {power, power - 1, power + 1, power * 9};
        for (size_t i = 0; i < 4; i++) {
            struct step_text_event event = {.kind = STEP_TEXT_TB, .time_ns = values[i]};
            char out[128];
            char wanted[128];
            size_t length = step_text_format(&event, out);
            snprintf(wanted, sizeof wanted, "TB:%llu:0\n", (unsigned long long) values[i]);
            CU_ASSERT_TRUE(same_bytes((struct step_bytes){(uint8_t *) out, length}, wanted));
            struct step_text_event again;
            CU_ASSERT_TRUE(parse(out, length, &again, NULL) && again.time_ns == values[i]);
        }
        power *= 10;
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* A name of characters that matter, in WTF-8. */
static size_t random_name(uint64_t *seed, char *out)
{
    static const char *const parts[] = {
        ":",       "\\", "\n", "\r", "a", "u", "\xed\xa0\x80", "\xed\xb0\x80", "\xf0\x90\x80\x80",
        "\xc3\xa9"};
    size_t length = 0;
    bool high = false;
    for (uint64_t left = next_random(seed) % 8 + 1; left > 0; left--) {
        uint64_t part = next_random(seed) % 10;
        if (high && part == 7) /* would make a pair */
            part = 6;
        high = part == 6;
        memcpy(out + length, parts[part], strlen(parts[part]));
        length += strlen(parts[part]);
    }
    return length;
}

static void test_random(void)
{
    uint64_t seed = 20000001;
    for (unsigned i = 0; i < 20000; i++) {
        char name[2][64];
        struct step_text_event event = {.kind = (enum step_text_kind)(i % STEP_TEXT_KIND_COUNT),
                                        .time_ns = next_random(&seed) >> next_random(&seed) % 64,
                                        .thread = next_random(&seed) >> next_random(&seed) % 64,
                                        .object = next_random(&seed) >> next_random(&seed) % 64};
        event.class_name = (struct step_bytes){(uint8_t *) name[0], random_name(&seed, name[0])};
        event.method_name = (struct step_bytes){(uint8_t *) name[1], random_name(&seed, name[1])};
        char line[1024];
        size_t length = step_text_format(&event, line);
        struct step_text_event again;
        bool parsed = length > 0 && parse(line, length, &again, NULL);
        CU_ASSERT_TRUE_FATAL(parsed);
        CU_ASSERT_EQUAL(again.time_ns, event.time_ns);
        if (strchr(step_text_kind_fields(event.kind), 'M') != NULL) {
            CU_ASSERT_EQUAL_FATAL(again.method_name.length, event.method_name.length);
            CU_ASSERT_EQUAL(memcmp(again.method_name.data, name[1], again.method_name.length), 0);
            CU_ASSERT_EQUAL(memcmp(again.class_name.data, name[0], again.class_name.length), 0);
        }
        CU_ASSERT_TRUE(is_identity(line, length));
    }
}

/* Escapes of controls, which `steptrace dump` prints, are read; the text has them as they are. */
static void test_shown_controls(void)
{
    static const char line[] = "CL:0:\\u0000\\u001b\\u007f\\u009b\\u061c\\u202e\\ufeff\n";
    static const char name[] = "\0\x1b\x7f\xc2\x9b\xd8\x9c\xe2\x80\xae\xef\xbb\xbf";
    struct step_text_event event;
    char out[256];
    CU_ASSERT_TRUE_FATAL(parse(line, sizeof line - 1, &event, NULL));
    CU_ASSERT_EQUAL_FATAL(event.class_name.length, sizeof name - 1);
    CU_ASSERT_EQUAL(memcmp(event.class_name.data, name, sizeof name - 1), 0);
    CU_ASSERT_TRUE(is_identity(out, step_text_format(&event, out)));
}

/* Every byte of some lines changed to every value: taken or not, what is taken is an identity, or
 * shorter where a control was escaped. */
static void test_changed_bytes(void)
{
    static const char *const lines[] = {"MN:7:13:a\\u003ab:x\\ud83d:42\n",
                                        "CL:10:\xc3\xa9\xf0\x9f\x98\x80\xe2\x82\xac\n"};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(lines[i]);
        for (size_t at = 0; at < length * 256; at++) {
            char *line = malloc(length); /* exact, so that ASan sees its end */
            memcpy(line, lines[i], length);
            line[at / 256] = (char) (at % 256);
            struct step_text_event event;
            if (parse(line, length, &event, NULL)) {
                char out[256];
                size_t written = step_text_format(&event, out);
                CU_ASSERT_TRUE(is_identity(written < length ? out : line, written));
            }
            free(line);
        }
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("text lines", NULL, NULL);
    CU_add_test(suite, "every kind", test_every_kind);
    CU_add_test(suite, "fields", test_fields);
    CU_add_test(suite, "kind names", test_kind_names);
    CU_add_test(suite, "bad lines", test_bad_lines);
    CU_add_test(suite, "escapes", test_escapes);
    CU_add_test(suite, "controls as dump prints them", test_shown_controls);
    CU_add_test(suite, "space", test_space);
    CU_add_test(suite, "numbers", test_numbers);
    CU_add_test(suite, "random events", test_random);
    CU_add_test(suite, "changed bytes", test_changed_bytes);
}
