/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions with faults: where each is reported, and that limits hold. */
#include "tests/unit/format/language/language_test.h"

#include <stdio.h>
#include <stdlib.h>

/* The first fault is at `place` ("line:column", or "line"). */
static void check_fault(const char *text, const char *place)
{
    struct fault_list faults;
    struct step_error error;
    struct step_definition *definition = dl_parse_text(text, &faults, &error);
    CU_ASSERT_PTR_NULL(definition);
    bool there =
        strncmp(faults.first, place, strlen(place)) == 0 && faults.first[strlen(place)] == ':';
    if (!there)
        printf("\n  %s\n  gave %s, not %s\n", text, faults.first, place);
    CU_ASSERT_TRUE(there);
    CU_ASSERT_STRING_EQUAL(error.message, faults.first);
    CU_ASSERT_EQUAL(error.status, STEP_STATUS_INVALID);
    CU_ASSERT_STRING_EQUAL(error.file, "test");
    step_definition_destroy(definition);
}

static void test_syntax(void)
{
    check_fault("record A { int }", "1:16");
    check_fault("record A {\n  int x\n}", "3:1");
    check_fault("record A { int x <g>; }", "1:20");
    check_fault("record { }", "1:8");
    check_fault("record A extends { }", "1:18");
    check_fault("\n\nrecord A { int x;", "3");
    check_fault("record int { }", "1:8");
    check_fault("record A { ~x; }", "1:14");
    check_fault("record A { int x; @ }", "1:19");
    check_fault("record A { /* ", "1:12");
    check_fault("record A { \"no end", "1:12");
    check_fault("int x;", "1:1");
}

static void test_meaning(void)
{
    check_fault("record A { }\nrecord A { }", "2:8");
    check_fault("record A extends B { }", "1:18");
    check_fault("record A { B b; }", "1:12");
    check_fault("record A { int x;\n string x; }", "2:9");
    check_fault("record A { int x; }\nrecord B extends A { int x; }", "2:26");
    check_fault("record A { int x; ~y <g:\"v\">; }", "1:20");
    check_fault("record A extends A { }", "1:8");
    check_fault("record A extends B { } record B extends A { }", "1:8");
    check_fault("record A { string s; ~s.size <g:\"v\">; }", "1:23");
    check_fault("record A { int x; ~x.length <g:\"v\">; }", "1:20");
    check_fault("record A { int[] x; ~x.y <g:\"v\">; }", "1:22");
    check_fault("record P { int x; } record A { P p; ~p.y <g:\"v\">; }", "1:38");
}

static void test_identifier_elsewhere(void)
{
    check_fault("record B { int x, y; } record P { B b; }\n"
                "record Q extends P { ~b <encoding:\"identifier\">; }",
                "2:23");
    check_fault("record B { int x, y; } record P { B b <encoding:\"identifier\">; }\n"
                "record Q extends P { !b <encoding:\"delta\">; }",
                "2:23");
    check_fault("record B { int x, y; } record P { B[] b; }\n"
                "record Q extends P { ~b.element <encoding:\"identifier\">; }",
                "2:23");
    check_fault("record B { string x; } record P { B b;\n~b.x <encoding:\"identifier\">; }", "2:2");
    step_definition_destroy(dl_parse_text("record P { int b; }"
                                          "record Q extends P { ~b <encoding:\"identifier\">; }",
                                          NULL, NULL));
}

static void test_characters(void)
{
    struct step_definition *definition = NULL;
    struct step_error error;
    check_fault("record A {\n  \"\xff\" }", "2:4");
    check_fault("# \xc3\xa4\n# \xed\xa0\x80", "2:3");
    CU_ASSERT_EQUAL(step_definition_parse("#\n \0", 4, "test", NULL, NULL, &definition, &error),
                    STEP_STATUS_INVALID);
    CU_ASSERT_STRING_EQUAL(error.message, "2:2: a NUL byte");
    check_fault("record A { int x;  ", "1:20");
}

static void test_own_name_outside(void)
{
    struct step_definition *definition =
        dl_parse_text("record A { int x; } package p { record A extends A { } }", NULL, NULL);
    CU_ASSERT_EQUAL(dl_record(definition, "p.A")->field_count, 1);
    step_definition_destroy(definition);
}

