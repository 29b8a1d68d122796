/* SPDX-License-Identifier: Apache-2.0 */
/* The command `layout`: points of two ints under other headers and alignments, by hand; traces that
 * have no layouts, and layouts that HotSpot does not have. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(layout);

static void define_layout(uint64_t class_id, uint64_t super, const char *fields)
{
    const struct step_java_layout layout = {class_id, super, step_text(fields)};
    CU_ASSERT_EQUAL(step_java_layout_define(small_trace_writer(), &layout, NULL), STEP_STATUS_OK);
}

/* With class pointers of 4 bytes a point of two ints has 12 bytes of header and 8 of fields: 24
 * with 4 of padding.  With compact headers it has 16, with those of 16 bytes 24. */
static char *write_points(bool has_layouts)
{
    small_trace_begin("points.step");
    uint64_t object = small_class("java/lang/Object"), point = small_class(HOSTILE_NAME);
    small_property("java-vm-version", "25.0.3+9-LTS");
    small_property("layout", "alignment=8,reference=4,elements=16/16/16/16");
    if (has_layouts) {
        define_layout(object, 0, "");
        define_layout(point, object, "II");
    }
    small_start();
    for (uint64_t i = 1; i <= 10; i++) {
        const struct step_java_object_alloc alloc = {
            .time = 10, .thread = 1, .class_ = point, .size = 24, .object = i, .padding = 4};
        CU_ASSERT_EQUAL(step_java_object_alloc_put(small_trace_writer(), 2, &alloc),
                        STEP_STATUS_OK);
    }
    return small_trace_end();
}

static void test_points(void)
{
    char *path = write_points(true);
    CU_ASSERT_EQUAL(run_verb(verb_layout, path, "--json", "--as=header=8", "--as=header=16",
                             "--as=alignment=32", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "10");
    CU_ASSERT_STRING_EQUAL(json_at("is_exact"), "true");
    CU_ASSERT_EQUAL_FATAL(json_count("layouts"), 4);
    CU_ASSERT_STRING_EQUAL(json_at("layouts[0].header"), "12");
    CU_ASSERT_STRING_EQUAL(json_at("layouts[0].bytes"), "240");
    CU_ASSERT_STRING_EQUAL(json_at("layouts[1].name"), "header=8");
    CU_ASSERT_STRING_EQUAL(json_at("layouts[1].bytes"), "160");
    CU_ASSERT_STRING_EQUAL(json_at("layouts[2].bytes"), "240");
    CU_ASSERT_STRING_EQUAL(json_at("layouts[3].bytes"), "320");
    CU_ASSERT_STRING_EQUAL(json_at("layouts[3].error"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("classes[0].class"), HOSTILE_NAME);
    CU_ASSERT_STRING_EQUAL(json_at("classes[0].bytes[1]"), "160");
}

static void test_forms(void)
{
    char *path = write_points(true);
    CU_ASSERT_EQUAL(run_verb(verb_layout, path, "--csv", "--as=header=8,alignment=16", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("class,layout,header,reference,alignment,objects,bytes,error\n"
                               "\"a</script>\"\"\\x0a\\x1b[2J,'&\","));
    CU_ASSERT_TRUE(run_printed(",12,4,8,10,240,0\n"));
    CU_ASSERT_TRUE(run_printed(",\"header=8,alignment=16\",8,4,16,10,160,0\n"));
    CU_ASSERT_EQUAL(run_verb(verb_layout, path, NULL), STEP_STATUS_OK); /* the five usual ones */
    CU_ASSERT_TRUE(run_printed("traced     header=12,reference=4,alignment=8\n"));
    CU_ASSERT_TRUE(run_printed("66.7 %  header=8\n"));
    CU_ASSERT_TRUE(run_printed("133.3 %  alignment=16\n"));
    CU_ASSERT_TRUE(run_printed(HOSTILE_SHOWN "\n"));
    CU_ASSERT_FALSE(run_printed("\x1b"));
}

/* Value classes: a point of 8 bytes is flattened; what that saves is the error. */
static void test_values(void)
{
    char *path = write_points(true);
    CU_ASSERT_EQUAL(run_verb(verb_layout, path, "--json", "--value=a**", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("layouts"), 4); /* values, compact headers, both */
    CU_ASSERT_STRING_EQUAL(json_at("layouts[1].values"), "true");
    CU_ASSERT_STRING_EQUAL(json_at("is_exact"), "false");
    CU_ASSERT_EQUAL(
        json_number_at("value_classes.flattened") + json_number_at("value_classes.large"), 1);
    CU_ASSERT_EQUAL(run_verb(verb_layout, path, "--json", "--value=none", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("none")); /* matches nothing */
}

static void test_faults(void)
{
    static const char *const options[] = {
        "--as=header=9",   "--as=alignment=24",       "--as=alignment=0",
        "--as=reference=", "--as=header=8,",          "--as=values",
        "--as=",           "--as=fields=old,header=8"};
    char *path = write_points(true);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        CU_ASSERT_EQUAL(run_verb(verb_layout, path, options[i], NULL), STEP_STATUS_INVALID);
        CU_ASSERT_STRING_NOT_EQUAL(run_err(), "");
        CU_ASSERT_STRING_EQUAL(run_out(), "");
    }
    CU_ASSERT_EQUAL(run_verb(verb_layout, path, "--csv", "--json", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_layout, path, "--as=header=8", "--value=a**", NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_layout, write_points(false), NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("the trace has no fields of classes"));
    small_trace_begin("plain.step");
    small_start();
    small_alloc(1, 16, 0);
    CU_ASSERT_EQUAL(run_verb(verb_layout, small_trace_end(), NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("the trace has no object layouts"));
    small_trace_begin("odd.step");
    small_property("layout", "alignment=24,reference=5,elements=x");
    small_start();
    CU_ASSERT_EQUAL(run_verb(verb_layout, small_trace_end(), NULL), STEP_STATUS_CORRUPT);
    char *native = scratch_put_text("native.hatf.txt", "createThread 0 0 0 1 0 1\n"
                                                       "alloc 4096 32 0 1 0 10\n");
    CU_ASSERT_EQUAL(run_verb(verb_layout, native, NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE(run_reported("native program"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("layout", scratch_begin, scratch_end);
    CU_add_test(suite, "points", test_points);
    CU_add_test(suite, "forms", test_forms);
    CU_add_test(suite, "value classes", test_values);
    CU_add_test(suite, "faults", test_faults);
}
