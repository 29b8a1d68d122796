/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of a few classes with compressed class pointers, and what they take with compact
 * headers: 8 bytes before the first field instead of 12 (docs/layout.md). */
#include <CUnit/Basic.h>
#include <string.h>

#include "analyses/layout/layout_totals.h"
#include "tests/unit/run_suite.h"

enum { OBJECT = 1, POINT, INTS, STRANGE, CLASSES };

static struct trace_names names;
static struct layout_totals totals;
static const struct selected_globs no_values;

static void add_class(uint32_t id, const char *name)
{
    struct trace_class *class = id_table_get(&names.classes, id);
    CU_ASSERT_PTR_NOT_NULL_FATAL(class);
    *class = (struct trace_class){.name = step_text(name), .known = true};
}

static void begin_totals(void)
{
    static const struct object_layout traced = {.header = 12, .reference = 4, .alignment = 8};
    static const struct layout_changes changes = {.items = {{.text = "header=8", .header = 8}},
                                                  .count = 1};
    static const struct trace_layout layouts[] = {
        {OBJECT, {(const uint8_t *) "java/lang/Object", 16}, 0, {NULL, 0}},
        {POINT, {(const uint8_t *) "Point", 5}, OBJECT, {(const uint8_t *) "II", 2}}};
    trace_names_init(&names);
    add_class(OBJECT, "java/lang/Object");
    add_class(POINT, "Point");
    add_class(INTS, "[I");
    add_class(STRANGE, "Strange");
    layout_totals_init(&totals, &traced, &changes, &no_values, &names);
    for (size_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(layout_totals_put_name(&totals, &layouts[i]), STEP_STATUS_OK);
    for (size_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(layout_totals_put_fields(&totals, &layouts[i]), STEP_STATUS_OK);
}

static void put_object(uint32_t class_id, uint64_t size, uint8_t padding)
{
    const struct trace_event event = {
        .kind = EVENT_OBJECT_ALLOC, .class_id = class_id, .size = size, .padding = padding};
    CU_ASSERT_EQUAL(layout_totals_put(&totals, &event, 1, NULL), STEP_STATUS_OK);
}

static void end_totals(void)
{
    layout_totals_reset(&totals);
    trace_names_reset(&names);
}

static void expect_row(size_t at, const char *name, uint64_t objects, uint64_t bytes,
                       uint64_t other, uint64_t error)
{
    CU_ASSERT_FATAL(at < totals.row_count);
    const struct layout_row *row = &totals.rows[at];
    CU_ASSERT(row->name.length == strlen(name) &&
              memcmp(row->name.data, name, row->name.length) == 0);
    CU_ASSERT_EQUAL(row->objects, objects);
    CU_ASSERT_EQUAL(row->bytes[0], bytes);
    CU_ASSERT_EQUAL(row->bytes[1], other);
    CU_ASSERT_EQUAL(row->errors[1], error);
}

/* Point: 12 + 8 is 24, or 16.  Three ints: 12 + 4 + 12 is 32 with 4 bytes after them, or 24. */
static void test_exact(void)
{
    begin_totals();
    for (int i = 0; i < 3; i++)
        put_object(POINT, 24, 0);
    put_object(INTS, 32, 4);
    CU_ASSERT_TRUE_FATAL(layout_totals_finish(&totals));
    CU_ASSERT_EQUAL(totals.layout_count, 2);
    CU_ASSERT_EQUAL(totals.row_count, 2);
    expect_row(0, "Point", 3, 72, 48, 0);
    expect_row(1, "[I", 1, 32, 24, 0);
    CU_ASSERT_EQUAL(totals.all.bytes[0], 104);
    CU_ASSERT_EQUAL(totals.all.bytes[1], 72);
    CU_ASSERT_EQUAL(totals.uncertain, 0);
    CU_ASSERT_EQUAL(totals.objects, 4);
    CU_ASSERT_EQUAL(totals.instances, 3);
    end_totals();
}

/* A class without fields keeps its size, which may be wrong by all of it and the rounding; so may
 * an array whose size is that of no length, by twice its size. */
static void test_unknown(void)
{
    begin_totals();
    put_object(STRANGE, 40, 0);
    put_object(INTS, 30, 0);
    CU_ASSERT_TRUE_FATAL(layout_totals_finish(&totals));
    expect_row(0, "Strange", 1, 40, 40, 40 + 8 + 8);
    expect_row(1, "[I", 1, 30, 30, 60);
    CU_ASSERT_EQUAL(totals.uncertain, 2);
    end_totals();
}

/* An instance that is larger than its fields say: what is not explained counts as error. */
static void test_larger(void)
{
    begin_totals();
    put_object(POINT, 24, 0);
    put_object(POINT, 40, 0);
    CU_ASSERT_TRUE_FATAL(layout_totals_finish(&totals));
    expect_row(0, "Point", 2, 64, 48, 16 + 2 * 16);
    end_totals();
}

static void test_too_large_object(void)
{
    struct step_error error;
    const struct trace_event event = {
        .kind = EVENT_OBJECT_ALLOC, .class_id = POINT, .size = (UINT64_C(1) << 40) + 1};
    begin_totals();
    CU_ASSERT_EQUAL(layout_totals_put(&totals, &event, 1, &error), STEP_STATUS_CORRUPT);
    end_totals();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("totals of layouts", NULL, NULL);
    CU_add_test(suite, "exact", test_exact);
    CU_add_test(suite, "unknown", test_unknown);
    CU_add_test(suite, "larger than its fields", test_larger);
    CU_add_test(suite, "too large", test_too_large_object);
}
