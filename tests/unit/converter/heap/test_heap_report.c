/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps as people and programs read them: tables, differences, trees and ages. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/heap/heap_report.h"
#include "converter/heap/heap_tracker.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

enum { CLASS_A = 1, CLASS_B };

static struct trace_names names;
static struct heap_sites sites;

static int begin(void)
{
    static const char *const classes[] = {"shop/Cart", "a\"b,c;\ttab"};
    static const char *const methods[] = {"main", "add"};
    trace_names_init(&names);
    if (scratch_begin() != 0 || !heap_sites_init(&sites, &names))
        return 1;
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_class *class = id_table_get(&names.classes, i + 1);
        struct trace_method *method = id_table_get(&names.methods, i + 1);
        class->name = (struct step_bytes){(const uint8_t *) classes[i], strlen(classes[i])};
        *method = (struct trace_method){.class_id = 1,
                                        .name = {(const uint8_t *) methods[i], strlen(methods[i])},
                                        .known = true};
        class->known = true;
    }
    const struct heap_site outer = {.method_id = 1, .line = 10},
                           inner = {.parent = 1, .method_id = 2, .line = 20};
    return heap_sites_put(&sites, &outer) == 1 && heap_sites_put(&sites, &inner) == 2 ? 0 : 1;
}

static int end(void)
{
    heap_sites_reset(&sites);
    trace_names_reset(&names);
    return scratch_end();
}

/* 3 objects of 300 bytes: 1 of 40 and 1 of 60 of the first class at both sites, 1 of 200. */
static struct heap_snapshot snapshot_of(uint64_t more)
{
    struct heap_snapshot snapshot = {.has_sizes = true, .time_ns = 5000};
    snapshot.rows = calloc(3, sizeof *snapshot.rows);
    CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot.rows);
    snapshot.count = 3;
    snapshot.rows[0] = (struct heap_row){.key = {CLASS_A, 1, 0}, .live = {1, 40, 0}};
    snapshot.rows[1] =
        (struct heap_row){.key = {CLASS_A, 2, 0}, .live = {1 + more, 60 + 60 * more, 0}};
    snapshot.rows[2] = (struct heap_row){.key = {CLASS_B, 2, 0}, .live = {1, 200, 0}};
    snapshot.live = (struct heap_amount){3 + more, 300 + 60 * more, 0};
    return snapshot;
}

static struct scratch_heard print_table(unsigned axes, enum heap_form form, uint64_t top)
{
    struct heap_snapshot snapshot = snapshot_of(0);
    const struct heap_report report = {
        .path = "t.step", .sites = &sites, .axes = axes, .form = form, .top = top};
    scratch_listen();
    bool printed = heap_print_table(&report, &snapshot);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_TRUE(printed);
    heap_snapshot_reset(&snapshot);
    return heard;
}

static void test_text(void)
{
    struct scratch_heard heard = print_table(HEAP_BY_CLASS, HEAP_AS_TEXT, 0);
    CU_ASSERT_STRING_EQUAL(heard.out,
                           "moment    end, 5.00 us, 0 collections before\n"
                           "live      3 objects, 300 B\n\n"
                           "     objects          bytes      %  mean age  class\n"
                           "           1            200   66.7      0 ns  a\"b,c;\\x09tab\n"
                           "           2            100   33.3      0 ns  shop/Cart\n");
    heard = print_table(HEAP_BY_CLASS, HEAP_AS_TEXT, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "and 1 more classes (--top=0 shows all)\n"));
    CU_ASSERT_PTR_NULL(strstr(heard.out, "shop/Cart"));
    heard = print_table(HEAP_BY_SITE, HEAP_AS_TEXT, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "260   86.7      0 ns  shop/Cart.add:20 <- shop/"
                                             "Cart.main:10\n"));
}

/* Rows keep their place: quotes, commas and tabs of a name end none. */
static void test_csv(void)
{
    struct scratch_heard heard = print_table(HEAP_BY_CLASS | HEAP_BY_SITE, HEAP_AS_CSV, 0);
    CU_ASSERT_STRING_EQUAL(heard.out,
                           "objects,bytes,class,site\n"
                           "1,200,\"a\"\"b,c;\\x09tab\",\"shop/Cart.add:20;shop/Cart.main:10\"\n"
                           "1,60,\"shop/Cart\",\"shop/Cart.add:20;shop/Cart.main:10\"\n"
                           "1,40,\"shop/Cart\",\"shop/Cart.main:10\"\n");
}

static void test_json(void)
{
    struct scratch_heard heard = print_table(HEAP_BY_CLASS, HEAP_AS_JSON, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "\"live_bytes\": 300"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "\"class\": \"a\\\"b,c;\\ttab\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "\"time_ns\": 5000"));
}

