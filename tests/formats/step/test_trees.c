/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants that hold their own super-type: trees, lists, types that hold each other.  What is
 * written is read in every layout; what is too deep, or goes in a circle, is refused; bytes that
 * are wrong under a good checksum do no harm.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/io/memory_output.h"
#include "format/step/layout.h"
#include "steptrace/reader.h"
#include "steptrace/value.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

/* Statement and Expression hold each other; a Call any number of values. */
static const char text[] =
    "record Node { int v; }"
    "record Pair extends Node { Node left <encoding:\"type=variable\">; string name;"
    "  Node right <encoding:\"type=default\">; int after <encoding:\"delta\">; }"
    "record Call extends Node { Box box; Node <encoding:\"type=variable\">[][] lists; data end; }"
    "record Block { Node value <encoding:\"type=variable\">; Block next "
    "<encoding:\"type=variable\">;}"
    "record Nested extends Node { Block block <encoding:\"type=variable\">; }"
    "record Box { int a; Node in <encoding:\"type=variable\">; int b; }"
    "record Root { int number; Node tree <encoding:\"type=variable\">; int x;"
    "  Node[] trees <encoding:\"type=default\">; Block block <encoding:\"type=variable\">; }";
enum { NODE, PAIR, CALL, BLOCK, NESTED, BOX, ROOT }; /* see find_records() */

static struct step_definition *definition;
static uint32_t records[ROOT + 1];
static uint64_t seed;

static uint64_t next_random(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed >> 33;
}

static int find_records(void)
{
    static const char *const names[] = {"Node", "Pair", "Call", "Block", "Nested", "Box", "Root"};
    struct step_error error = {0};
    step_definition_parse(text, sizeof text - 1, "trees", NULL, NULL, &definition, &error);
    if (definition == NULL)
        fprintf(stderr, "%s\n", error.message);
    for (size_t i = 0; definition != NULL && i <= ROOT; i++)
        records[i] = step_definition_find(definition, names[i]);
    return definition == NULL;
}

/* All that a test makes, freed at its end. */
static void *kept[1 << 18];
static size_t kept_count;

static void *keep(size_t size)
{
    CU_ASSERT_FATAL(kept_count < sizeof kept / sizeof kept[0]);
    void *made = calloc(1, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    return kept[kept_count++] = made;
}

static void release(void)
{
    while (kept_count > 0)
        free(kept[--kept_count]);
}

static uint64_t make_bytes(uint64_t value)
{
    static const uint8_t letters[] = "abcdefghij";
    struct step_bytes *bytes = keep(sizeof *bytes);
    *bytes = (struct step_bytes){letters + value % 4, value % 6};
    return step_slot_of_bytes(bytes);
}

static uint64_t make_node(uint32_t kind, unsigned depth);

static uint64_t make_array(unsigned levels, unsigned depth)
{
    struct step_array *array = keep(sizeof *array);
    size_t count = next_random() % 4;
    uint64_t *slots = keep((count + 1) * sizeof *slots);
    for (size_t i = 0; i < count; i++)
        slots[i] = levels > 1 ? make_array(levels - 1, depth) : make_node(NODE, depth);
    *array = (struct step_array){slots, count};
    return step_slot_of_array(array);
}

static void fill_record(unsigned kind, uint64_t *slots, unsigned depth)
{
    *slots++ = next_random() % 1000;
    if (kind == PAIR) {
        *slots++ = make_node(NODE, depth);
        *slots++ = make_bytes(next_random());
        *slots++ = make_node(NODE, depth);
        *slots++ = next_random() % 1000;
    } else if (kind == CALL) {
        *slots++ = next_random() % 9;
        *slots++ = make_node(NODE, depth);
        *slots++ = next_random() % 9;
        *slots++ = make_array(2, depth);
        *slots++ = make_bytes(next_random());
    } else if (kind == NESTED) {
        *slots++ = make_node(BLOCK, depth);
    }
}

/* A value of the kind, or of one that extends it; or none. */
static uint64_t make_node(uint32_t kind, unsigned depth)
{
    static const unsigned kinds[] = {NODE, NODE, PAIR, PAIR, CALL, NESTED};
    if (depth == 0 || next_random() % 5 == 0)
        return 0;
    struct step_variant *variant = keep(sizeof *variant);
    uint64_t *slots = keep(8 * sizeof *slots);
    if (kind == BLOCK) {
        slots[0] = make_node(NODE, depth - 1);
        slots[1] = make_node(BLOCK, depth - 1);
    } else {
        kind = kinds[next_random() % 6];
        fill_record(kind, slots, depth - 1);
    }
    *variant = (struct step_variant){records[kind], slots};
    return step_slot_of_variant(variant);
}

static void compare_record(uint32_t record, const uint64_t *a, const uint64_t *b);

static void compare_variant(const struct step_variant *a, const struct step_variant *b)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    if (a == NULL || a->record == STEP_NO_RECORD) {
        CU_ASSERT_EQUAL_FATAL(b->record, STEP_NO_RECORD);
        return;
    }
    CU_ASSERT_EQUAL_FATAL(a->record, b->record);
    compare_record(a->record, a->slots, b->slots);
}

