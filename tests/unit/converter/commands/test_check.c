/* SPDX-License-Identifier: Apache-2.0 */
/* `check`: breaches of both kinds of traces, the verdict, and what cannot be judged. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "converter/output/output_file.h"
#include "steptrace/java_trace.h"
#include "tests/unit/converter/commands/run_verb.h"
#include "tests/unit/run_suite.h"

static struct verb_result check(const char *name, const char *lines)
{
    return run_verb("check", scratch_put_text(name, lines), NULL);
}

static void test_closed(void)
{
    struct verb_result result = check("a.txt", java_lines);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(result.out, "20 events: closed\n");
    result = run_verb("check", "--json", scratch_put_text("a.txt", java_lines), NULL);
    CU_ASSERT(has_text(result.out, "\"verdict\": \"closed\""));
    CU_ASSERT(has_text(result.out, "\"breach_count\": 0"));
    CU_ASSERT(has_text(result.out, "\"breaches\": []"));
}

/* A free of what was never allocated, and one twice: rules 3 and 5, each with event and time. */
static void test_breaches(void)
{
    static const char lines[] = "VS:0\nVI:5\nCL:5:A\nTB:5:1\nOA:6:A:1\nOF:7:A:1\nOF:8:A:1\n"
                                "OF:9:A:77\nTE:9:1\nVD:10\n";
    struct verb_result result = check("b.txt", lines);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.out, "rule 5: event 7 at 8 ns: a second OF of object 1\n"));
    CU_ASSERT(has_text(result.out, "rule 3: event 8 at 9 ns: OF of object 77 before its OA\n"));
    CU_ASSERT(has_text(result.out, "10 events: 2 breaches\n"));
    /* the limit is of what is printed, not of what counts */
    result = run_verb("check", "--limit=0", scratch_put_text("b.txt", lines), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT(has_text(result.out, "and 2 more (--limit=N prints more)\n"));
    CU_ASSERT_FALSE(has_text(result.out, "event 7"));
    result = run_verb("check", "--json", "--limit=1", scratch_path("b.txt"), NULL);
    CU_ASSERT(has_text(result.out, "\"verdict\": \"breached\""));
    CU_ASSERT(has_text(result.out, "\"breach_count\": 2"));
    CU_ASSERT_FALSE(has_text(result.out, "object 77"));
}