static struct scratch_heard print_changes(enum heap_form form, uint64_t before_more,
                                          uint64_t after_more)
{
    struct heap_snapshot before = snapshot_of(before_more), after = snapshot_of(after_more);
    const struct heap_report report = {
        .path = "t.step", .sites = &sites, .axes = HEAP_BY_CLASS, .form = form};
    scratch_listen();
    bool printed = heap_print_changes(&report, &before, &after);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_TRUE(printed);
    heap_snapshot_reset(&before);
    heap_snapshot_reset(&after);
    return heard;
}

/* Only what has changed, with its sign. */
static void test_changes(void)
{
    struct scratch_heard heard = print_changes(HEAP_AS_CSV, 0, 2);
    CU_ASSERT_STRING_EQUAL(heard.out, "objects,bytes,after_objects,after_bytes,class\n"
                                      "2,120,4,220,\"shop/Cart\"\n");
    heard = print_changes(HEAP_AS_CSV, 2, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "\n-2,-120,2,100,\"shop/Cart\"\n"));
    heard = print_changes(HEAP_AS_CSV, 1, 1);
    CU_ASSERT_PTR_NULL(strstr(heard.out, "Cart"));
    heard = print_changes(HEAP_AS_TEXT, 0, 2);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(heard.out, "           +2            +120            220  shop/Cart\n"));
    heard = print_changes(HEAP_AS_JSON, 2, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "\"bytes\": -120"));
}

static struct scratch_heard print_tree(enum heap_tree tree, double least)
{
    struct heap_snapshot snapshot = snapshot_of(0);
    const struct heap_report report = {.path = "t.step",
                                       .sites = &sites,
                                       .axes = HEAP_BY_SITE,
                                       .tree = tree,
                                       .least = {.has_least = true, .least = least}};
    scratch_listen();
    bool printed = heap_print_tree(&report, &snapshot);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_TRUE(printed);
    heap_snapshot_reset(&snapshot);
    return heard;
}

/* Each line has the sum of those below it, from the callers or from the callees. */
static void test_trees(void)
{
    struct scratch_heard heard = print_tree(HEAP_TOP_DOWN, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out,
                                  "           3            300  100.0  (all)\n"
                                  "           3            300  100.0   shop/Cart.main:10\n"
                                  "           1             40   13.3    <self>\n"
                                  "           2            260   86.7    shop/Cart.add:20\n"));
    heard = print_tree(HEAP_BOTTOM_UP, 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out,
                                  "           3            300  100.0  (all)\n"
                                  "           2            260   86.7   shop/Cart.add:20\n"
                                  "           2            260   86.7    shop/Cart.main:10\n"
                                  "           1             40   13.3   shop/Cart.main:10\n"));
    heard = print_tree(HEAP_TOP_DOWN, 100); /* what is smaller is added up */
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "             40   13.3    <other>\n"));
    CU_ASSERT_PTR_NULL(strstr(heard.out, "<self>"));
}

static void test_shares(void)
{
    CU_ASSERT_EQUAL(heap_report_share(1, 0), 0);
    CU_ASSERT_EQUAL(heap_report_share(1, 4), 25);
    CU_ASSERT_EQUAL(heap_report_share(UINT64_MAX, UINT64_MAX), 100);
}

/* Of an empty heap there is a head and no row, in each form. */
static void test_empty(void)
{
    for (int form = HEAP_AS_TEXT; form <= HEAP_AS_CSV; form++) {
        struct heap_snapshot snapshot = {.has_sizes = true};
        const struct heap_report report = {.path = "t.step",
                                           .sites = &sites,
                                           .axes = HEAP_BY_CLASS,
                                           .form = (enum heap_form) form};
        scratch_listen();
        bool printed = heap_print_table(&report, &snapshot);
        struct scratch_heard heard = scratch_hear();
        CU_ASSERT_TRUE(printed);
        CU_ASSERT(heard.out[0] != '\0' && strstr(heard.out, "Cart") == NULL);
        CU_ASSERT_PTR_NULL(strstr(heard.out, "nan"));
    }
}

/* Ages in powers of two: each object is in one bucket, and those of no time in the first. */
static void test_ages(void)
{
    struct heap_snapshot snapshot = snapshot_of(0);
    const struct heap_report report = {.path = "t.step", .sites = &sites, .axes = HEAP_BY_CLASS};
    struct heap_ages ages = {.buckets = {[0] = {1, 40, 0}, [11] = {2, 260, 0}}};
    scratch_listen();
    heap_print_ages(&report, &snapshot, &ages);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "260"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "1.02 ms"));
    heap_snapshot_reset(&snapshot);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("heap reports", begin, end);
    CU_add_test(suite, "text", test_text);
    CU_add_test(suite, "CSV", test_csv);
    CU_add_test(suite, "JSON", test_json);
    CU_add_test(suite, "changes", test_changes);
    CU_add_test(suite, "trees", test_trees);
    CU_add_test(suite, "shares", test_shares);
    CU_add_test(suite, "an empty heap", test_empty);
    CU_add_test(suite, "ages", test_ages);
}
