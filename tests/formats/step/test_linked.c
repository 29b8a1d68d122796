/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `linked` and `listed`: stores of objects that were holders just before, written and packed with
 * and without; what is named and may not be; codes are one to one.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "format/codec/strategies/strategy_table.h"
#include "format/io/memory_output.h"
#include "format/step/plan/record_series.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

enum { STORES = 4000, OBJECTS = 700, FIELDS = 5 };

static const char text[] =
    "record Made { int object <encoding:\"stride=1\">; }"
    "record Stored { int field; int holder <encoding:\"%s\">; int target <encoding:\"%s\">; }";
static const char holder_links[] = "linked=field+Made.object";
static const char target_links[] = "linked=field+holder+Made.object";

static struct step_definition *parse(const char *source)
{
    struct step_definition *definition = NULL;
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(source, strlen(source), "linked", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    return definition;
}

static struct step_definition *define(const char *holder, const char *target)
{
    char source[300];
    snprintf(source, sizeof source, text, holder, target);
    return parse(source);
}

/* A store, or the object that is new before it, where there is one. */
static bool store_of(uint64_t number, uint64_t slots[3])
{
    uint64_t noise = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    uint64_t before = number * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    slots[0] = number % FIELDS;
    slots[1] = noise % OBJECTS;
    slots[2] = number % 37 == 0  ? OBJECTS + number
               : noise % 32 == 1 ? 0
               : number % 2 == 0 ? slots[1]
                                 : before % OBJECTS;
    return number % 37 == 0;
}

static void write_stores(struct step_writer *writer)
{
    for (uint64_t i = 0; i < STORES; i++) {
        uint64_t slots[3];
        if (store_of(i, slots))
            CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &slots[2]), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 1, slots), STEP_STATUS_OK);
    }
}

static void write_file(const struct step_definition *definition, enum step_compression compression,
                       struct step_buffer *file)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.compression = compression;
    options.layout = STEP_WRITE_COLUMNS;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    write_stores(writer);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
}

