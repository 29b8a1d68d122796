/* SPDX-License-Identifier: Apache-2.0 */
/* What stepc makes of a definition: its canonical text, JSON, documentation and C. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

static const char zoo[] =
    "package zoo {\n"
    "  record Keeper \"keeper\" { string name <encoding:\"charset=utf-8\">; int class; }\n"
    "  record Event { <property:\"event\"> int time <property:\"time\"> <encoding:\"delta\">; }\n"
    "  record Feeding extends Event {\n"
    "    \"An animal is | *fed*. */ .fed\"\n"
    "    Keeper by <encoding:\"identifier\">; int[][] amounts; data picture;\n"
    "  }\n"
    "}\n"
    "record Nothing {}\n";

static struct step_definition *parse(const char *text)
{
    struct step_definition *definition = NULL;
    step_definition_parse(text, strlen(text), "t.step", NULL, NULL, &definition, NULL);
    return definition;
}

/* The caller frees it. */
static char *print(const struct step_definition *definition,
                   void (*function)(const struct text_output *output))
{
    char *text = NULL;
    size_t length = 0;
    struct text_output output = {definition, "zoo", open_memstream(&text, &length)};
    function(&output);
    fclose(output.out);
    return text;
}

/* The canonical text means the same, and is its own canonical text. */
static void test_canonical(void)
{
    struct step_definition *first = parse(zoo);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    char *once = print(first, print_canonical);
    struct step_definition *second = parse(once);
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    char *twice = print(second, print_canonical);
    CU_ASSERT_STRING_EQUAL(once, twice);
    CU_ASSERT_EQUAL(second->record_count, first->record_count);
    for (size_t i = 0; i < first->record_count; i++) {
        CU_ASSERT_STRING_EQUAL(second->records[i].name, first->records[i].name);
        CU_ASSERT_EQUAL_FATAL(second->records[i].field_count, first->records[i].field_count);
        for (size_t k = 0; k < first->records[i].field_count; k++)
            CU_ASSERT_STRING_EQUAL(second->records[i].fields[k].name,
                                   first->records[i].fields[k].name);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(once, "    int[][] amounts;\n"));
    free(once);
    free(twice);
    step_definition_destroy(first);
    step_definition_destroy(second);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void test_schema(void)
{
    struct step_definition *definition = parse(zoo);
    char *text = print(definition, print_schema);
    CU_ASSERT_EQUAL(text[0], '{');
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"name\": \"zoo.Feeding\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"array\": 2"));
    CU_ASSERT_EQUAL(count_of(text, "\"number\":"), 4);
    CU_ASSERT_EQUAL(count_of(text, "{"), count_of(text, "}"));
    free(text);
    step_definition_destroy(definition);
}

/* Nothing of a description begins a table, a heading or an instruction. */
static void test_documentation(void)
{
    struct step_definition *definition = parse(zoo);
    char *text = print(definition, print_markdown);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "An animal is \\| \\*fed\\*. \\*/ .fed\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "  - [`zoo.Feeding`](#zoo.Feeding)\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "| `by` | `zoo.Keeper` | encoding identifier | |\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Inherited: `time`.\n"));
    free(text);
    step_definition_destroy(definition);
    definition = parse("record A { \".SH no heading\\\\ 'x\" int a; }");
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    text = print(definition, print_man_page);
    CU_ASSERT_PTR_NULL(strstr(text, "\n.SH no heading"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ".SH no heading"));
    CU_ASSERT_EQUAL(strncmp(text, ".TH \"zoo\" 5 ", 12), 0);
    free(text);
    step_definition_destroy(definition);
}

static void test_types(void)
{
    struct step_definition *definition = parse(zoo);
    static const char *const types[] = {"int", "zoo.Keeper", "int[][]", "data"};
    CU_ASSERT_EQUAL(doc_inherited_count(definition, 2), 1);
    CU_ASSERT_EQUAL(doc_inherited_count(definition, 1), 0);
    for (size_t i = 0; i < 4; i++) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        doc_put_type(out, definition, &definition->records[2].fields[i]);
        fclose(out);
        CU_ASSERT_STRING_EQUAL(text, types[i]);
        free(text);
    }
    step_definition_destroy(definition);
}

/* ---- C ---- */

