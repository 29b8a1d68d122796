/* SPDX-License-Identifier: Apache-2.0 */
/* Every record type of the project's definitions, written through generated functions, read through
 * the definition that the trace embeds and through generated functions. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/memory_output.h"
#include "tests/unit/format/definitions/roundtrip.h"
#include "tests/unit/run_suite.h"

enum { ROUNDS = 4, ENTRIES = 3 };

static const struct step_definition *const ours = &all_trace_definition;

bool same_array(uint32_t record, uint32_t field, const struct step_array *left, uint64_t slot)
{
    const struct step_definition *definition = &all_trace_definition;
    return values_same_elements(definition, &definition->records[record].fields[field], 0, left,
                                step_slot_array(slot));
}

static void test_many(void)
{
    CU_ASSERT_TRUE(ours->record_count > 400);
    CU_ASSERT_EQUAL_FATAL(roundtrip_row_count, ours->record_count);
    for (uint32_t i = 0; i < ours->record_count; i++) {
        CU_ASSERT_STRING_EQUAL(roundtrip_rows[i].name, ours->records[i].name);
        CU_ASSERT_EQUAL(roundtrip_rows[i].slot_count, step_record_slot_count(ours, i));
    }
}

static void write_all(struct step_writer *writer)
{
    uint64_t id;
    for (uint32_t i = 0; i < ours->record_count; i++)
        for (uint64_t entry = 1; roundtrip_rows[i].define != NULL && entry <= ENTRIES; entry++) {
            CU_ASSERT_EQUAL_FATAL(
                roundtrip_rows[i].define(writer, values_make(ours, i, 100 + entry), &id),
                STEP_STATUS_OK);
            CU_ASSERT_EQUAL(id, entry);
        }
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < ours->record_count; i++)
            if (roundtrip_rows[i].put(writer, values_make(ours, i, round)) != STEP_STATUS_OK) {
                struct step_error error;
                step_writer_close(writer, &error);
                printf("\n  %s: %s\n", roundtrip_rows[i].name, error.message);
                CU_FAIL_FATAL("a record is refused");
            }
}

static void check_view(const struct all_trace_binding *binding,
                       const struct step_definition *definition,
                       const struct step_record_view *view, uint32_t record, uint64_t round)
{
    const uint64_t *expected = values_make(ours, record, round);
    CU_ASSERT_EQUAL_FATAL(view->record, record);
    if (!values_same(definition, view->record, view->slots, expected) ||
        !roundtrip_rows[record].get(binding, view, expected)) {
        printf("\n  %s, round %u\n", roundtrip_rows[record].name, (unsigned) round);
        CU_FAIL("a record is not what was written");
    }
    /* as each of its ancestors, but as nothing else */
    for (uint32_t up = ours->records[record].parent; up != STEP_NO_RECORD;
         up = ours->records[up].parent)
        CU_ASSERT_TRUE(roundtrip_rows[up].get(binding, view, expected));
    uint32_t other = (record + 1) % (uint32_t) ours->record_count;
    if (!step_record_extends(ours, record, other))
        CU_ASSERT_FALSE(roundtrip_rows[other].get(binding, view, expected));
}

static void check_records(const struct all_trace_binding *binding, struct step_reader *reader)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t count = 0;
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, i, NULL, &block, NULL), STEP_STATUS_OK);
        for (; step_block_next(block, &view) == STEP_STATUS_OK; count++)
            check_view(binding, definition, &view, (uint32_t) (count % ours->record_count),
                       count / ours->record_count);
    }
    step_block_destroy(block);
    CU_ASSERT_EQUAL(count, ROUNDS * ours->record_count);
}

static void check_dictionaries(const struct all_trace_binding *binding, struct step_reader *reader)
{
    for (uint32_t i = 0; i < ours->record_count; i++) {
        bool has = roundtrip_rows[i].define != NULL;
        CU_ASSERT_EQUAL(step_reader_dictionary_count(reader, i), has ? ENTRIES : 0);
        for (uint64_t id = 1; has && id <= ENTRIES; id++) {
            const uint64_t *expected = values_make(ours, i, 100 + id);
            const uint64_t *entry = step_reader_dictionary_entry(reader, i, id);
            CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
            CU_ASSERT_TRUE(values_same(ours, i, entry, expected));
            CU_ASSERT_TRUE(roundtrip_rows[i].look_up(binding, reader, id, expected));
        }
        if (has)
            CU_ASSERT_FALSE(
                roundtrip_rows[i].look_up(binding, reader, ENTRIES + 1, values_make(ours, i, 0)));
    }
}

static void test_roundtrip(void)
{
    struct step_buffer memory = {.data = NULL};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    struct all_trace_binding binding;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    step_writer_options_init(&options);
    options.definition = ours;
    options.output = step_memory_output(&memory);
    options.block_records = 500; /* several blocks */
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, &error), STEP_STATUS_OK);
    write_all(writer);
    enum step_status status = step_writer_close(writer, &error);
    if (status != STEP_STATUS_OK)
        printf("\n  %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(memory.data, memory.length, "memory", &reader, &error),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(all_trace_bind(step_reader_borrow_definition(reader), &binding, &error),
                          STEP_STATUS_OK);
    check_records(&binding, reader);
    check_dictionaries(&binding, reader);
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 0);
    all_trace_unbind(&binding);
    step_reader_destroy(reader);
    step_buffer_reset(&memory);
    values_release();
}

/* Every instruction of a class file is there once, by its opcode. */
static void test_opcodes(void)
{
    bool seen[256] = {false};
    unsigned count = 0;
    uint32_t instruction = step_definition_find(ours, "bytecode.Instruction");
    for (uint32_t i = 0; i < ours->record_count; i++) {
        const char *value;
        size_t length;
        if (!step_attributes_rule(&ours->records[i].attributes, "bytecode", "opcode", &value,
                                  &length))
            continue;
        unsigned opcode = (unsigned) strtoul(value, NULL, 10);
        CU_ASSERT_TRUE(opcode < 256 && !seen[opcode & 255]);
        CU_ASSERT_TRUE(step_record_extends(ours, i, instruction));
        seen[opcode & 255] = true;
        count++;
    }
    for (unsigned i = 0; i <= 202; i++)
        CU_ASSERT_TRUE(seen[i]);
    CU_ASSERT_EQUAL(count, 205);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("definitions", NULL, NULL);
    CU_ADD_TEST(suite, test_many);
    CU_ADD_TEST(suite, test_roundtrip);
    CU_ADD_TEST(suite, test_opcodes);
}