static void compare_value(const struct step_field *field, uint32_t depth, uint64_t a, uint64_t b)
{
    if (depth > 0) {
        const struct step_array *left = step_slot_array(a), *right = step_slot_array(b);
        CU_ASSERT_EQUAL_FATAL(left->count, right->count);
        for (size_t i = 0; i < left->count; i++)
            compare_value(field, depth - 1, left->slots[i], right->slots[i]);
    } else if (step_field_is_variant(field)) {
        compare_variant(step_slot_variant(a), step_slot_variant(b));
    } else if (field->kind == STEP_TYPE_INT) {
        CU_ASSERT_EQUAL(a, b);
    } else {
        const struct step_bytes *left = step_slot_bytes(a), *right = step_slot_bytes(b);
        CU_ASSERT_EQUAL_FATAL(left->length, right->length);
        CU_ASSERT(memcmp(left->data, right->data, left->length) == 0);
    }
}

static void compare_record(uint32_t record, const uint64_t *a, const uint64_t *b)
{
    const struct step_record *type = &definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        size_t slots =
            step_field_is_nested(field) ? step_record_slot_count(definition, field->record) : 1;
        if (step_field_is_nested(field))
            compare_record(field->record, a, b);
        else
            compare_value(field, field->array_depth, *a, *b);
        a += slots;
        b += slots;
    }
}

static struct step_writer *start(enum step_write_layout layout, struct step_buffer *file)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.compression = STEP_COMPRESSION_NONE;
    options.layout = layout;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    return writer;
}

static void make_root(uint64_t number, unsigned depth, uint64_t slots[5])
{
    slots[0] = number;
    slots[1] = make_node(NODE, depth);
    slots[2] = next_random() % 7;
    slots[3] = make_array(1, depth);
    slots[4] = make_node(BLOCK, depth);
}

enum { ROOTS = 60 };

static void check_layout(enum step_write_layout layout)
{
    static uint64_t roots[ROOTS][5];
    struct step_buffer file = {0};
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_record_view view;
    struct step_error error = {0};
    struct step_writer *writer = start(layout, &file);
    for (uint64_t i = 0; i < ROOTS; i++) {
        seed = i;
        make_root(i, (unsigned) i % 6, roots[i]);
        CU_ASSERT_EQUAL_FATAL(step_writer_put(writer, 0, records[ROOT], roots[i]), STEP_STATUS_OK);
    }
    CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_OK);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "trees", &reader, &error),
                          STEP_STATUS_OK);
    if (step_reader_load(reader, 0, NULL, &block, &error) != STEP_STATUS_OK)
        fprintf(stderr, "%s\n", error.message);
    CU_ASSERT_PTR_NOT_NULL_FATAL(block);
    uint64_t count = 0;
    for (; step_block_next(block, &view) == STEP_STATUS_OK; count++)
        compare_record(records[ROOT], roots[count], view.slots);
    CU_ASSERT_EQUAL(count, ROOTS);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    release();
}

static void test_layouts(void)
{
    check_layout(STEP_WRITE_ROWS);
    check_layout(STEP_WRITE_COLUMNS);
    check_layout(STEP_WRITE_SMALLEST);
}