static void check_stores(const struct step_buffer *file)
{
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t number = 0;
    CU_ASSERT_EQUAL_FATAL(
        step_reader_open_memory(file->data, file->length, "linked", &reader, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    while (step_block_next(block, &view) == STEP_STATUS_OK) {
        uint64_t slots[3];
        if (view.record == 0)
            continue;
        store_of(number++, slots);
        CU_ASSERT_EQUAL(memcmp(view.slots, slots, sizeof slots), 0);
    }
    CU_ASSERT_EQUAL(number, STORES);
    step_block_destroy(block);
    step_reader_destroy(reader);
}

static size_t size_with(enum step_compression compression, const char *holder, const char *target)
{
    struct step_definition *definition = define(holder, target);
    struct step_buffer file = {0};
    write_file(definition, compression, &file);
    check_stores(&file);
    size_t size = file.length;
    step_buffer_reset(&file);
    step_definition_destroy(definition);
    return size;
}

static size_t packed_size(const char *holder, const char *target)
{
    return size_with(STEP_COMPRESSION_BEST, holder, target);
}

static void test_sizes(void)
{
    enum step_compression usual = STEP_COMPRESSION_ZLIB;
    CU_ASSERT(size_with(usual, "delta", target_links) * 10 <
              size_with(usual, "delta", "delta") * 9);
    size_t plain = packed_size("delta", "delta");
    size_t linked = packed_size("delta", target_links);
    CU_ASSERT(linked * 10 < plain * 9);
    CU_ASSERT(packed_size(holder_links, target_links) <= linked + 100);
    /* each by the other: one of them goes by itself */
    packed_size("linked=target", "linked=holder");
}

static struct step_plan *plan_of(const struct step_definition *definition)
{
    struct step_plan *plan = NULL;
    CU_ASSERT_EQUAL_FATAL(step_plan_create(definition, &plan, NULL), STEP_STATUS_OK);
    return plan;
}

/* Whether a third field's column heeds the attribute. */
static bool heeds(const char *links)
{
    struct step_definition *definition = define("delta", links);
    struct step_plan *plan = plan_of(definition);
    uint32_t column = step_plan_find_column(plan, 1, 2, 0);
    bool heeded = plan->columns[column].field_coding.column.is_linked;
    step_plan_destroy(plan);
    step_definition_destroy(definition);
    return heeded;
}

static void test_names(void)
{
    CU_ASSERT(heeds("linked=field"));
    CU_ASSERT(heeds("linked=field+field"));
    CU_ASSERT(heeds(target_links));
    CU_ASSERT(!heeds("linked"));
    CU_ASSERT(!heeds("linked=target"));
    CU_ASSERT(!heeds("linked=nothing"));
    CU_ASSERT(!heeds("linked=field+nothing"));
    CU_ASSERT(!heeds("linked=field+Made.nothing"));
    CU_ASSERT(!heeds("linked=Made.object"));
}

/* What a file says: fields and columns that there are not, and the column itself. */
static void test_parameters(void)
{
    static const struct {
        uint64_t parameters[2];
        bool good;
    } rows[] = {
        {{0, 0}, true},
        {{0 | UINT64_C(2) << 24, 1}, true},
        {{2, 0}, false},
        {{3, 0}, false},
        {{0xffffff, 0}, false},
        {{UINT64_C(3) << 24, 0}, false},
        {{UINT64_C(4) << 24, 0}, false},
        {{UINT64_MAX, 0}, false},
        {{0, UINT64_MAX}, false},
        {{0, (UINT64_C(1) << 24 | 2) + 1}, false}, /* itself */
        {{0, (UINT64_C(2) << 24) + 1}, false},
    };
    struct step_definition *definition = define("delta", "delta");
    struct step_plan *plan = plan_of(definition);
    uint32_t column = step_plan_find_column(plan, 1, 2, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct step_links links;
        CU_ASSERT_EQUAL(step_links_unpack(plan, column, rows[i].parameters, &links), rows[i].good);
    }
    step_plan_destroy(plan);
    step_definition_destroy(definition);
}

/* All codes are values, and these have the codes again. */
static void check_codes(const struct step_transform *transform, uint64_t sizes)
{
    enum { COUNT = 3000 };
    static uint64_t codes[COUNT], values[COUNT], again[COUNT], keys[COUNT], holders[COUNT];
    const struct step_series linked[STEP_LINKED_SERIES] = {
        {keys, 1, NULL}, {holders, 1, NULL}, {holders + 1, 0, NULL}};
    const struct step_series series = {NULL, 0, linked};
    const uint64_t parameters[STEP_TRANSFORM_PARAMETERS] = {UINT64_C(1) << 24, 1, sizes};
    CU_ASSERT_FATAL(transform->valid(parameters));
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t noise = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        keys[i] = noise >> 62;
        holders[i] = noise >> 32 & 31;
        codes[i] = i % 3 == 0 ? noise >> 40 & 31 : i % 3 == 1 ? 0 - (noise >> 58) : noise;
    }
    memcpy(values, codes, sizeof codes);
    CU_ASSERT_EQUAL(transform->inverse(parameters, &series, values, COUNT), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(transform->forward(parameters, &series, values, again, COUNT), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(memcmp(codes, again, sizeof codes), 0);
}

static uint64_t sizes_of_lists(uint64_t bits, uint64_t met, uint64_t kept)
{
    return bits | met << 8 | kept << 16;
}

static void test_codes(void)
{
    check_codes(&step_transform_linked, 6);
    check_codes(&step_transform_listed, sizes_of_lists(1, 4, 16));
    check_codes(&step_transform_listed, sizes_of_lists(0, 0, 1));
    check_codes(&step_transform_listed, sizes_of_lists(12, 16, 64));
}

static void test_sizes_of_lists(void)
{
    static const uint64_t bad[] = {0,
                                   12,
                                   12 | 4 << 8,
                                   12 | 17 << 8 | 1 << 16,
                                   12 | 4 << 8 | 65 << 16,
                                   15 | 64 << 16,
                                   21 | 1 << 16,
                                   255 | 1 << 16,
                                   UINT64_MAX};
    const uint64_t good[STEP_TRANSFORM_PARAMETERS] = {0, 0, sizes_of_lists(14, 16, 64)};
    CU_ASSERT(step_transform_listed.valid(good));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const uint64_t parameters[STEP_TRANSFORM_PARAMETERS] = {0, 0, bad[i]};
        CU_ASSERT(!step_transform_listed.valid(parameters));
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step linked", NULL, NULL);
    CU_add_test(suite, "sizes", test_sizes);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "parameters", test_parameters);
    CU_add_test(suite, "codes", test_codes);
    CU_add_test(suite, "sizes of lists", test_sizes_of_lists);
}
