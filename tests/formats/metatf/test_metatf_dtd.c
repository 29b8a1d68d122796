/* SPDX-License-Identifier: Apache-2.0 */
/* The DTD language: the paper's example and the slides' as printed, what each part means, faults
 * with their places, texts cut at every byte. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/metatf.h"
#include "tests/unit/run_suite.h"

static struct metatf_dtd *parse(const char *text, struct step_error *error)
{
    struct metatf_dtd *dtd = NULL;
    metatf_dtd_parse(text, strlen(text), "t", NULL, NULL, &dtd, error);
    return dtd;
}

static struct metatf_dtd *load(const char *name)
{
    static char text[1 << 16];
    char path[1024];
    struct step_error error = {.message = ""};
    snprintf(path, sizeof path, "%s/%s", DTD_DIRECTORY, name);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    struct metatf_dtd *dtd = parse(text, &error);
    if (dtd == NULL)
        fprintf(stderr, "%s: %s\n", name, error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dtd);
    return dtd;
}

static const struct metatf_record *record_of(const struct metatf_dtd *dtd, uint32_t section,
                                             const char *name)
{
    uint32_t record = metatf_section_record(&dtd->sections[section], name);
    CU_ASSERT_NOT_EQUAL_FATAL(record, UINT32_MAX);
    return &dtd->sections[section].records[record];
}

static void test_appendix_c(void)
{
    struct metatf_dtd *dtd = load("appendix_c.dtd");
    CU_ASSERT_EQUAL(dtd->tag_width, 1);
    CU_ASSERT_EQUAL(dtd->section_count, 2);
    CU_ASSERT_STRING_EQUAL(dtd->sections[1].name, "heap");
    CU_ASSERT_EQUAL(dtd->sections[1].number, 1);
    const struct metatf_record *alloc = record_of(dtd, 1, "alloc");
    CU_ASSERT_EQUAL(alloc->tag, 4);
    CU_ASSERT_EQUAL(alloc->field_count, 8);
    CU_ASSERT_EQUAL(alloc->fields[1].width, 4);
    CU_ASSERT_EQUAL(alloc->fields[3].interpretation, STEP_FIELD_DEFAULT);
    CU_ASSERT_STRING_EQUAL(alloc->fields[7].path, "vfield.data");
    CU_ASSERT_EQUAL(alloc->fields[7].kind, METATF_BYTES);
    CU_ASSERT_EQUAL(alloc->fields[7].width_field, 6);
    const struct metatf_record *moved = record_of(dtd, 1, "realloc");
    CU_ASSERT_STRING_EQUAL(moved->fields[2].path, "address2");
    CU_ASSERT_EQUAL(moved->fields[1].cell, moved->fields[2].cell);
    CU_ASSERT_EQUAL(metatf_record_field(alloc, "vfield.data"), 7);
    CU_ASSERT_EQUAL(metatf_record_field(moved, "address2"), 2);
    CU_ASSERT_EQUAL(metatf_record_field(moved, "address3"), UINT32_MAX);
    CU_ASSERT_EQUAL(record_of(dtd, 1, "comment")->tag, 1);
    CU_ASSERT_EQUAL(record_of(dtd, 1, "section")->tag, 2);
    CU_ASSERT_EQUAL(record_of(dtd, 1, "metadata")->tag, 3);
    metatf_dtd_destroy(dtd);
}

/* A tag is unique within its section only: there a global record with the same tag is not. */
static void test_tag_of_two(void)
{
    struct step_error error;
    struct metatf_dtd *dtd =
        parse("tag.interpretation = none; x.width = 4; x.interpretation = none;\n"
              "r : (tag, x) { tag.value = 4; }\n"
              "section s 1 { a : (tag, x, x) { tag.value = 4; } }\n"
              "section t 2 { b : (tag) { tag.value = 5; tag.interpretation = none; } }",
              &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dtd);
    CU_ASSERT_EQUAL(record_of(dtd, 0, "r")->tag, 4);
    CU_ASSERT_EQUAL(record_of(dtd, 1, "a")->tag, 4);
    CU_ASSERT_EQUAL(metatf_section_record(&dtd->sections[1], "r"), UINT32_MAX);
    CU_ASSERT_EQUAL(record_of(dtd, 2, "r")->tag, 4);
    metatf_dtd_destroy(dtd);
}

static void test_slides(void)
{
    struct metatf_dtd *dtd = load("slides.dtd");
    CU_ASSERT_EQUAL(record_of(dtd, 1, "alloc")->tag, 1);
    CU_ASSERT_EQUAL(record_of(dtd, 1, "comment")->tag, 11);
    CU_ASSERT_EQUAL(record_of(dtd, 1, "section")->tag, 12);
    CU_ASSERT_EQUAL(record_of(dtd, 1, "metadata")->tag, 13);
    CU_ASSERT_EQUAL(record_of(dtd, 0, "comment")->tag, 1);
    metatf_dtd_destroy(dtd);
}

