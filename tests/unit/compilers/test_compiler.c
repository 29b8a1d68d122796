/* SPDX-License-Identifier: Apache-2.0 */
/* What the compilers of definitions share: their command line, names in C, and files. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compilers/compiler.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

static void test_record_names(void)
{
    static const char *const pairs[][2] = {{"zoo.NightFeeding", "zoo_night_feeding"},
                                           {"HTTPVisit", "http_visit"},
                                           {"a.b.C", "a_b_c"},
                                           {"X509Key", "x509_key"},
                                           {"already_low", "already_low"},
                                           {"A", "a"},
                                           {"ABC", "abc"},
                                           {"", ""}};
    char out[C_NAME_SIZE], small[6];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        c_names_of_record(pairs[i][0], out, sizeof out);
        CU_ASSERT_STRING_EQUAL(out, pairs[i][1]);
    }
    c_names_of_record("ABABABABABAB", small, sizeof small); /* as far as there is room */
    CU_ASSERT(strlen(small) < sizeof small);
    c_names_upper("a_b9", out, sizeof out);
    CU_ASSERT_STRING_EQUAL(out, "A_B9");
    c_names_upper("abcdefgh", small, sizeof small);
    CU_ASSERT_STRING_EQUAL(small, "ABCDE");
}

static void test_reserved(void)
{
    static const char *const reserved[] = {"class", "int",   "errno", "NULL",
                                           "while", "_Bool", "__x",   "bool"};
    static const char *const free_names[] = {"time", "size", "count", "clazz", "x_", "Int"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        CU_ASSERT_TRUE(c_names_is_reserved(reserved[i]));
    for (size_t i = 0; i < sizeof free_names / sizeof free_names[0]; i++)
        CU_ASSERT_FALSE(c_names_is_reserved(free_names[i]));
    CU_ASSERT_TRUE(c_names_is_type("size_t"));
    CU_ASSERT_FALSE(c_names_is_type("size"));
}

/* A reserved name gets as many underscores as make it unlike the other fields. */
static void test_members(void)
{
    static const char text[] = "record A { int class; int class_; int class__; int size; }";
    struct step_definition *definition = NULL;
    char out[C_NAME_SIZE];
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, sizeof text - 1, "t", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    const struct step_record *record = &definition->records[0];
    CU_ASSERT_STRING_EQUAL(c_names_of_member(record, 0, out, sizeof out), "class___");
    CU_ASSERT_STRING_EQUAL(c_names_of_member(record, 1, out, sizeof out), "class_");
    CU_ASSERT_STRING_EQUAL(c_names_of_member(record, 3, out, sizeof out), "size");
    step_definition_destroy(definition);
}

/* Any bytes, as a C compiler reads them back: no trigraph, no quote that ends, no hex digit that
 * joins what stands before it. */
static void test_literals(void)
{
    static const struct {
        const char *text;
        size_t length;
        const char *literal;
    } cases[] = {{"", 0, "\"\""},
                 {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
                 {"a?\?/b", 5, "\"a\\?\\?/b\""},
                 {"\0001", 2, "\"\\0001\""},
                 {"\xff\x7f", 2, "\"\\377\\177\""},
                 {"a\nb", 3, "\"a\\n\"\n    \"b\""},
                 {"a\n", 2, "\"a\\n\""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *out = NULL;
        size_t length = 0;
        FILE *file = open_memstream(&out, &length);
        c_literal_put(file, cases[i].text, cases[i].length);
        fclose(file);
        CU_ASSERT_STRING_EQUAL(out, cases[i].literal);
        free(out);
    }
}

static void test_base(void)
{
    char name[COMPILER_BASE_SIZE], text[128];
    CU_ASSERT_STRING_EQUAL(compiler_base("c", "d/java-trace", "", name), "java-trace");
    CU_ASSERT_STRING_EQUAL(name, "java_trace");
    CU_ASSERT_PTR_NOT_NULL(compiler_base("c", "9lives", "", name));
    CU_ASSERT_STRING_EQUAL(name, "n9lives");
    CU_ASSERT_PTR_NOT_NULL(compiler_base("c", "9lives", "my_", name));
    CU_ASSERT_STRING_EQUAL(name, "my_9lives");
    memset(text, 'a', 101);
    text[101] = '\0';
    static const char *const bad[] = {"", "d/", "a\"b", "a\\b", "a\nb"};
    scratch_listen();
    const char *is_long = compiler_base("c", text, "", name);
    text[100] = '\0';
    const char *longest = compiler_base("c", text, "", name);
    unsigned taken = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        taken += compiler_base("c", bad[i], "", name) != NULL;
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT(is_long == NULL && longest != NULL && taken == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "cannot be used as the name of C files"));
}

static bool takes_prefix(const char *value, const char *wanted)
{
    char program[] = "c", option[] = "--prefix", text[80], last[] = "--c";
    char *arguments[] = {program, option, text, last, NULL};
    const char *prefix = NULL;
    int count = 4;
    snprintf(text, sizeof text, "%s", value);
    bool taken = compiler_take_prefix(&count, arguments, &prefix);
    if (!taken)
        return wanted == NULL;
    return wanted != NULL && strcmp(prefix, wanted) == 0 && count == 2 && arguments[1] == last;
}

static void test_prefix(void)
{
    char text[70], program[] = "c", option[] = "--prefix";
    char *last[] = {program, option, NULL};
    const char *prefix;
    int count = 2;
    CU_ASSERT_TRUE(takes_prefix("my_", "my_"));
    CU_ASSERT_TRUE(takes_prefix("", NULL));
    CU_ASSERT_TRUE(takes_prefix("9a", NULL));
    CU_ASSERT_TRUE(takes_prefix("a-b", NULL));
    memset(text, 'a', sizeof text);
    text[COMPILER_PREFIX_LIMIT] = '\0';
    CU_ASSERT_TRUE(takes_prefix(text, text));
    text[COMPILER_PREFIX_LIMIT] = 'a';
    text[COMPILER_PREFIX_LIMIT + 1] = '\0';
    CU_ASSERT_TRUE(takes_prefix(text, NULL));
    CU_ASSERT_FALSE(compiler_take_prefix(&count, last, &prefix)); /* without its value */
}

static void write_text(const void *user, FILE *out)
{
    fputs(user, out);
}

/* Both files are there whole, and nothing else; a name that is a directory is left alone. */
static void test_files(void)
{
    const char *base = scratch_path("out");
    CU_ASSERT_TRUE(compiler_write_files("c", base, write_text, write_text, "text\n"));
    CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path("out.h"), NULL), "text\n");
    CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path("out.c"), NULL), "text\n");
    CU_ASSERT_TRUE(compiler_write_files("c", base, write_text, write_text, "again\n"));
    CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path("out.c"), NULL), "again\n");
    CU_ASSERT_EQUAL(mkdir(scratch_path("taken.h"), 0700), 0);
    scratch_listen();
    bool taken = compiler_write_files("c", scratch_path("taken"), write_text, write_text, "x");
    bool none = compiler_write_files("c", scratch_path("no/out"), write_text, write_text, "x");
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_FALSE(taken || none);
    CU_ASSERT(strstr(heard.err, "taken.h") != NULL && strstr(heard.err, "no/out.h") != NULL);
    CU_ASSERT_PTR_NULL(scratch_read(scratch_path("taken.c"), NULL));
}

