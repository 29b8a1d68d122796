/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a recording of native programs: which are its own, what becomes of them, the list,
 * and the heaps that forked children inherit. */
#include <CUnit/Basic.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/formats/format_table.h"
#include "converter/recorders/recorded_traces.h"
#include "converter/trace/alloc_source.h"
#include "steptrace/hatf.h"
#include "tests/unit/converter/recorders/small_heap_trace.h"
#include "tests/unit/run_suite.h"

static const struct small_call one_call[] = {{1, 64, 8}};

static void put(const char *name, const char *process, const char *start_ns)
{
    const char *const properties[] = {"process-id", process,        "start-time-ns",
                                      start_ns,     "command-line", "prog\n",
                                      "end",        "exit",         NULL};
    put_heap_trace(scratch_path(name), one_call, 1, properties);
}

static unsigned finished;

static struct scratch_heard finish(const char *name, pid_t process, bool is_converted)
{
    const struct recorded_traces traces = {.step_path = scratch_path(name),
                                           .is_converted = is_converted,
                                           .process = process,
                                           .mode = 0600};
    called[0] = '\0';
    scratch_listen();
    enum step_status status = recorded_traces_finish(&traces, &finished);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_EQUAL(status, STEP_STATUS_OK);
    return heard;
}

/* Without %p, traces of that process: the program, and what it became by exec. */
static void test_one_process(void)
{
    put("one.step", "7", "1");
    put("one-2.step", "7", "2");
    put("one-3x.step", "7", "3");
    put("one.2.step", "8", "4"); /* of another recording */
    struct scratch_heard heard = finish("one.step", 7, false);
    CU_ASSERT_EQUAL(finished, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "one-2.step: program 2 of the process"));
    CU_ASSERT_STRING_EQUAL(called, "");
    finish("nothing.step", 7, false);
    CU_ASSERT_EQUAL(finished, 0);
}

/* With %p, each process, and a list in the order of their starts whose lines nothing in a command
 * line ends. */
static void test_list(void)
{
    put("l-21.step", "21", "200");
    put("l-20.step", "20", "100");
    put("l-.step", "20", "100");
    put("l-20b.step", "20", "100");
    finish("l-%p.step", 20, false);
    CU_ASSERT_EQUAL(finished, 2);
    const char *list = scratch_read(scratch_path("l-index.tsv"), NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(list);
    const char *first = strstr(list, "\nl-20.step\t20\t\t1\t100\texit\t");
    const char *second = strstr(list, "\nl-21.step\t21\t\t1\t200\texit\t");
    CU_ASSERT(first != NULL && second != NULL && first < second);
    size_t lines = 0;
    for (const char *at = list; *at != '\0'; at++)
        lines += *at == '\n';
    CU_ASSERT_EQUAL(lines, 3);
    /* the list that is there is not replaced */
    finish("l-%p.step", 20, false);
    CU_ASSERT_PTR_NOT_NULL(scratch_read(scratch_path("l-index.2.tsv"), NULL));
}

/* A converted trace takes a name that is free, its numbers before the ending; the STEP trace
 * goes. */
static void test_converted(void)
{
    put("c.hatf.step", "9", "1");
    scratch_put_text("c.hatf", "of another");
    struct scratch_heard heard = finish("c.hatf.step", 9, true);
    CU_ASSERT_STRING_EQUAL(called, "convert c.hatf.step -o c.2.hatf\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "exists: the trace is"));
    CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path("c.hatf"), NULL), "of another");
    CU_ASSERT_NOT_EQUAL(access(scratch_path("c.hatf.step"), F_OK), 0);
    CU_ASSERT_EQUAL(access(scratch_path("c.2.hatf"), F_OK), 0);
}

/* A live file that was left is taken in; a link or a FIFO is nobody's trace. */
static void test_recovered(void)
{
    put("r.step", "5", "1");
    scratch_put_text("r.step.live", "");
    CU_ASSERT_EQUAL(symlink("r.step", scratch_path("r-2.step")), 0);
    CU_ASSERT_EQUAL(mkfifo(scratch_path("r-3.step"), 0600), 0);
    finish("r.step", 5, false);
    CU_ASSERT_EQUAL(finished, 1);
    CU_ASSERT_STRING_EQUAL(called, "recover r.step\n");
}

/* Names that only the recorder knows. */
static void test_other_names(void)
{
    finish("%t.step", 5, false);
    CU_ASSERT_EQUAL(finished, 1);
    CU_ASSERT_STRING_EQUAL(called, "");
}

/* ---- forks ---- */

struct inherited {
    uint64_t time, address, size;
    char attributes[32];
};

static size_t read_allocs(const char *path, struct inherited *out, size_t most)
{
    struct alloc_source *source = NULL;
    struct hatf_record record;
    size_t count = 0;
    CU_ASSERT_EQUAL_FATAL(trace_open_allocs(path, NULL, NULL, &source, NULL), STEP_STATUS_OK);
    while (alloc_source_next(source, &record, NULL) == STEP_STATUS_OK && count < most)
        if (record.tag == HATF_ALLOC) {
            out[count] = (struct inherited){record.time, record.address, record.size, ""};
            snprintf(out[count].attributes, sizeof out[count].attributes, "%.*s",
                     (int) record.attributes.length, (const char *) record.attributes.data);
            count++;
        }
    alloc_source_destroy(source);
    return count;
}