/* Properties come from the innermost scope; cells are shared where the scope is. */
static void test_scopes(void)
{
    struct step_error error;
    struct metatf_dtd *dtd =
        parse("x.width = 4; x.interpretation = delta 0;\n"
              "r : (tag, x) { tag.value = 9; }\n"
              "section s 1 { x.width = 2;\n"
              "  a : (tag, x) { tag.value = 4; }\n"
              "  b : (tag, x) { tag.value = 5; x.interpretation = none; }\n"
              "  c : (tag, x, in : (x, x) { x.width = 1; }) { tag.value = 6; }\n"
              "}",
              &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(dtd);
    const struct metatf_record *a = record_of(dtd, 1, "a");
    const struct metatf_record *b = record_of(dtd, 1, "b");
    const struct metatf_record *c = record_of(dtd, 1, "c");
    const struct metatf_record *r = record_of(dtd, 1, "r");
    CU_ASSERT_EQUAL(a->fields[1].width, 2);
    CU_ASSERT_EQUAL(a->fields[1].interpretation, STEP_FIELD_DELTA);
    CU_ASSERT_EQUAL(b->fields[1].interpretation, STEP_FIELD_NONE);
    CU_ASSERT_EQUAL(r->fields[1].width, 4);
    CU_ASSERT_EQUAL(c->fields[2].width, 1);
    CU_ASSERT_STRING_EQUAL(c->fields[3].path, "in.x2");
    CU_ASSERT_EQUAL(a->fields[1].cell, c->fields[3].cell);
    CU_ASSERT_EQUAL(a->fields[1].cell, r->fields[1].cell);
    CU_ASSERT_NOT_EQUAL(a->fields[1].cell, b->fields[1].cell);
    metatf_dtd_destroy(dtd);
}

#define NONE "x.width = 1; x.interpretation = none; "
static const struct {
    const char *text;
    const char *message; /* its start */
} faults[] = {
    {"r : (tag, x) { tag.value = 4; }", "1:11: field x of record r has no interpretation"},
    {"x.interpretation = none;\nr : (tag, x) { tag.value = 4; }",
     "2:11: field x of record r has no width"},
    {"x.interpretation = none; r : (tag, x) {\n tag.value = 4; x.width = x.value; }",
     "2:27: x refers to itself"},
    {"x.interpretation = none; r : (tag, x) {\n tag.value = 4; x.width = x.width; }",
     "2:27: the width of x refers to itself"},
    {"x.interpretation = none; x.width = y.width; y.width = x.width;\n"
     "r : (tag, x) { tag.value = 4; }",
     "1:36: the width of x refers to itself"},
    {"x.interpretation = none; x.width = y.value; y.width = 1; y.interpretation = none;\n"
     "r : (tag, x, y) { tag.value = 4; }",
     "1:36: record r has no number y before x"},
    {NONE "r : (tag, n*x, y) { tag.value = 4; n.width = 1; n.interpretation = none;\n"
          "y.interpretation = none; y.width = x.value; }",
     "2:36: record r has no number x before y"},
    {NONE "r : (tag, r) { tag.value = 4; }", "1:"},
    {NONE "a : (b, b) b : (c, c) c : (a, x) r : (tag, a) { tag.value = 4; }", "1:"},
    {NONE "r : (tag, x) { tag.value = 4; }\ns : (tag, x) { tag.value = 4; }",
     "2:1: another record of the section has tag 4"},
    {NONE "r : (tag, x) { tag.value = 256; }", "1:54: the tag of record r is no number of 1 byte"},
    {NONE "r : (x, tag) { tag.value = 4; }", "1:47: the tag of record r is not its first field"},
    {NONE "r : (tag, x) { }", "1:39: record r has no tag.value"},
    {NONE "r : (tag, x) { tag.value = 4; y.width = 1; }",
     "1:69: record r has no field y of its own"},
    {NONE "x.width = 2;", "1:39: x.width is set twice"},
    {"tag.width = 9;", "1:1: the width of tags is 1 to 8 bytes"},
    {"section s 1 { tag.width = 1; }", "1:15: tag.width cannot be set here"},
    {"section s 0 { }", "1:9: the number of section s is not 1 to 255"},
    {"section s 1 { } section t 1 { }", "1:25: there are two sections t 1"},
    {"comment : (x) { }", "1:1: the name comment is reserved"},
    {"x.width = 1; x.interpretation = delta; r : (tag, x) { tag.value = 4; }",
     "1:14: delta takes 1 argument"},
    {"x.width = 1; x.interpretation = zigzag 1; r : (tag, x) { tag.value = 4; }",
     "1:14: x has an unknown interpretation"},
    {"x.interpretation = sectionStride 7 4; r : (tag, x) { tag.value = 4; }",
     "1:1: there is no section 7"},
    {"x.interpretation = sectionStride 7 9; r : (tag, x) { tag.value = 4; } section s 7 { }",
     "1:1: the stride through a section is 1 to 8 bytes"},
    {"x.interpretation = sectionStride 7 1; r : (tag, x) { tag.value = 4; }\n"
     "section s 7 { q : (tag) { tag.value = 5; } }",
     "1:1: the stride through a section of records is 2 to 9 bytes"},
    {"section s 7 { x.interpretation = sectionStride 7 4;\nq : (tag, x) { tag.value = 5; } }",
     "1:15: sectionStride goes through another section"},
    {"tag.interpretation = delta 0;", "1:1: tag.interpretation cannot be set here"},
    {"x.width = 12; x.interpretation = delta 0; r : (tag, x) { tag.value = 4; }",
     "1:15: x is bytes"},
    {"x.width = 99999999999999999999; ", "1:11: unexpected number of more than 64 bits"},
    {"x.width = 17000000; x.interpretation = none; r : (tag, x) { tag.value = 4; }",
     "1:11: the width of x is more than 16777216 bytes"},
    {"/* no end", "1:1: unexpected comment that does not end"},
    {"r : (tag, @) { }", "1:11: unexpected character that has no place in a DTD"},
    {"section s 1 {\n", "2:1: unexpected end of text"},
};

static void test_faults(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct step_error error = {.message = ""};
        struct metatf_dtd *dtd = parse(faults[i].text, &error);
        if (dtd != NULL ||
            strncmp(error.message, faults[i].message, strlen(faults[i].message)) != 0)
            fprintf(stderr, "%s\n  gives %s\n  not   %s\n", faults[i].text, error.message,
                    faults[i].message);
        CU_ASSERT_PTR_NULL(dtd);
        CU_ASSERT_EQUAL(error.status, STEP_STATUS_INVALID);
        CU_ASSERT_EQUAL(strncmp(error.message, faults[i].message, strlen(faults[i].message)), 0);
        metatf_dtd_destroy(dtd);
    }
}

