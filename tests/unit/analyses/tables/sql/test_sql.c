/* SPDX-License-Identifier: Apache-2.0 */
/* Statements on traces: rows whose numbers are worked out by hand, the three forms of output with
 * hostile names, grouping by the cursor against SQLite's own, and what statements may not do. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(sql);

/* Two objects of 16 bytes of the class 2 ("b/B"), of which one dies; three of the hostile class 3,
 * of 8, 24 and 2^63 bytes. */
static char *write_objects(void)
{
    small_trace_begin("objects.step");
    uint64_t plain = small_class("b/B"), hostile = small_class(HOSTILE_NAME);
    uint64_t frame = small_frame(0, small_method(hostile, "m"), 5);
    small_start();
    small_now = 10;
    uint64_t dead = small_alloc(plain, 16, 0);
    small_alloc(hostile, 8, frame);
    small_now = 20;
    small_alloc(plain, 16, 0);
    small_alloc(hostile, 24, 0);
    small_now = 30;
    small_free(dead);
    small_alloc(hostile, UINT64_C(1) << 63, 0);
    small_death();
    return small_trace_end();
}

static enum step_status query(const char *path, const char *text)
{
    enum step_status status = run_verb(verb_sql, "--json", path, text, NULL);
    if (status == STEP_STATUS_OK)
        CU_ASSERT_TRUE_FATAL(run_json());
    return status;
}