static void test_element_attributes(void)
{
    char text[200];
    struct step_definition *definition =
        dl_parse_text("record R { R <encoding:\"identifier\">[] r; int[] x <property:\"unsigned\">;"
                      " ~x.element <encoding:\"delta\">; }",
                      NULL, NULL);
    CU_ASSERT_STRING_EQUAL(
        dl_attributes(dl_sub(dl_field(definition, "R", "x"), "element"), text, sizeof text),
        "property=unsigned;encoding=delta;");
    step_definition_destroy(definition);
}

static void test_by_value_in_itself(void)
{
    check_fault("record A { A a; }", "1:8");
    CU_ASSERT_PTR_NULL(dl_parse_text("record A { B b; } record B { A a; }", NULL, NULL));
    CU_ASSERT_PTR_NULL(dl_parse_text("record A { int x; } record B extends A { C c; }"
                                     "record C { B[] b; }",
                                     NULL, NULL));
}

static void test_many_in_one_run(void)
{
    struct fault_list faults;
    CU_ASSERT_PTR_NULL(dl_parse_text("record A {\n int;\n int ok;\n string 5;\n}\n"
                                     "record B {\n int x\n int y;\n data !;\n}\n",
                                     &faults, NULL));
    CU_ASSERT_TRUE(faults.count >= 3);
    CU_ASSERT_EQUAL(faults.lines[0], 2);
    CU_ASSERT_EQUAL(faults.lines[1], 4);
    CU_ASSERT_PTR_NULL(dl_parse_text("record A {\n X x;\n int ok;\n ~no <g:\"v\">;\n}\n"
                                     "record B {\n Y y;\n}\n",
                                     &faults, NULL));
    CU_ASSERT_EQUAL(faults.count, 3);
}

/* Repeats a format with %zu for 0 to count - 1 between two texts. */
static char *repeat(const char *before, const char *format, size_t count, const char *after)
{
    size_t size = strlen(before) + strlen(after) + count * (strlen(format) + 48) + 1, used = 0;
    char *text = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    used += (size_t) snprintf(text, size, "%s", before);
    for (size_t i = 0; i < count; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        used += (size_t) snprintf(text + used, size - used, format, i, i + 1);
#pragma GCC diagnostic pop
    }
    snprintf(text + used, size - used, "%s", after);
    return text;
}

static bool parses(char *text)
{
    struct step_definition *definition = dl_parse_text(text, NULL, NULL);
    bool good = definition != NULL;
    step_definition_destroy(definition);
    free(text);
    return good;
}

static void test_package_limit(void)
{
    char close[80];
    memset(close, '}', sizeof close);
    close[64] = '\0';
    CU_ASSERT_TRUE(parses(repeat("", "package p%zu {", 64, close)));
    close[64] = '}';
    close[65] = '\0';
    CU_ASSERT_FALSE(parses(repeat("", "package p%zu {", 65, close)));
    CU_ASSERT_FALSE(parses(repeat("", "package p%zu {", 100000, "")));
}

static void test_array_limit(void)
{
    CU_ASSERT_TRUE(parses(repeat("record A { int", "[]", 8, " x; }")));
    CU_ASSERT_FALSE(parses(repeat("record A { int", "[]", 9, " x; }")));
    CU_ASSERT_FALSE(parses(repeat("record A { int", "[]", 200000, " x; }")));
}

static void test_inheritance_limit(void)
{
    CU_ASSERT_TRUE(
        parses(repeat("record R0 { int x; }", "record R%2$zu extends R%1$zu { }", 999, "")));
    CU_ASSERT_FALSE(
        parses(repeat("record R0 { int x; }", "record R%2$zu extends R%1$zu { }", 2000, "")));
    CU_ASSERT_FALSE(
        parses(repeat("record R60000 { }", "record R%1$zu extends R%2$zu { }", 60000, "")));
}

static void test_nesting_limit(void)
{
    CU_ASSERT_TRUE(parses(repeat("record R0 { int x; }", "record R%2$zu { R%1$zu r; }", 60, "")));
    CU_ASSERT_FALSE(parses(repeat("record R60000 { }", "record R%1$zu { R%2$zu r; }", 60000, "")));
}