static struct recorded_trace row_of(const char *name, const char *process, const char *parent,
                                    const char *stamp)
{
    struct recorded_trace row = {.image = 1, .number = 1};
    snprintf(row.path, sizeof row.path, "%s", scratch_path(name));
    snprintf(row.process, sizeof row.process, "%s", process);
    snprintf(row.parent, sizeof row.parent, "%s", parent);
    snprintf(row.fork_stamp, sizeof row.fork_stamp, "%s", stamp);
    snprintf(row.clock_scale, sizeof row.clock_scale, "3>>1");
    snprintf(row.end, sizeof row.end, "exit");
    return row;
}

/* The stamp 20 is 30 ns: what lived then, and nothing of later, precedes the child's own calls. */
static void test_inherited(void)
{
    static const struct small_call calls[] = {
        {10, 64, 8}, {20, 128, 16}, {25, 64, 0}, {30, 256, 32}, {31, 512, 64}};
    static const struct small_call own[] = {{5, 1024, 4}};
    const char *const none[] = {NULL};
    struct inherited found[8];
    put_heap_trace(scratch_path("parent.step"), calls, 5, none);
    put_heap_trace(scratch_path("child.step"), own, 1, none);
    struct recorded_trace rows[2] = {row_of("parent.step", "1", "", ""),
                                     row_of("child.step", "2", "1", "20")};
    struct trace_list list = {rows, 2, 2};
    CU_ASSERT_EQUAL(inherited_heaps_list(&list), STEP_STATUS_OK);
    CU_ASSERT_TRUE(rows[1].has_inherited);
    size_t count = read_allocs(rows[1].path, found, 8);
    CU_ASSERT_EQUAL_FATAL(count, 3);
    CU_ASSERT(found[0].address == 128 && found[0].size == 16 && found[0].time == 0);
    CU_ASSERT(found[1].address == 256 && found[1].size == 32);
    CU_ASSERT(found[2].address == 1024 && found[2].time == 5);
    CU_ASSERT_PTR_NOT_NULL(strstr(found[0].attributes, "existing"));
    CU_ASSERT_PTR_NULL(strstr(found[2].attributes, "existing"));
}

/* Where the fork is unknown, the parent's trace was cut before it, or the clock's scale is none,
 * the child's trace stays as it is. */
static void test_unknown_forks(void)
{
    static const struct {
        const char *parent, *stamp, *scale, *end;
    } cases[] = {{"1", "", "1>>0", "exit"},
                 {"3", "20", "1>>0", "exit"},
                 {"1", "20", "", "exit"},
                 {"1", "20", "1>>64", "exit"},
                 {"1", "20", "1>>0", "limit"}};
    const char *const none[] = {NULL};
    put_heap_trace(scratch_path("parent.step"), one_call, 1, none);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct inherited found[8];
        put_heap_trace(scratch_path("child.step"), one_call, 1, none);
        struct recorded_trace rows[2] = {
            row_of("parent.step", "1", "", ""),
            row_of("child.step", "2", cases[i].parent, cases[i].stamp)};
        snprintf(rows[0].clock_scale, sizeof rows[0].clock_scale, "%s", cases[i].scale);
        snprintf(rows[0].end, sizeof rows[0].end, "%s", cases[i].end);
        struct trace_list list = {rows, 2, 2};
        CU_ASSERT_EQUAL(inherited_heaps_list(&list), STEP_STATUS_OK);
        CU_ASSERT_FALSE(rows[1].has_inherited);
        CU_ASSERT_EQUAL(read_allocs(rows[1].path, found, 8), 1);
    }
}

/* A grandchild inherits what its parent inherited. */
static void test_grandchild(void)
{
    const char *const none[] = {NULL};
    struct inherited found[8];
    put_heap_trace(scratch_path("a.step"), one_call, 1, none);
    put_heap_trace(scratch_path("b.step"), NULL, 0, none);
    put_heap_trace(scratch_path("c.step"), NULL, 0, none);
    struct recorded_trace rows[3] = {row_of("a.step", "1", "", ""), row_of("b.step", "2", "1", "9"),
                                     row_of("c.step", "3", "2", "9")};
    struct trace_list list = {rows, 3, 3};
    CU_ASSERT_EQUAL(inherited_heaps_list(&list), STEP_STATUS_OK);
    CU_ASSERT_TRUE(rows[1].has_inherited && rows[2].has_inherited);
    CU_ASSERT_EQUAL(read_allocs(rows[2].path, found, 8), 1);
    CU_ASSERT_EQUAL(found[0].address, 64);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("recorded traces", scratch_begin, scratch_end);
    CU_add_test(suite, "one process", test_one_process);
    CU_add_test(suite, "the list", test_list);
    CU_add_test(suite, "converted", test_converted);
    CU_add_test(suite, "recovered", test_recovered);
    CU_add_test(suite, "other names", test_other_names);
    CU_add_test(suite, "inherited heaps", test_inherited);
    CU_add_test(suite, "unknown forks", test_unknown_forks);
    CU_add_test(suite, "grandchildren", test_grandchild);
}