static char *c_text(struct c_output *output, void (*write)(const void *user, FILE *out))
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    write(output, out);
    fclose(out);
    return text;
}

static void test_c(void)
{
    struct step_definition *definition = parse(zoo);
    struct c_output output = {.definition = definition, .names_begin = "my_"};
    output.file = compiler_base("stepc", "out/zoo-trace", "my_", output.base);
    CU_ASSERT_TRUE_FATAL(c_output_init(&output, "zoo.step"));
    CU_ASSERT_TRUE(output.is_dictionary[0]);
    CU_ASSERT_FALSE(output.is_dictionary[1] || output.is_dictionary[3]);
    CU_ASSERT_STRING_EQUAL(output.names[2], "my_zoo_feeding");
    char *header = c_text(&output, c_output_header), *source = c_text(&output, c_output_source);
    static const char *const parts[] = {
        "    uint64_t by; /* dictionary entry */\n",
        "    int64_t class_;\n",
        "    struct step_array amounts;\n",
        "    char none; /* the record has no fields */\n",
        "struct my_zoo_keeper {\n    struct step_bytes name;\n",
        "extern const struct step_definition my_zoo_trace_definition;\n"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(header, parts[i]));
    CU_ASSERT_PTR_NOT_NULL(strstr(source, "#include \"zoo-trace.h\"\n"));
    CU_ASSERT_EQUAL(count_of(source, "{"), count_of(source, "}"));
    /* a description cannot end its comment */
    CU_ASSERT_EQUAL(count_of(header, "/*"), count_of(header, "*/"));
    free(header);
    free(source);
    c_output_reset(&output);
    step_definition_destroy(definition);
}

/* Two records whose names in C would be one get different ones. */
static void test_c_names(void)
{
    struct step_definition *definition =
        parse("record AB { int x; } record Ab { int x; } record A_B { int y; } record Int {}");
    struct c_output output = {.definition = definition, .names_begin = ""};
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    output.file = compiler_base("stepc", "t", "", output.base);
    if (c_output_init(&output, "t.step"))
        for (size_t i = 0; i < definition->record_count; i++)
            for (size_t k = 0; k < i; k++)
                CU_ASSERT_STRING_NOT_EQUAL(output.names[i], output.names[k]);
    c_output_reset(&output);
    step_definition_destroy(definition);
}

static int checked(const char *text, bool strict, struct scratch_heard *heard)
{
    struct step_definition *definition = parse(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    scratch_listen();
    int code = check_definition(definition, "t.step", strict);
    *heard = scratch_hear();
    step_definition_destroy(definition);
    return code;
}

/* Warnings are no faults, unless they are to be. */
static void test_check(void)
{
    struct scratch_heard heard;
    CU_ASSERT_EQUAL(checked(zoo, true, &heard), EXIT_DONE);
    CU_ASSERT_STRING_EQUAL(heard.err, "");
    static const char odd[] = "record A { int a <encoding:\"detla\">; }";
    CU_ASSERT_EQUAL(checked(odd, false, &heard), EXIT_DONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "warning: encoding: 'detla' is not known to "
                                             "StepTrace; is 'delta' meant?"));
    CU_ASSERT_EQUAL(checked(odd, true, &heard), EXIT_BAD_INPUT);
    static const char *const bad[][2] = {
        {"record A { string s <encoding:\"delta\">; }", "does not fit a string"},
        {"record A { int a <encoding:\"size=9\">; }", "is not one of 1 to 8"},
        {"record A { int a <encodings:\"delta\">; }", "is 'encoding' meant?"},
        {"record A { string s <encoding:\"charset=klingon\">; }", "is not known"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CU_ASSERT_EQUAL(checked(bad[i][0], true, &heard), EXIT_BAD_INPUT);
        CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, bad[i][1]));
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("stepc", scratch_begin, scratch_end);
    CU_add_test(suite, "canonical", test_canonical);
    CU_add_test(suite, "JSON", test_schema);
    CU_add_test(suite, "documentation", test_documentation);
    CU_add_test(suite, "types", test_types);
    CU_add_test(suite, "C", test_c);
    CU_add_test(suite, "names in C", test_c_names);
    CU_add_test(suite, "checks", test_check);
}