/* Each rule of heap traces that one record can breach, with the number of the record. */
static void test_alloc_rules(void)
{
    static const struct {
        const char *records, *breach;
    } cases[] = {
        {"alloc 160 32\nalloc 176 8\n",
         "record 3, offset 33: 8 bytes at address 176 overlap the 32 bytes at 160 of record 2\n"},
        {"alloc 160 32\nfree 160\nfree 160\n", "address 160 is freed twice\n"},
        {"free 999\n", "address 999 is freed, but is not allocated\n"},
        {"realloc/none 5 3 5\n", "realloc of address 5, which is not allocated\n"},
        {"alloc 64 8\nrealloc/none 64 8 72\n", "a realloc in place goes from address 64 to 72\n"},
        {"alloc 64 8\nalloc 72 8\nrealloc/none 64 9 64\n",
         "9 bytes at address 64 overlap the 8 bytes at 72 of record 3\n"},
        {"alloc 64 8\nrealloc/alloc 64 8 96\nalloc 96 8\n",
         "a realloc that frees nothing has the old address 64\n"},
        {"createHeap 0 0 0 0 7\nalloc 64 8 0 0 7\nfree 64\n",
         "address 64 is freed in heap 0, but was allocated in heap 7\n"},
        {"alloc 18446744073709551600 17\n", "objects end before the last address"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char lines[256];
        snprintf(lines, sizeof lines, "# HATF 1.0, by hand\n%s", cases[i].records);
        struct verb_result result = check("c.hatf.txt", lines);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
        CU_ASSERT(has_text(result.out, cases[i].breach));
        CU_ASSERT(has_text(result.out, ": 1 breach\n"));
    }
}

/* What a check has counted is not in the next. */
static void test_allocs_again(void)
{
    for (int i = 0; i < 2; i++) {
        struct verb_result result = check("a.hatf.txt", heap_lines);
        CU_ASSERT_EQUAL(result.status, STEP_STATUS_OK);
        CU_ASSERT_STRING_EQUAL(result.out, "9 records: consistent, 2 objects live at the end\n");
    }
    struct verb_result result = run_verb("check", "--json", scratch_path("a.hatf.txt"), NULL);
    CU_ASSERT(has_text(result.out, "\"live_at_end\": 2"));
    CU_ASSERT(has_text(result.out, "\"verdict\": \"consistent\""));
    CU_ASSERT(has_text(result.out, "\"count\": 9"));
}

/* Of a damaged trace there is a verdict about the rest, and never that all is well. */
static void test_damaged(void)
{
    char lines[1024];
    snprintf(lines, sizeof lines, "%snonsense\n", heap_lines);
    struct verb_result result = check("d.hatf.txt", lines);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT_FALSE(has_text(result.out, "consistent"));
    CU_ASSERT(has_text(result.err, "d.hatf.txt"));
    size_t length;
    const char *bytes = scratch_read(java_trace("a.step"), &length);
    result = run_verb("check", scratch_put("cut.step", bytes, length - 8), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_CORRUPT);
    CU_ASSERT_FALSE(has_text(result.out, "closed"));
}

/* ---- --graph ---- */

enum { STREAM = 0 };

static struct step_writer *writer;

static void put_alloc(uint64_t time, uint64_t object)
{
    const struct step_java_object_alloc alloc = {
        .time = time, .class_ = 1, .size = 16, .object = object};
    CU_ASSERT_EQUAL_FATAL(step_java_object_alloc_put(writer, STREAM, &alloc), STEP_STATUS_OK);
}

static void put_store(uint64_t time, uint64_t holder, uint64_t field, uint64_t target)
{
    const struct step_java_field_store store = {
        .time = time, .holder = holder, .field = field, .target = target};
    CU_ASSERT_EQUAL_FATAL(step_java_field_store_put(writer, STREAM, &store), STEP_STATUS_OK);
}

static void put_reference(uint64_t holder, uint64_t field, uint64_t target)
{
    const struct step_java_field_reference reference = {
        .time = 10, .holder = holder, .field = field, .target = target};
    CU_ASSERT_EQUAL_FATAL(step_java_field_reference_put(writer, STREAM, &reference),
                          STEP_STATUS_OK);
}

static enum step_status write_file(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    (void) error;
    return fwrite(data, 1, length, user) == length ? STEP_STATUS_OK : STEP_STATUS_IO;
}

/* Stores give object 1 two targets and object 2 one; the snapshot has one of them, another target
 * for the second, and a reference that no store has. */
static const char *graph_trace(void)
{
    const char *path = scratch_path("graph.step");
    struct step_writer_options options;
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = (struct step_output){file, write_file};
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    const struct step_java_class class = {.name = {(const uint8_t *) "N", 1}};
    CU_ASSERT_EQUAL(step_java_class_define(writer, &class, NULL), STEP_STATUS_OK);
    static const char *const fields[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        const struct step_java_field field = {.class_ = 1,
                                              .name = {(const uint8_t *) fields[i], 1},
                                              .descriptor = {(const uint8_t *) "LN;", 3}};
        CU_ASSERT_EQUAL(step_java_field_define(writer, &field, NULL), STEP_STATUS_OK);
    }
    for (uint64_t object = 1; object <= 4; object++)
        put_alloc(object, object);
    put_store(5, 1, 1, 2);
    put_store(6, 1, 2, 3);
    put_store(7, 2, 3, 4);
    const struct step_java_snapshot begin = {.time = 10, .number = 2};
    const struct step_java_root root = {.time = 10, .target = 1};
    const struct step_java_snapshot_end end = {
        .time = 11, .number = 2, .objects = 4, .references = 3, .roots = 1};
    CU_ASSERT_EQUAL(step_java_snapshot_put(writer, STREAM, &begin), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_java_root_put(writer, STREAM, &root), STEP_STATUS_OK);
    put_reference(1, 1, 2);
    put_reference(1, 2, 4);
    put_reference(2, 4, 3);
    CU_ASSERT_EQUAL(step_java_snapshot_end_put(writer, STREAM, &end), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    fclose(file);
    return path;
}

static void test_graph(void)
{
    const char *path = graph_trace();
    struct verb_result result = run_verb("check", "--graph", path, NULL);
    CU_ASSERT(has_text(result.out,
                       "snapshot 2 at 10 ns: 3 references, 33.3333 % as the stores have "
                       "them; 1 missing (0 of them constants of classes), 1 other, 1 "
                       "surplus, 0 not known\n"));
    CU_ASSERT(has_text(result.out, "         1          0          1          0  N.b\n"));
    CU_ASSERT(has_text(result.out, "         0          0          0          1  N.c\n"));
    CU_ASSERT(has_text(result.out, "         1          1          0          0  N.d\n"));
    CU_ASSERT_FALSE(has_text(result.out, "N.a")); /* which both have */
    result = run_verb("check", "--graph", "--json", path, NULL);
    CU_ASSERT(has_text(result.out, "\"surplus\": 1"));
    CU_ASSERT(has_text(result.out, "\"field\": \"N.b\""));
    result = run_verb("check", "--graph", "--limit=1", path, NULL);
    CU_ASSERT(has_text(result.out, "... and 2 more (--limit=N prints more)\n"));
}

static void test_graph_refuses(void)
{
    struct verb_result result =
        run_verb("check", "--graph", scratch_put_text("a.txt", java_lines), NULL);
    CU_ASSERT_EQUAL(result.status, STEP_STATUS_INVALID);
    CU_ASSERT(has_text(result.err, "--graph is for STEP traces"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("check", scratch_begin, scratch_end);
    CU_add_test(suite, "a closed trace", test_closed);
    CU_add_test(suite, "breaches", test_breaches);
    CU_add_test(suite, "rules of heap traces", test_alloc_rules);
    CU_add_test(suite, "one check after another", test_allocs_again);
    CU_add_test(suite, "damaged traces", test_damaged);
    CU_add_test(suite, "snapshots and stores", test_graph);
    CU_add_test(suite, "no graph", test_graph_refuses);
}