static void test_read(void)
{
    size_t length = 7;
    char *text = compiler_read_text("c", scratch_put("in", "a\0b", 3), 100, &length);
    CU_ASSERT(text != NULL && length == 3 && memcmp(text, "a\0b", 3) == 0);
    free(text);
    text = compiler_read_text("c", scratch_put_text("in", "0123456789"), 4, &length);
    CU_ASSERT(text != NULL && length == 5); /* one beyond the limit, so that it is noticed */
    free(text);
    scratch_listen();
    text = compiler_read_text("c", scratch_path("none"), 4, &length);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_PTR_NULL(text);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "none"));
}

/* ---- the command line ---- */

static int run_one(int count, char **arguments)
{
    return count == 1 && strcmp(arguments[0], "good") == 0 ? EXIT_DONE : EXIT_USAGE;
}

static int check_one(const char *path)
{
    return strcmp(path, "bad") == 0    ? EXIT_BAD_INPUT
           : strcmp(path, "lost") == 0 ? EXIT_FAILED
                                       : EXIT_DONE;
}

static const struct compiler_output outputs[] = {{"--run", "FILE", "runs", run_one, NULL},
                                                 {"--check", "FILE...", "checks", NULL, check_one}};
static const struct compiler compiler = {.program = "unitc",
                                         .title = "the title",
                                         .notes = "the notes\n",
                                         .usage = "--run|--check",
                                         .outputs = outputs,
                                         .output_count = 2};