static void test_rows(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(query(path, "select object, class, size, born, died, alive, site is null as "
                                "bare from objects order by object"),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(json_count(""), 5);
    CU_ASSERT_STRING_EQUAL(json_at("[0].class"), "b/B");
    CU_ASSERT_STRING_EQUAL(json_at("[0].born"), "10000");
    CU_ASSERT_STRING_EQUAL(json_at("[0].died"), "30000");
    CU_ASSERT_STRING_EQUAL(json_at("[0].alive"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("[0].bare"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("[1].class"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("[1].died"), "null");
    CU_ASSERT_STRING_EQUAL(json_at("[1].bare"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("[4].size"), "-9223372036854775808"); /* two's complement */
    CU_ASSERT_EQUAL(query(path, "select collection, freed_objects, freed_bytes from collections"),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(json_count(""), 1);
    CU_ASSERT_STRING_EQUAL(json_at("[0].freed_bytes"), "16");
    CU_ASSERT_EQUAL(query(path, "select 1 from objects where size = 25"), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(json_count(""), 0); /* no row is an empty array */
}

/* A condition may let blocks pass, but never a row that it takes. */
static void test_conditions(void)
{
    static const struct {
        const char *condition, *count;
    } rows[] = {{"size = 16", "2"},
                {"size > 16", "1"}, /* of 24; 2^63 is negative here */
                {"size >= 16 and size < 25", "3"},
                {"size < 0", "1"},
                {"size = null", "0"},
                {"size is null", "0"},
                {"died is null", "4"},
                {"born between 20000 and 20000", "2"},
                {"born > 9223372036854775807", "0"},
                {"born < 10000.5", "2"},
                {"class = 'b/B'", "2"},
                {"class glob 'b/*'", "2"},
                {"class like 'B/B'", "2"},
                {"class = 'B/B' collate nocase", "2"},
                {"class in ('b/B', 'x')", "2"},
                {"class = 'b/B' or size = 24", "3"},
                {"object = 3", "1"},
                {"object in (1, 2, 99)", "2"},
                {"rowid = -1", "0"}};
    char *path = write_objects(), text[200];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, "select count(*) as n from objects where %s",
                 rows[i].condition);
        CU_ASSERT_EQUAL(query(path, text), STEP_STATUS_OK);
        if (strcmp(json_at("[0].n"), rows[i].count) != 0)
            fprintf(stderr, "%s: %s\n", rows[i].condition, json_at("[0].n"));
        CU_ASSERT_STRING_EQUAL(json_at("[0].n"), rows[i].count);
    }
}

static void test_groups(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(query(path, "select class, count(*) n, sum(size) s from objects group by class "
                                "order by class desc"),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(json_count(""), 2);
    CU_ASSERT_STRING_EQUAL(json_at("[0].class"), "b/B");
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("[0].s"), "32");
    CU_ASSERT_STRING_EQUAL(json_at("[1].n"), "3");
    CU_ASSERT_EQUAL(query(path, "select site, count(*) n from objects group by site"),
                    STEP_STATUS_OK); /* null is a group, the first one */
    CU_ASSERT_EQUAL(json_count(""), 2);
    CU_ASSERT_STRING_EQUAL(json_at("[0].site"), "null");
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "4");
    CU_ASSERT_STRING_EQUAL(json_at("[1].n"), "1");
    CU_ASSERT_EQUAL(query(path, "select distinct class_id, thread from objects"), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(json_count(""), 2);
}

/* The cursor groups rows of many batches; what SQLite sorts itself, as the key has no column, has
 * to be the same. */
static void test_groups_of_many(void)
{
    static const struct {
        const char *keys, *sorted;
    } rows[] = {{"size", "+size"}, {"class_id, size", "+class_id, +size"}};
    small_trace_begin("many.step");
    uint64_t classes[7];
    for (unsigned i = 0; i < 7; i++) {
        char name[8];
        snprintf(name, sizeof name, "C%u", i);
        classes[i] = small_class(name);
    }
    small_start();
    for (unsigned i = 0; i < 10000; i++) {
        small_now++;
        small_alloc(classes[i * 2654435761u % 7], 8 * (i * 40503u / 7 % 11), 0);
    }
    char *path = small_trace_end(), text[256], *grouped;
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "select %s, count(*), sum(object), min(born) from objects group by %s order by %s",
                 rows[i].keys, rows[i].keys, rows[i].sorted);
        CU_ASSERT_EQUAL(run_verb(verb_sql, "--csv", path, text, NULL), STEP_STATUS_OK);
        grouped = strdup(run_out());
        snprintf(text, sizeof text,
                 "select %s, count(*), sum(object), min(born) from objects group by %s order by %s",
                 rows[i].keys, rows[i].sorted, rows[i].sorted);
        CU_ASSERT_EQUAL(run_verb(verb_sql, "--csv", path, text, NULL), STEP_STATUS_OK);
        char *body = strchr(run_out(), '\n'), *other = strchr(grouped, '\n');
        CU_ASSERT_FATAL(body != NULL && other != NULL && strlen(body) > 60);
        CU_ASSERT_STRING_EQUAL(body, other);
        free(grouped);
    }
    CU_ASSERT_EQUAL(query(path, "select count(*) n, sum(n) s from (select count(*) n from objects "
                                "group by class_id)"),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "7");
    CU_ASSERT_STRING_EQUAL(json_at("[0].s"), "10000");
}

/* A join looks up entries of a dictionary; a right one gives each row once. */
static void test_joins(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(query(path, "select c.class, count(o.object) n from classes c left join "
                                "objects o using (class_id) group by c.class_id order by 1"),
                    STEP_STATUS_OK);
    CU_ASSERT_EQUAL(json_count(""), 3);
    CU_ASSERT_STRING_EQUAL(json_at("[0].class"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("[1].n"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("[2].class"), "java/lang/Class");
    CU_ASSERT_STRING_EQUAL(json_at("[2].n"), "0");
    CU_ASSERT_EQUAL(query(path, "select count(*) n from objects a join objects b on a.size = "
                                "b.size and a.object <> b.object"),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "2");
}

/* ---- output ---- */

static void test_table(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(run_verb(verb_sql, path,
                             "select class, size, null as none from objects where object < 3 "
                             "order by object; select 'x' as \"a\nb\"",
                             NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(),
                           "class                      size  none\n"
                           "b/B                          16  \n" HOSTILE_SHOWN "     8  \n"
                           "a\\x0ab\n"
                           "x\n");
}

static void test_csv(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(run_verb(verb_sql, "--csv", path,
                             "select class, size as \"a,b\", x'00ff' d from objects where object = "
                             "2",
                             NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), "class,\"a,b\",d\n"
                                      "\"a</script>\"\"\\x0a\\x1b[2J,'&\",8,\\x00\\xff\n");
}

static void test_json(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(query(path, "select x'00ff' b, 9223372036854775807 i, -9223372036854775808 l, "
                                "1e999 inf, -1e999 low, 0.1 r, null n, char(0,34,92,10) as "
                                "\"k\"\"\n\""),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(json_at("[0].b.hex"), "00ff");
    CU_ASSERT_STRING_EQUAL(json_at("[0].i"), "9223372036854775807");
    CU_ASSERT_STRING_EQUAL(json_at("[0].l"), "-9223372036854775808");
    CU_ASSERT_STRING_EQUAL(json_at("[0].inf"), "9e999");
    CU_ASSERT_STRING_EQUAL(json_at("[0].low"), "-9e999");
    CU_ASSERT_STRING_EQUAL(json_at("[0].r"), "0.1");
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "null");
    CU_ASSERT_PTR_NOT_NULL(strstr(run_out(), "\\u0000\\\"\\\\\\n")); /* the NUL as well */
    CU_ASSERT_STRING_NOT_EQUAL(json_at("[0].k\"\n"), "(none)");
}

/* More rows than determine the widths: the others are printed, too. */
static void test_many_rows(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(run_verb(verb_sql, path,
                             "with recursive c(x) as (select 1 union all select x + 1 from c where "
                             "x < 1500) select x from c",
                             NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("\n1000\n1001\n1002\n"));
    CU_ASSERT_TRUE(run_printed("\n1500\n"));
}

/* ---- what statements may not do ---- */

static void test_refused(void)
{
    char *path = write_objects(), *other = scratch_path("copy.db"), text[200];
    const char *const statements[] = {"create table t (x)",
                                      "create temp view v as select 1",
                                      "attach ':memory:' as y",
                                      "insert into objects values (1)",
                                      "delete from objects",
                                      "drop table objects",
                                      "begin",
                                      "pragma writable_schema = 1",
                                      "pragma temp_store_directory = '/tmp'",
                                      "select load_extension('x')",
                                      "select steptrace_open('x.step')",
                                      "select STEPTRACE_OPEN('x.step', 'y')",
                                      "create virtual table temp.x using steptrace('x', 'objects')",
                                      "detach main",
                                      "vacuum",
                                      "analyze"};
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        CU_ASSERT_EQUAL(run_verb(verb_sql, path, statements[i], NULL), STEP_STATUS_INVALID);
        CU_ASSERT_STRING_NOT_EQUAL(run_err(), "");
        CU_ASSERT_STRING_EQUAL(run_out(), "");
    }
    snprintf(text, sizeof text, "vacuum into '%s'", other);
    CU_ASSERT_EQUAL(run_verb(verb_sql, path, text, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(access(other, F_OK), -1);
    CU_ASSERT_EQUAL(run_verb(verb_sql, path, "pragma table_info(objects)", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("class_id"));
}

/* ---- faults ---- */

static void test_faults(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(query(path, "select * from objcts"), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("objects")); /* the name that was meant */
    CU_ASSERT_EQUAL(query(path, "select clas from objects"), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("class"));
    CU_ASSERT_EQUAL(query(path, "selekt"), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("syntax error"));
    CU_ASSERT_EQUAL(query(path, " -- nothing\n ; "), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("there is no statement"));
    CU_ASSERT_EQUAL(query(path, ""), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(query(scratch_path("gone.step"), "select 1"), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_EQUAL(query(scratch_put_text("text.step", "no trace"), "select 1"),
                    STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("text.step"));
    CU_ASSERT_EQUAL(run_verb(verb_sql, "--csv", "--json", path, "select 1", NULL),
                    STEP_STATUS_INVALID);
}

/* The rows of a file that is cut are printed; then the command says so. */
static void test_cut(void)
{
    size_t length;
    char *bytes = scratch_read(write_objects(), &length);
    char *cut = scratch_put("cut.step", bytes, length - 20);
    CU_ASSERT_EQUAL(query(cut, "select count(*) n from objects"), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "5");
    CU_ASSERT_TRUE(run_reported("cut.step"));
}

/* A table whose rows the trace did not record is empty, and that is said. */
static void test_unrecorded(void)
{
    char *path = write_objects();
    CU_ASSERT_EQUAL(query(path, "select count(*) n from calls"), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(json_at("[0].n"), "0");
    CU_ASSERT_TRUE(run_reported("calls"));
    CU_ASSERT_EQUAL(query(path, "select count(*) n from objects"), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
}

/* Each trace is a schema; the first needs no name.  Names come from files, or are given. */
static void test_traces(void)
{
    char *objects = write_objects(), given[160] = "new one=";
    strcat(given, objects);
    small_trace_begin("9-odd.name.step");
    small_start();
    small_alloc(1, 40, 0);
    char *other = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_sql, "--json", given, other,
                             "select (select count(*) from objects) a, (select count(*) from "
                             "\"new one\".objects) b, (select sum(size) from \"9_odd\".objects) c",
                             NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("[0].a"), "5");
    CU_ASSERT_STRING_EQUAL(json_at("[0].b"), "5");
    CU_ASSERT_STRING_EQUAL(json_at("[0].c"), "40");
    CU_ASSERT_EQUAL(run_verb(verb_sql, given, given, "select 1", NULL), STEP_STATUS_INVALID);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("sql", scratch_begin, scratch_end);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "conditions", test_conditions);
    CU_add_test(suite, "groups", test_groups);
    CU_add_test(suite, "groups of many rows", test_groups_of_many);
    CU_add_test(suite, "joins", test_joins);
    CU_add_test(suite, "table", test_table);
    CU_add_test(suite, "csv", test_csv);
    CU_add_test(suite, "json", test_json);
    CU_add_test(suite, "many rows", test_many_rows);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "cut", test_cut);
    CU_add_test(suite, "unrecorded", test_unrecorded);
    CU_add_test(suite, "several traces", test_traces);
}
