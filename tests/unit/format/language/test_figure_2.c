/* SPDX-License-Identifier: Apache-2.0 */
/* The STEP paper's figure 2, through the client interface of its figure 3. */
#include "tests/unit/format/language/language_test.h"

#include "figure_2.h"
#include "format/io/memory_output.h"

enum { RECORDS = 1000 };

static struct object_alloc alloc_of(uint64_t i)
{
    return (struct object_alloc){.envId = 0xffff0000u,
                                 .arenaId = 1 + i % 3,
                                 .classId = UINT64_C(0x80000000) + 64 * (i % 17),
                                 .isArray = i % 2,
                                 .size = 16 + 8 * (i % 5),
                                 .objId = UINT64_C(0xfffffff0) - 24 * i};
}

static void write_allocs(struct step_buffer *memory)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = &figure_2_definition;
    options.output = step_memory_output(memory);
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct object_alloc alloc = alloc_of(i);
        CU_ASSERT_EQUAL(object_alloc_put(writer, 0, &alloc), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL_FATAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
}

static bool same_alloc(const struct object_alloc *a, const struct object_alloc *b)
{
    return a->envId == b->envId && a->arenaId == b->arenaId && a->classId == b->classId &&
           a->isArray == b->isArray && a->size == b->size && a->objId == b->objId;
}

static void test_figure_2(void)
{
    struct step_buffer memory = {.data = NULL};
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct figure_2_binding binding;
    struct step_record_view view;
    uint64_t count = 0;
    write_allocs(&memory);
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(memory.data, memory.length, "memory", &reader, NULL),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(figure_2_bind(step_reader_borrow_definition(reader), &binding, NULL),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    for (; step_block_next(block, &view) == STEP_STATUS_OK; count++) {
        struct object_alloc expected = alloc_of(count), alloc;
        struct jvmpi_event event;
        CU_ASSERT_TRUE(object_alloc_get(&binding, &view, &alloc) && same_alloc(&alloc, &expected));
        CU_ASSERT_TRUE(jvmpi_event_get(&binding, &view, &event) && event.envId == expected.envId);
    }
    CU_ASSERT_EQUAL(count, RECORDS);
    step_block_destroy(block);
    figure_2_unbind(&binding);
    step_reader_destroy(reader);
    step_buffer_reset(&memory);
}

CU_pSuite dl_add_figure_suite(void)
{
    CU_pSuite suite = CU_add_suite("figure 2", NULL, NULL);
    CU_ADD_TEST(suite, test_figure_2);
    return suite;
}