/* A chain of so many values; `circle`: the last one holds the first. */
static enum step_status put_chain(size_t length, bool circle)
{
    struct step_buffer file = {0};
    struct step_writer *writer = start(STEP_WRITE_SMALLEST, &file);
    struct step_variant *chain = keep(length * sizeof *chain);
    uint64_t *slots = keep(length * 5 * sizeof *slots);
    uint64_t root[5] = {1, step_slot_of_variant(chain)};
    for (size_t i = 0; i < length; i++) {
        uint64_t inner = i + 1 < length ? step_slot_of_variant(&chain[i + 1])
                         : circle       ? root[1]
                                        : 0;
        slots[5 * i + 1] = inner;
        slots[5 * i + 3] = circle ? inner : 0;
        chain[i] =
            (struct step_variant){records[i + 1 < length || circle ? PAIR : NODE], slots + 5 * i};
    }
    enum step_status status = step_writer_put(writer, 0, records[ROOT], root);
    step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    step_buffer_reset(&file);
    release();
    return status;
}

static void test_depth(void)
{
    CU_ASSERT_EQUAL(put_chain(STEP_MAX_TREE_DEPTH, false), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(put_chain(STEP_MAX_TREE_DEPTH + 1, false), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(put_chain(1, true), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(put_chain(3, true), STEP_STATUS_INVALID);
}

/* A Block is no Node, though both are in the tree's list. */
static void test_foreign_type(void)
{
    struct step_buffer file = {0};
    struct step_error error = {0};
    struct step_writer *writer = start(STEP_WRITE_SMALLEST, &file);
    uint64_t block[2] = {0, 0};
    struct step_variant wrong = {records[BLOCK], block};
    uint64_t root[5] = {1, step_slot_of_variant(&wrong)};
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, records[ROOT], root), STEP_STATUS_INVALID);
    step_writer_close(writer, &error);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "does not extend its own"));
    step_writer_destroy(writer);
    step_buffer_reset(&file);
}

/* Reads what there is to read; all of it must be in bounds. */
static void read_damaged(const uint8_t *bytes, size_t length)
{
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_record_view view;
    if (step_reader_open_memory(bytes, length, "damaged", &reader, NULL) != STEP_STATUS_OK)
        return;
    if (step_reader_block_count(reader) > 0 &&
        step_reader_load(reader, 0, NULL, &block, NULL) == STEP_STATUS_OK)
        while (step_block_next(block, &view) == STEP_STATUS_OK)
            compare_record(view.record, view.slots, view.slots);
    step_block_destroy(block);
    step_reader_destroy(reader);
}

/* Every byte of a data block, changed in four ways, its checksum made good. */
static void damage(enum step_write_layout layout)
{
    struct step_buffer file = {0};
    struct step_reader *reader = NULL;
    struct step_writer *writer = start(layout, &file);
    struct step_block_header header;
    uint64_t root[5];
    for (seed = 3; seed < 6; seed++) {
        make_root(seed, 3, root);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, records[ROOT], root), STEP_STATUS_OK);
    }
    step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file.data, file.length, "trees", &reader, NULL),
                          STEP_STATUS_OK);
    uint8_t *head = file.data + step_reader_block_info(reader, 0)->offset;
    step_reader_destroy(reader);
    CU_ASSERT_FATAL(step_block_header_unpack(head, &header));
    uint8_t *payload = head + STEP_BLOCK_HEADER_BYTES;
    size_t length = (size_t) header.payload_bytes;
    for (size_t i = header.summary_bytes; i < length; i++) {
        static const uint8_t changes[] = {1, 2, 0x80, 0xff};
        for (size_t k = 0; k < sizeof changes; k++) {
            payload[i] ^= changes[k];
            header.payload_checksum = step_checksum(payload, length);
            step_block_header_pack(&header, head);
            read_damaged(file.data, (size_t) (payload + length - file.data));
            payload[i] ^= changes[k];
        }
    }
    step_buffer_reset(&file);
    release();
}

static void test_damage(void)
{
    damage(STEP_WRITE_ROWS);
    damage(STEP_WRITE_COLUMNS);
}

static int forget_records(void)
{
    step_definition_destroy(definition);
    return 0;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("trees", find_records, forget_records);
    CU_add_test(suite, "layouts", test_layouts);
    CU_add_test(suite, "depth", test_depth);
    CU_add_test(suite, "foreign type", test_foreign_type);
    CU_add_test(suite, "damage", test_damage);
}