static void keep_fault(void *user, const struct step_fault *fault)
{
    struct step_fault *kept = user;
    *kept = *fault;
}

/* A fault comes with its line, for the caret. */
static void test_caret(void)
{
    static const char text[] = "tag.width = 1;\nx : (y;\n";
    struct step_fault fault = {.line = 0};
    struct metatf_dtd *dtd = NULL;
    CU_ASSERT_EQUAL(
        metatf_dtd_parse(text, sizeof text - 1, "t.dtd", keep_fault, &fault, &dtd, NULL),
        STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(fault.line, 2);
    CU_ASSERT_EQUAL(fault.text_column, 7);
    CU_ASSERT_EQUAL(fault.text_length, 7);
    CU_ASSERT_EQUAL(strncmp(fault.text, "x : (y;", 7), 0);
}

static void test_cuts(void)
{
    struct metatf_dtd *whole = load("corpus.dtd");
    for (size_t length = 0; length < whole->text_length; length++) {
        struct metatf_dtd *dtd = NULL;
        metatf_dtd_parse(whole->text, length, "t", NULL, NULL, &dtd, NULL);
        metatf_dtd_destroy(dtd);
    }
    struct metatf_dtd *dtd = NULL;
    CU_ASSERT_EQUAL(metatf_dtd_parse(whole->text, whole->text_length, "t", NULL, NULL, &dtd, NULL),
                    STEP_STATUS_OK);
    metatf_dtd_destroy(dtd);
    metatf_dtd_destroy(whole);
}

/* Records that double at each level would take memory without end. */
static void test_growth(void)
{
    char text[4096] = "x.width = 1; x.interpretation = none; r0 : (x, x)\n";
    struct step_error error;
    for (int i = 1; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "r%d : (r%d, r%d)\n", i, i - 1,
                 i - 1);
    strcat(text, "e : (tag, r39) { tag.value = 4; }");
    CU_ASSERT_PTR_NULL(parse(text, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "too many fields"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("metatf DTDs", NULL, NULL);
    CU_add_test(suite, "Appendix C", test_appendix_c);
    CU_add_test(suite, "a tag of two records", test_tag_of_two);
    CU_add_test(suite, "slides", test_slides);
    CU_add_test(suite, "scopes", test_scopes);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "caret", test_caret);
    CU_add_test(suite, "cuts", test_cuts);
    CU_add_test(suite, "growth", test_growth);
}