static struct scratch_heard heard_last;

static int run(bool valid, const char *option, const char *first, const char *second)
{
    char texts[4][32] = {"unitc"}, *arguments[5] = {texts[0]};
    const char *given[] = {option, first, second};
    int count = 1;
    for (int i = 0; i < 3 && given[i] != NULL; i++, count++) {
        snprintf(texts[count], sizeof texts[0], "%s", given[i]);
        arguments[count] = texts[count];
    }
    scratch_listen();
    int code = compiler_run(&compiler, valid, count, arguments);
    heard_last = scratch_hear();
    return code;
}

static void test_run(void)
{
    CU_ASSERT_EQUAL(run(true, "--run", "good", NULL), EXIT_DONE);
    CU_ASSERT_EQUAL(run(true, "--run", "other", NULL), EXIT_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard_last.err, "usage: unitc --run FILE\n"));
    CU_ASSERT_EQUAL(run(true, "--check", "good", "bad"), EXIT_BAD_INPUT);
    CU_ASSERT_EQUAL(run(true, "--check", "bad", "lost"), EXIT_BAD_INPUT); /* the highest */
    CU_ASSERT_EQUAL(run(true, "--check", NULL, NULL), EXIT_USAGE);
    CU_ASSERT_EQUAL(run(true, "--nothing", "good", NULL), EXIT_USAGE);
    CU_ASSERT_EQUAL(run(true, NULL, NULL, NULL), EXIT_USAGE);
    CU_ASSERT_EQUAL(run(false, "--run", "good", NULL), EXIT_USAGE);
    CU_ASSERT_EQUAL(run(true, "--help", NULL, NULL), EXIT_DONE);
    CU_ASSERT(strstr(heard_last.out, "the title") != NULL &&
              strstr(heard_last.out, "the notes") != NULL &&
              strstr(heard_last.out, "unitc --check    FILE...") != NULL);
    CU_ASSERT_EQUAL(run(true, "--version", NULL, NULL), EXIT_DONE);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard_last.out, "unitc"));
}

static void test_faults(void)
{
    static const char text[] = "record A {\n\tint a b;\n}\n";
    struct step_definition *definition = NULL;
    scratch_listen();
    const struct step_definition_options options = {.name = "t.step",
                                                    .report = compiler_report_fault};
    enum step_status status =
        step_definition_read(text, sizeof text - 1, &options, &definition, NULL);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_EQUAL(status, STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(strncmp(heard.err, "t.step:2:", 9), 0);
    const char *line = strstr(heard.err, "int a b;\n"), *caret = strchr(heard.err, '^');
    CU_ASSERT(line != NULL && caret != NULL && line < caret);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("compilers", scratch_begin, scratch_end);
    CU_add_test(suite, "names of records", test_record_names);
    CU_add_test(suite, "reserved names", test_reserved);
    CU_add_test(suite, "members", test_members);
    CU_add_test(suite, "literals", test_literals);
    CU_add_test(suite, "base names", test_base);
    CU_add_test(suite, "prefixes", test_prefix);
    CU_add_test(suite, "files", test_files);
    CU_add_test(suite, "reading", test_read);
    CU_add_test(suite, "command line", test_run);
    CU_add_test(suite, "faults", test_faults);
}