/* 2^40 slots. */
static void test_slot_limit(void)
{
    CU_ASSERT_TRUE(
        parses(repeat("record R0 { int x; }", "record R%2$zu { R%1$zu a, b; }", 12, "")));
    CU_ASSERT_FALSE(
        parses(repeat("record R0 { int x; }", "record R%2$zu { R%1$zu a, b; }", 40, "")));
    CU_ASSERT_FALSE(parses(repeat("record R0 { }", "record R%2$zu { R%1$zu a, b; }", 40, "")));
}

static void test_record_limit(void)
{
    CU_ASSERT_TRUE(parses(repeat("", "record R%zu { }", 65535, "")));
    CU_ASSERT_FALSE(parses(repeat("", "record R%zu { }", 65536, "")));
}

/* Each finds its parent and a field's type through sixty packages. */
static void test_deep_packages(void)
{
    char before[2000] = "", after[80];
    size_t used = 0;
    for (int i = 0; i < 60; i++)
        used += (size_t) snprintf(before + used, sizeof before - used, "package p%d { ", i);
    snprintf(before + used, sizeof before - used, "record R0 { int x; }");
    memset(after, '}', 60);
    after[60] = '\0';
    char *text = repeat(before, "record S%zu extends R0 { R0 r; }", 50000, after);
    struct step_definition *definition = dl_parse_text(text, NULL, NULL);
    free(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL_FATAL(definition->record_count, 50001);
    for (uint32_t i = 0; i < definition->record_count; i++)
        if (step_definition_find(definition, definition->records[i].name) != i)
            CU_FAIL("a record is not found by its name");
    step_definition_destroy(definition);
}

/* What is passed over ends before the '}' of what is around it. */
static void test_recovery(void)
{
    struct fault_list faults;
    CU_ASSERT_PTR_NULL(dl_parse_text("package p {\n recrd A { int x; }\n record B { }\n}\n"
                                     "record C {\n p.B b;\n int x }\nrecord D {\n int [ y;\n}",
                                     &faults, NULL));
    CU_ASSERT_EQUAL(faults.count, 3);
    CU_ASSERT_EQUAL(faults.lines[0], 2);
    CU_ASSERT_EQUAL(faults.lines[1], 7);
    CU_ASSERT_EQUAL(faults.lines[2], 9);
}

/* A record whose parent is not there does not hide other faults, nor make more. */
static void test_broken_parent(void)
{
    struct fault_list faults;
    CU_ASSERT_PTR_NULL(dl_parse_text("record A extends Gone { ~x <g:\"v\">; }\n"
                                     "record B extends A { !x <g:\"v\">; }\n"
                                     "record C { Gone g; }\nrecord D extends D { }\n"
                                     "record E extends D { B b; ~y <g:\"v\">; }",
                                     &faults, NULL));
    CU_ASSERT_EQUAL(faults.count, 3);
}

struct caret {
    size_t count;
    uint32_t column, text_column;
    char text[100];
};

static void note_caret(void *user, const struct step_fault *fault)
{
    struct caret *caret = user;
    caret->count++;
    caret->column = fault->column;
    caret->text_column = fault->text_column;
    snprintf(caret->text, sizeof caret->text, "%.*s", (int) fault->text_length, fault->text);
}

static void test_fault_line(void)
{
    static const char text[] = "record A {\n  int\tx y;\n}";
    struct caret caret = {.count = 0};
    struct step_definition *definition = NULL;
    const struct step_definition_options options = {.report = note_caret, .user = &caret};
    CU_ASSERT_EQUAL(step_definition_read(text, sizeof text - 1, &options, &definition, NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(caret.count, 1);
    CU_ASSERT_EQUAL(caret.column, 9);
    CU_ASSERT_EQUAL(caret.text_column, 9);
    CU_ASSERT_STRING_EQUAL(caret.text, "  int\tx y;");
}

/* A text out of a trace reads no files. */
static void test_no_includes(void)
{
    struct fault_list faults;
    struct step_error error;
    CU_ASSERT_PTR_NULL(dl_parse_text("include \"/etc/passwd\"; record A { }", &faults, &error));
    CU_ASSERT_EQUAL(faults.count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "may not include"));
    struct step_definition *definition =
        dl_parse_text("record include { int include; } record B { include include; }", NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL(definition);
    step_definition_destroy(definition);
}

/* Words that never end are read once. */
static void test_unended(void)
{
    size_t length = (size_t) 4 << 20;
    char *text = malloc(length + 1);
    struct fault_list faults;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (size_t i = 0; i < length; i++)
        text[i] = "/* "[i % 3];
    text[length] = '\0';
    CU_ASSERT_PTR_NULL(dl_parse_text(text, &faults, NULL));
    CU_ASSERT_EQUAL(faults.count, 1);
    memset(text, '{', length);
    CU_ASSERT_PTR_NULL(dl_parse_text(text, &faults, NULL));
    CU_ASSERT(faults.count >= 1);
    free(text);
}

/* Inherited by many: more memory than a definition may take. */
static void test_memory_limit(void)
{
    char *fields = repeat("record R { ", "int f%zu;", 4000, " } ");
    char *text = repeat(fields, "record S%zu extends R { int g; }", 20000, "");
    free(fields);
    CU_ASSERT_FALSE(parses(text));
}

static void test_text_limit(void)
{
    size_t length = ((size_t) 16 << 20) + 1;
    char *text = malloc(length);
    struct step_definition *definition = NULL;
    struct step_error error;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, ' ', length);
    CU_ASSERT_EQUAL(step_definition_parse(text, length, "test", NULL, NULL, &definition, &error),
                    STEP_STATUS_LIMIT);
    CU_ASSERT_EQUAL(
        step_definition_parse(text, length - 1, "test", NULL, NULL, &definition, &error),
        STEP_STATUS_OK);
    step_definition_destroy(definition);
    memset(text, '\\', length);
    text[0] = '"';
    CU_ASSERT_EQUAL(
        step_definition_parse(text, length - 1, "test", NULL, NULL, &definition, &error),
        STEP_STATUS_INVALID);
    free(text);
}

/* Every prefix of a definition, and each with one byte changed: an answer, whatever it is. */
static void test_damage(void)
{
    static const char whole[] = "package p { record A \"l\" { \"d\" <g:\"v\"> int <e:\"1\">[] a; "
                                "string s \"x\" <h:\"w\">; } record B extends !A { p.A b "
                                "<encoding:\"identifier\">; ~s.length <g:\"v\">; !a <g:\"v\">; } }";
    char text[sizeof whole];
    unsigned seed = 1;
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        memcpy(text, whole, sizeof whole);
        text[i] = '\0';
        step_definition_destroy(dl_parse_text(text, NULL, NULL));
        for (unsigned j = 0; j < 8; j++) {
            memcpy(text, whole, sizeof whole);
            seed = seed * 1103515245u + 12345u;
            text[i] = (char) (1 + (seed >> 16) % 255);
            step_definition_destroy(dl_parse_text(text, NULL, NULL));
        }
    }
    CU_PASS("no crash");
}

CU_pSuite dl_add_fault_suite(void)
{
    CU_pSuite suite = CU_add_suite("faults", NULL, NULL);
    CU_ADD_TEST(suite, test_syntax);
    CU_ADD_TEST(suite, test_meaning);
    CU_ADD_TEST(suite, test_identifier_elsewhere);
    CU_ADD_TEST(suite, test_characters);
    CU_ADD_TEST(suite, test_own_name_outside);
    CU_ADD_TEST(suite, test_element_attributes);
    CU_ADD_TEST(suite, test_by_value_in_itself);
    CU_ADD_TEST(suite, test_many_in_one_run);
    CU_ADD_TEST(suite, test_package_limit);
    CU_ADD_TEST(suite, test_array_limit);
    CU_ADD_TEST(suite, test_inheritance_limit);
    CU_ADD_TEST(suite, test_nesting_limit);
    CU_ADD_TEST(suite, test_slot_limit);
    CU_ADD_TEST(suite, test_record_limit);
    CU_ADD_TEST(suite, test_memory_limit);
    CU_ADD_TEST(suite, test_text_limit);
    CU_ADD_TEST(suite, test_deep_packages);
    CU_ADD_TEST(suite, test_recovery);
    CU_ADD_TEST(suite, test_broken_parent);
    CU_ADD_TEST(suite, test_fault_line);
    CU_ADD_TEST(suite, test_no_includes);
    CU_ADD_TEST(suite, test_unended);
    CU_ADD_TEST(suite, test_damage);
    return suite;
}
