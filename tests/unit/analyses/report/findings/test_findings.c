/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of findings, each at its limit and next to it: a sentence without evidence misleads who
 * reads it. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/report/findings/findings.h"
#include "converter/formats/input.h"
#include "converter/statistics/findings_maker.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

#define MIB (UINT64_C(1) << 20)

extern const struct findings_maker findings_of_pass;

static const char *path_shown; /* by the commands of the findings */
static uint64_t not_probed;

static enum step_status put(void *user, const struct trace_event *events, size_t count,
                            struct step_error *error)
{
    return findings_of_pass.put(user, events, count, error);
}

static void print_all(const void *user)
{
    struct json_output json;
    findings_of_pass.print(user, path_shown);
    puts("==");
    json_init(&json, stdout);
    json_begin_object(&json, NULL);
    findings_of_pass.put_json(user, &json);
    json_close(&json);
}

/* Makes the findings of a trace: run_out() has them as text, and json_at() as JSON. */
static void find(const char *path)
{
    struct input input;
    struct event_selection all;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    event_selection_init(&all);
    all.derives_stacks = true;
    CU_ASSERT_EQUAL_FATAL(input_open(&input, path, NULL, &all), STEP_STATUS_OK);
    void *maker = findings_of_pass.open(input.source);
    CU_ASSERT_PTR_NOT_NULL_FATAL(maker);
    CU_ASSERT_EQUAL(input_each(&input, put, maker), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(findings_of_pass.finish(maker, path, not_probed, &error), STEP_STATUS_OK);
    run_printing(print_all, maker);
    CU_ASSERT_TRUE_FATAL(json_parse(strstr(run_out(), "==\n") + 3));
    findings_of_pass.close(maker);
    input_close(&input);
}

static const char *finding(const char *kind)
{
    char path[40];
    for (size_t i = 0, count = json_count("findings"); i < count; i++) {
        snprintf(path, sizeof path, "findings[%zu].kind", i);
        if (strcmp(json_at(path), kind) == 0) {
            snprintf(path, sizeof path, "findings[%zu].text", i);
            return json_at(path);
        }
    }
    return "";
}

static void begin(const char *events)
{
    small_trace_begin("findings.step");
    small_property("events", events);
    small_property("existing", "yes");
    small_property("attached", "no");
    small_property("end", "vm-death");
    small_property("command-line", "/usr/bin/java -Xmx64m -cp -Xmx1m app.Main -Xmx2m");
    small_start();
}

static char *end(void)
{
    small_death();
    return small_trace_end();
}

/* ---- nothing to say ---- */

static void test_nothing(void)
{
    begin("class+alloc+free+thread");
    find(end());
    CU_ASSERT_EQUAL(json_count("findings"), 0);
    CU_ASSERT_EQUAL(strncmp(run_out(), "==\n", 3), 0); /* not even an empty line */
}

/* ---- what allocates most ---- */

/* One line of the program, through a class of the JDK, allocates `bytes`, another place 9 times as
 * many and `others` more in small pieces. */
static char *write_allocations(uint64_t bytes, uint64_t others)
{
    begin("class+alloc+free+thread");
    uint64_t main_class = small_class("app/Main"), list = small_class("java/util/ArrayList");
    uint64_t bytes_class = small_class("[B");
    uint64_t outer = small_frame(0, small_method(main_class, "run"), 10);
    uint64_t grow = small_frame(outer, small_method(list, "grow"), 20);
    small_alloc(bytes_class, bytes - 16, grow);
    small_alloc(bytes_class, 16, grow);
    for (unsigned i = 0; i < 1000 && others > 0; i++)
        small_alloc(small_class("x/Y"), others / 1000, 0);
    return end();
}

static void test_allocates(void)
{
    find(write_allocations(MIB, 0));
    CU_ASSERT_STRING_EQUAL(finding("allocates"), "Allocates most: byte[] at app.Main.run:10, "
                                                 "1.00 MiB in 2 objects, 100 % of all bytes.");
    find(write_allocations(MIB - 1, 0));
    CU_ASSERT_STRING_EQUAL(finding("allocates"), "");
    find(write_allocations(MIB, 9000 * (MIB / 1000)));
    CU_ASSERT_STRING_EQUAL(finding("allocates"), "Allocates most: byte[] at app.Main.run:10, "
                                                 "1.00 MiB in 2 objects, 10 % of all bytes.");
    find(write_allocations(MIB, 10000 * (MIB / 1000))); /* 9.1 % */
    CU_ASSERT_STRING_EQUAL(finding("allocates"), "");
}

/* ---- what dies at once ---- */

/* 100 objects of 20 KiB; `old` of them see two collections. */
static char *write_deaths(unsigned old, const char *name, bool has_stacks)
{
    uint64_t kept[100] = {0};
    begin("class+alloc+free+thread");
    uint64_t class_id = small_class(name);
    uint64_t frame = small_frame(0, small_method(class_id, name), 30);
    for (unsigned i = 0; i < 100; i++) {
        small_now += 10;
        uint64_t object = small_alloc(class_id, 20480, has_stacks ? frame : 0);
        small_now += 10;
        if (i < old)
            kept[i] = object;
        else
            small_free(object);
    }
    small_now += 10;
    for (unsigned i = 0; i < old; i++)
        small_free(kept[i]);
    return end();
}

static void test_dies(void)
{
    find(write_deaths(5, "app/Main", true));
    CU_ASSERT_STRING_EQUAL(finding("dies"),
                           "Dies at once: app.Main at app.Main.app.Main:30, 95.0 % of 100 objects "
                           "did not survive two collections; 1.86 MiB that could be avoided.");
    find(write_deaths(6, "app/Main", true)); /* 94 % */
    CU_ASSERT_STRING_EQUAL(finding("dies"), "");
    find(write_deaths(0, "app/Main", false)); /* no line to change */
    CU_ASSERT_STRING_EQUAL(finding("dies"), "");
}

/* ---- what grows ---- */

/* With each of `count` collections objects of `bytes` stay. */
static char *write_growth(unsigned count, uint64_t bytes, uint64_t living)
{
    begin("class+alloc+free+thread");
    uint64_t class_id = small_class("app/Main"), rest = small_class("[I");
    uint64_t frame = small_frame(0, small_method(class_id, "keep"), 7);
    if (living > 0)
        small_alloc(rest, living, 0);
    for (unsigned i = 0; i < count; i++) {
        small_now += 10;
        small_alloc(class_id, bytes, frame);
        uint64_t dead = small_alloc(rest, 16, 0);
        small_now += 10;
        small_free(dead);
    }
    return end();
}

static void test_grows(void)
{
    find(write_growth(4, 16384, 0)); /* 64 KiB */
    CU_ASSERT_STRING_EQUAL(finding("grows"),
                           "Grows: app.Main at app.Main.keep:7, by 16.0 KiB with each of 4 "
                           "collections; 2 objects, 32.0 KiB, survived three; the trace does not "
                           "show what holds them (record --report).");
    find(write_growth(4, 16383, 0));
    CU_ASSERT_STRING_EQUAL(finding("grows"), "");
    find(write_growth(2, MIB, 0)); /* two points are always on a line */
    CU_ASSERT_STRING_EQUAL(finding("grows"), "");
    find(write_growth(4, 16384, 19 * 65536)); /* 5 % of what lives */
    CU_ASSERT_STRING_NOT_EQUAL(finding("grows"), "");
    find(write_growth(4, 16384, 20 * 65536));
    CU_ASSERT_STRING_EQUAL(finding("grows"), "");
}

/* ---- which heap would have been enough ---- */

static char *write_heap(const char *command_line)
{
    begin("class+alloc+free+thread");
    small_property("command-line", command_line);
    uint64_t class_id = small_class("app/Main");
    for (unsigned i = 0; i < 20; i++) {
        small_now += 10;
        uint64_t object = small_alloc(class_id, 102400, 0);
        small_now += 10;
        small_free(object);
    }
    return end();
}

/* The last limit before the main class counts; one that is not twice what was enough is right. */
static void test_heap(void)
{
    static const struct {
        const char *command_line, *ran;
    } rows[] = {
        {"java -Xmx4g -Xmx512m app.Main", "at most 100 KiB of -Xmx512m were in use at one time."},
        {"java -XX:MaxHeapSize=524288k -cp -Xmx1m app.Main -Xmx1m",
         "at most 100 KiB of -Xmx512m were in use at one time."},
        {"java -Xmx536870912 -jar app.jar -Xmx1m",
         "at most 100 KiB of -Xmx512m were in use at one time."},
        {"java -Xmx512M -m app/app.Main -Xmx1m",
         "at most 100 KiB of -Xmx512m were in use at one time."},
        {"java app.Main -Xmx1m", "at most 100 KiB were in use at one time."},
        {"java", "at most 100 KiB were in use at one time."}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        find(write_heap(rows[i].command_line));
        CU_ASSERT_PTR_NOT_NULL(strstr(finding("heap"), "would have been enough with Serial"));
        CU_ASSERT_PTR_NOT_NULL(strstr(finding("heap"), rows[i].ran));
    }
    find(write_heap("java -Xmx1m app.Main"));
    CU_ASSERT_STRING_EQUAL(finding("heap"), "");
    find(write_heap("java -Xmx99999999999999999999m app.Main")); /* no number of bytes */
    CU_ASSERT_TRUE(run_printed(" at one time."));
}

/* ---- what the trace lacks ---- */

static void test_lacks(void)
{
    begin("class+thread");
    find(end());
    CU_ASSERT_STRING_EQUAL(finding("lacks"), "Not in the trace: Allocations were not recorded (the "
                                             "agent's option events=alloc).");
    begin("class+alloc+thread");
    not_probed = 3;
    find(end());
    not_probed = 0;
    CU_ASSERT_STRING_EQUAL(finding("lacks"),
                           "Not in the trace: Deaths were not recorded (the agent's option "
                           "events=free): all objects count as alive. (and 1 more: steptrace info, "
                           "check)");
    begin("class+alloc+free+thread");
    small_property("end", "limit");
    find(small_trace_end());
    CU_ASSERT_PTR_NOT_NULL(strstr(finding("lacks"), "The trace ended at its limit"));
    begin("class+alloc+free+thread");
    small_property("dropped", "7");
    find(end());
    CU_ASSERT_PTR_NOT_NULL(strstr(finding("lacks"), "7"));
    begin("class+alloc+free+thread");
    small_property("java-vm-version", "25");
    small_alloc(small_class("x"), 16, 0);
    find(end());
    CU_ASSERT_PTR_NOT_NULL(strstr(finding("lacks"), "Call stacks were not recorded"));
}

/* A file that is cut is used as far as it goes, and says so. */
static void test_cut(void)
{
    size_t length;
    char *whole = scratch_read(write_allocations(MIB, 0), &length);
    find(scratch_put("cut.step", whole, length - 40));
    CU_ASSERT_PTR_NOT_NULL(strstr(finding("lacks"), "The trace is not whole"));
}

/* ---- names ---- */

/* A name of the trace is escaped for a terminal and in JSON, and a path for a shell. */
static void test_hostile(void)
{
    path_shown = "a b'$(x).step";
    find(write_deaths(0, HOSTILE_NAME, true));
    path_shown = NULL;
    CU_ASSERT_PTR_NOT_NULL(strstr(finding("dies"), "\n\x1b[2J"));
    char *text = strstr(run_out(), "==\n"), *lines = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    lines = strndup(run_out(), (size_t) (text - run_out()));
    CU_ASSERT_PTR_NULL(strchr(lines, '\x1b'));
    CU_ASSERT_PTR_NOT_NULL(strstr(lines, "\\x0a\\x1b[2J"));
    CU_ASSERT_PTR_NOT_NULL(strstr(lines, "  $ steptrace lifetimes 'a b'\\''$(x).step'\n"));
    free(lines);
    /* an array whose name is too long keeps its form */
    char name[1000];
    memset(name, 'x', sizeof name - 1);
    memset(name, '[', 3);
    name[3] = 'L';
    name[sizeof name - 2] = ';';
    name[sizeof name - 1] = '\0';
    find(write_deaths(0, name, true));
    CU_ASSERT_PTR_NOT_NULL(strstr(finding("allocates"), "[[[Lxxxx"));
    CU_ASSERT_TRUE(strlen(finding("allocates")) < FINDING_TEXT);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("findings", scratch_begin, scratch_end);
    CU_add_test(suite, "nothing to say", test_nothing);
    CU_add_test(suite, "what allocates most", test_allocates);
    CU_add_test(suite, "what dies at once", test_dies);
    CU_add_test(suite, "what grows", test_grows);
    CU_add_test(suite, "which heap was enough", test_heap);
    CU_add_test(suite, "what the trace lacks", test_lacks);
    CU_add_test(suite, "a file that is cut", test_cut);
    CU_add_test(suite, "hostile names", test_hostile);
}
