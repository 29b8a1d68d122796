/* SPDX-License-Identifier: Apache-2.0 */
/* How far apart a few objects that refer to each other were allocated (docs/locality.md). */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/locality/reference_distances.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

static char path[64];
static struct step_writer *writer;
static uint64_t now;

static void begin_trace(void)
{
    struct step_writer_options options;
    uint64_t id;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    snprintf(path, sizeof path, "/tmp/distances-XXXXXX");
    int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    close(file);
    CU_ASSERT_EQUAL_FATAL(step_writer_open(path, &options, &writer, NULL), STEP_STATUS_OK);
    step_java_class_define(writer, &(struct step_java_class){.name = step_text("Node")}, &id);
    step_java_thread_define(writer, &(struct step_java_thread){.name = step_text("one")}, &id);
    step_java_thread_define(writer, &(struct step_java_thread){.name = step_text("two")}, &id);
    step_java_field_define(
        writer, &(struct step_java_field){1, step_text("next"), step_text("LNode;"), 0}, &id);
    now = 0;
}

static void make_object(uint64_t thread, uint64_t object, uint64_t size)
{
    step_java_object_alloc_put(
        writer, 1 + thread,
        &(struct step_java_object_alloc){
            .time = ++now, .thread = thread, .class_ = 1, .size = size, .object = object});
}

static void store(uint64_t holder, uint64_t target)
{
    step_java_field_store_put(writer, 2,
                              &(struct step_java_field_store){++now, 1, holder, target, 1});
}

static enum step_status read_distances(struct reference_distances *distances,
                                       struct step_error *error)
{
    CU_ASSERT_EQUAL_FATAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    return reference_distances_read(distances, path, error);
}

/* 1 refers to its neighbour 2, to 3 behind that, again to 3 (no new reference), and to 4, which
 * another thread made.  From the start of 1 to that of 2 are 16 bytes, to that of 3 48. */
static void test_stores(void)
{
    struct reference_distances distances;
    struct step_error error;
    begin_trace();
    make_object(1, 1, 16);
    make_object(1, 2, 32);
    make_object(1, 3, 24);
    make_object(2, 4, 24);
    store(1, 2);
    store(1, 3);
    store(1, 3);
    store(1, 4);
    store(1, 0);
    CU_ASSERT_EQUAL_FATAL(read_distances(&distances, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(distances.objects, 4);
    CU_ASSERT_EQUAL(distances.bytes, 96);
    CU_ASSERT_FALSE(distances.is_snapshot);
    CU_ASSERT_EQUAL_FATAL(distances.count, 1);
    const struct reference_row *row = &distances.rows[0];
    CU_ASSERT_TRUE(row->field == 1 && row->array_class == 0 && row->target_class == 1);
    CU_ASSERT_EQUAL(row->references, 3);
    CU_ASSERT_EQUAL(row->between, 1);
    CU_ASSERT_EQUAL(row->unknown, 0);
    CU_ASSERT_EQUAL(row->neighbours, 1);
    CU_ASSERT_EQUAL(row->neighbour_bytes, 48);
    CU_ASSERT_EQUAL(row->distance.count, 2);
    CU_ASSERT_EQUAL(row->distance.most, 48);
    CU_ASSERT_DOUBLE_EQUAL(row->distance.sum, 64, 1e-9);
    CU_ASSERT_EQUAL(reference_row_known(row), 3);
    CU_ASSERT_FALSE(is_candidate(row));
    CU_ASSERT_EQUAL(reference_distances_close(&distances, STEP_STATUS_OK, NULL), STEP_STATUS_OK);
    unlink(path);
}

static void test_no_references(void)
{
    struct reference_distances distances;
    struct step_error error;
    begin_trace();
    make_object(1, 1, 16);
    CU_ASSERT_EQUAL(read_distances(&distances, &error), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "no stores of references"));
    CU_ASSERT_EQUAL(reference_distances_close(&distances, STEP_STATUS_NOT_FOUND, &error),
                    STEP_STATUS_NOT_FOUND);
    unlink(path);
}

/* 9 of 10 known references to neighbours, and at least 16. */
static void test_candidates(void)
{
    struct reference_row row = {.references = 20, .unknown = 2, .neighbours = 17};
    CU_ASSERT_TRUE(is_candidate(&row));
    row.unknown = 0;
    CU_ASSERT_FALSE(is_candidate(&row));
    row = (struct reference_row){.references = 15, .neighbours = 15};
    CU_ASSERT_FALSE(is_candidate(&row));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("distances of references", NULL, NULL);
    CU_add_test(suite, "stores", test_stores);
    CU_add_test(suite, "no references", test_no_references);
    CU_add_test(suite, "candidates", test_candidates);
}
