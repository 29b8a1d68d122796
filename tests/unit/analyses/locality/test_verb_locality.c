/* SPDX-License-Identifier: Apache-2.0 */
/* The command `locality`: pairs that are allocated one after the other, by hand, as text and JSON.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(locality);

static uint64_t define_field(uint64_t class_id, const char *name)
{
    uint64_t id;
    const struct step_java_field field = {class_id, step_text(name), step_text("[B"), 0};
    CU_ASSERT_EQUAL(step_java_field_define(small_trace_writer(), &field, &id), STEP_STATUS_OK);
    return id;
}

/* 16 strings of 24 bytes, each with an array of 40 that is made next; 4 boxes, each made 64 bytes
 * before the array that it refers to. */
static char *write_pairs(void)
{
    small_trace_begin("pairs.step");
    uint64_t string = small_class("java/lang/String"), bytes = small_class("[B");
    uint64_t box = small_class(HOSTILE_NAME);
    small_property("events", "class+alloc+free+thread+reference");
    uint64_t value = define_field(string, "value"), content = define_field(box, "content");
    small_start();
    for (unsigned i = 0; i < 20; i++) {
        small_now++;
        uint64_t holder = small_alloc(i < 16 ? string : box, 24, 0);
        if (i >= 16)
            small_alloc(string, 40, 0);
        uint64_t array = small_alloc(bytes, 40, 0);
        const struct step_java_field_store store = {.time = ++small_now,
                                                    .thread = 1,
                                                    .holder = holder,
                                                    .target = array,
                                                    .field = i < 16 ? value : content};
        CU_ASSERT_EQUAL(step_java_field_store_put(small_trace_writer(), 2, &store), STEP_STATUS_OK);
    }
    return small_trace_end();
}

static void test_json(void)
{
    CU_ASSERT_EQUAL(run_verb(verb_locality, write_pairs(), "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("objects"), "44");
    CU_ASSERT_STRING_EQUAL(json_at("graph"), "stores");
    CU_ASSERT_STRING_EQUAL(json_at("references"), "20");
    CU_ASSERT_STRING_EQUAL(json_at("one_thread"), "20");
    CU_ASSERT_STRING_EQUAL(json_at("two_threads"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("neighbours"), "16");
    CU_ASSERT_EQUAL_FATAL(json_count("fields"), 2); /* most references first */
    CU_ASSERT_STRING_EQUAL(json_at("fields[0].holder"), "java/lang/String");
    CU_ASSERT_STRING_EQUAL(json_at("fields[0].field"), "value");
    CU_ASSERT_STRING_EQUAL(json_at("fields[0].target"), "[B");
    CU_ASSERT_STRING_EQUAL(json_at("fields[0].neighbours"), "16");
    CU_ASSERT_STRING_EQUAL(json_at("fields[0].neighbour_bytes"), "1024"); /* of both */
    CU_ASSERT_STRING_EQUAL(json_at("fields[0].is_candidate"), "true");
    CU_ASSERT_STRING_EQUAL(json_at("fields[0].distance_bytes.most"), "24"); /* start to start */
    CU_ASSERT_STRING_EQUAL(json_at("fields[1].field"), "content");
    CU_ASSERT_STRING_EQUAL(json_at("fields[1].neighbours"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("fields[1].is_candidate"), "false");
    CU_ASSERT_STRING_EQUAL(json_at("fields[1].distance_bytes.most"), "64");
    CU_ASSERT_DOUBLE_EQUAL(json_real_at("fields[1].distance_bytes.mean"), 64, 1e-9);
}

static void test_text(void)
{
    char *path = write_pairs();
    CU_ASSERT_EQUAL(run_verb(verb_locality, path, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("references  20 made by stores and copies\n"));
    CU_ASSERT_TRUE(run_printed("neighbours  16 (80.0 % of the known ones)"));
    CU_ASSERT_TRUE(run_printed("          16     1.00 KiB  java/lang/String.value -> [B\n"));
    CU_ASSERT_TRUE(run_printed(HOSTILE_SHOWN ".content -> [B\n"));
    CU_ASSERT_FALSE(run_printed("\x1b"));
    CU_ASSERT_FALSE(run_printed("(none)"));
    CU_ASSERT_EQUAL(run_verb(verb_locality, path, "--top=1", NULL), STEP_STATUS_OK);
    CU_ASSERT_FALSE(run_printed(".content"));
    CU_ASSERT_TRUE(run_printed("1 more"));
}

static void test_faults(void)
{
    CU_ASSERT_EQUAL(run_verb(verb_locality, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_NOT_EQUAL(run_verb(verb_locality, scratch_path("gone.step"), NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("gone.step"));
    small_trace_begin("plain.step");
    small_start();
    small_alloc(1, 16, 0);
    CU_ASSERT_NOT_EQUAL(run_verb(verb_locality, small_trace_end(), "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_reported("no stores of references"));
    CU_ASSERT_STRING_EQUAL(run_out(), "");
    size_t length;
    char *bytes = scratch_read(write_pairs(), &length);
    char *cut = scratch_put("cut.step", bytes, length - 40);
    CU_ASSERT_EQUAL(run_verb(verb_locality, cut, "--json", NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("references"), "20");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("locality", scratch_begin, scratch_end);
    CU_add_test(suite, "JSON", test_json);
    CU_add_test(suite, "text", test_text);
    CU_add_test(suite, "faults", test_faults);
}
