/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks as text: arrows, the mark where frames are left out, and texts that are cut. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/stack_text.h"
#include "tests/unit/run_suite.h"

/* Frame n is called by frame n - 1; the name of frame 2 cannot be shown as it is. */
static struct step_bytes frame_of(const void *frames, uint64_t *frame, char room[FRAME_TEXT])
{
    static const char *const methods[] = {"", "main", "a\nb\"", "inner"};
    struct frame_place place = {*frame == 3 ? 12 : 0, *frame == 2 ? 8 : 0, {NULL, 0}, {NULL, 0}};
    size_t length = frame_text(step_text(*frame == 1 ? "" : frames), step_text(methods[*frame]),
                               place, room, FRAME_TEXT);
    *frame -= 1;
    return (struct step_bytes){(const uint8_t *) room, length};
}

static struct stack_text stack_of(uint64_t innermost, uint64_t depth)
{
    return (struct stack_text){frame_of, "t/C", innermost, depth};
}

static void test_shown(void)
{
    char text[64];
    CU_ASSERT_EQUAL(stack_show(stack_of(3, 0), text, sizeof text), 37);
    CU_ASSERT_STRING_EQUAL(text, "t/C.inner:12 <- t/C.a\\x0ab\"@7 <- main");
    stack_show(stack_of(3, 3), text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "t/C.inner:12 <- t/C.a\\x0ab\"@7 <- main");
    stack_show(stack_of(3, 1), text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "t/C.inner:12 <- ...");
    stack_show(stack_of(0, 1), text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "(no stack)");
    CU_ASSERT_EQUAL(stack_show(stack_of(3, 0), text, 8), 7);
    CU_ASSERT_STRING_EQUAL(text, "t/C.inn");
}

/* A file appears with a line only, as in the JVM's own stack traces. */
static void test_source_files(void)
{
    static const struct {
        struct frame_place place;
        size_t room;
        const char *text;
    } rows[] = {{{7, 0, {(const uint8_t *) "C.java", 6}, {NULL, 0}}, 64, "t/C.m(C.java:7)"},
                {{0, 8, {(const uint8_t *) "C.java", 6}, {NULL, 0}}, 64, "t/C.m@7"},
                {{0, 0, {(const uint8_t *) "C.java", 6}, {NULL, 0}}, 64, "t/C.m"},
                {{7, 0, {NULL, 0}, {NULL, 0}}, 64, "t/C.m:7"},
                {{7, 0, {(const uint8_t *) "C.java", 6}, {NULL, 0}}, 10, "t/C.m(C.j"}};
    char text[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length =
            frame_text(step_text("t/C"), step_text("m"), rows[i].place, text, rows[i].room);
        CU_ASSERT_STRING_EQUAL(text, rows[i].text);
        CU_ASSERT_EQUAL(length, strlen(rows[i].text));
    }
}

static void check_printed(struct stack_text stack, const char *shown, const char *csv,
                          const char *array)
{
    char *text = NULL;
    size_t length = 0;
    struct json_output json;
    FILE *out = open_memstream(&text, &length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    json_init(&json, out);
    json.is_compact = true;
    stack_print(stack, out);
    fputc('|', out);
    stack_put_csv(stack, out);
    fputc('|', out);
    stack_put_json(stack, &json, NULL);
    fclose(out);
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%s|%s|%s", shown, csv, array);
    CU_ASSERT_STRING_EQUAL(text, wanted);
    free(text);
}

static void test_printed(void)
{
    check_printed(stack_of(2, 0), "t/C.a\\x0ab\"@7 <- main", "\"t/C.a\\x0ab\"\"@7;main\"",
                  "[\"t/C.a\\nb\\\"@7\",\"main\"]");
    check_printed(stack_of(2, 1), "t/C.a\\x0ab\"@7 <- ...", "\"t/C.a\\x0ab\"\"@7;main\"",
                  "[\"t/C.a\\nb\\\"@7\",\"main\"]");
    check_printed(stack_of(0, 0), "(no stack)", "\"\"", "[]");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("call stacks as text", NULL, NULL);
    CU_add_test(suite, "shown, and cut", test_shown);
    CU_add_test(suite, "with source files", test_source_files);
    CU_add_test(suite, "printed, as CSV and JSON", test_printed);
}
