/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: records that are written column by column, in pages that streams share, make the same file
 * as those that are put one by one, also where both ways and nested records take turns.
 */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/memory_output.h"
#include "format/step/write/run.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

/* Slots of a call; a return has no method. */
enum { TIME, THREAD, METHOD, COLUMNS };

enum { STREAMS = 3, RECORDS = 120000 };

static const char text_of_definition[] =
    "record Event { int time <property:\"time\"> <encoding:\"delta\">; int thread; } "
    "record Call extends Event { int method; } record Return extends Event {} "
    "record Text { string text; }";

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

struct types {
    uint32_t call, back, text;
};

static struct types types_of(const struct step_definition *definition)
{
    struct types types = {0};
    for (uint32_t i = 0; i < definition->record_count; i++) {
        const char *name = definition->records[i].name;
        types.call = strcmp(name, "Call") == 0 ? i : types.call;
        types.back = strcmp(name, "Return") == 0 ? i : types.back;
        types.text = strcmp(name, "Text") == 0 ? i : types.text;
    }
    return types;
}

/* A record of a stream, from its number alone. */
static uint64_t value_of(uint64_t stream, uint64_t i, unsigned column)
{
    uint64_t mixed = (i + stream) * UINT64_C(0x9e3779b97f4a7c15);
    return column == TIME ? 3 * i + stream : column == THREAD ? stream + i / 50000 : mixed >> 50;
}

static bool is_call(uint64_t i)
{
    return i % 7 < 4;
}

static void put_one(struct step_writer *writer, struct types types, uint64_t stream, uint64_t i)
{
    uint64_t slots[COLUMNS] = {value_of(stream, i, TIME), value_of(stream, i, THREAD),
                               value_of(stream, i, METHOD)};
    uint32_t type = is_call(i) ? types.call : types.back;
    CU_ASSERT_EQUAL(step_writer_put(writer, stream, type, slots), STEP_STATUS_OK);
}

static void put_text(struct step_writer *writer, struct types types, uint64_t stream)
{
    struct step_bytes text = {(const uint8_t *) "between", 7};
    uint64_t slots[] = {step_slot_of_bytes(&text)};
    CU_ASSERT_EQUAL(step_writer_put(writer, stream, types.text, slots), STEP_STATUS_OK);
}

/* Writes some of the records from `first` on as a run.  Returns how many. */
static uint64_t put_run(struct step_writer *writer, struct types types, uint64_t stream,
                        uint64_t first, size_t wanted)
{
    struct step_run_layout layout = {.count = COLUMNS};
    struct step_run run;
    for (unsigned k = 0; k < COLUMNS; k++)
        layout.columns[k].column = step_writer_run_column(writer, types.call, COLUMNS, k);
    layout.columns[TIME].ascends = true;
    layout.columns[THREAD].same = true;
    CU_ASSERT_EQUAL_FATAL(step_writer_begin_run(writer, stream, &layout, wanted, &run),
                          STEP_STATUS_OK);
    if (run.most == 0) { /* behind a text */
        put_one(writer, types, stream, first);
        return 1;
    }
    uint64_t thread = value_of(stream, first, THREAD);
    size_t count = 0;
    for (; count < run.most && value_of(stream, first + count, THREAD) == thread; count++) {
        uint64_t i = first + count;
        run.types[count] = (uint16_t) (is_call(i) ? types.call : types.back);
        run.values[TIME][run.counts[TIME]++] = value_of(stream, i, TIME);
        if (is_call(i))
            run.values[METHOD][run.counts[METHOD]++] = value_of(stream, i, METHOD);
    }
    run.same_values[THREAD] = thread;
    run.counts[THREAD] = count;
    CU_ASSERT_EQUAL(step_writer_end_run(writer, &layout, &run, count), STEP_STATUS_OK);
    return count;
}

/* Writes all records; `seed` decides in which pieces, 0: one by one. */
static struct step_buffer write_file(const struct step_definition *definition, uint64_t seed,
                                     bool has_texts, size_t memory)
{
    struct types types = types_of(definition);
    struct step_buffer file = {0};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    uint64_t next[STREAMS] = {0}, random = seed + 1;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    options.verify = true;
    options.block_records = 50000;
    options.memory_bytes = memory;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    for (uint64_t turn = 0; next[turn % STREAMS] < RECORDS; turn++) {
        uint64_t stream = turn % STREAMS, end = next[stream] + 10000;
        while (next[stream] < end) {
            size_t wanted = next_random(&random) % 3 == 0 ? 9000 : next_random(&random) % 100 + 1;
            uint64_t left = end - next[stream];
            wanted = wanted < left ? wanted : (size_t) left;
            if (has_texts && next[stream] % 1000 == 999)
                put_text(writer, types, stream);
            if (seed == 0 || next_random(&random) % 4 == 0)
                put_one(writer, types, stream, next[stream]++);
            else
                next[stream] += put_run(writer, types, stream, next[stream], wanted);
        }
    }
    CU_ASSERT(step_writer_pending_bytes(writer) > 0);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    return file;
}

/* Reads the records of a stream back. */
static uint64_t count_right(const struct step_buffer *file)
{
    struct step_reader *reader = NULL;
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t right = 0, next[STREAMS] = {0};
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file->data, file->length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    struct types types = types_of(step_reader_borrow_definition(reader));
    for (size_t b = 0; b < step_reader_block_count(reader); b++) {
        uint64_t stream = step_reader_block_info(reader, b)->stream;
        CU_ASSERT_FATAL(stream < STREAMS);
        CU_ASSERT_EQUAL_FATAL(step_reader_load(reader, b, NULL, &block, NULL), STEP_STATUS_OK);
        while (step_block_next(block, &view) == STEP_STATUS_OK) {
            if (view.record == types.text)
                continue;
            uint64_t i = next[stream]++;
            right += view.record == (is_call(i) ? types.call : types.back) &&
                     view.slots[TIME] == value_of(stream, i, TIME) &&
                     view.slots[THREAD] == value_of(stream, i, THREAD) &&
                     (!is_call(i) || view.slots[METHOD] == value_of(stream, i, METHOD));
        }
    }
    step_block_destroy(block);
    CU_ASSERT_EQUAL(step_reader_damage_count(reader), 0);
    step_reader_destroy(reader);
    return right;
}

static struct step_definition *define(void)
{
    struct step_definition *definition = NULL;
    CU_ASSERT_EQUAL_FATAL(step_definition_parse(text_of_definition, strlen(text_of_definition),
                                                "test", NULL, NULL, &definition, NULL),
                          STEP_STATUS_OK);
    return definition;
}

static void test_same_file(void)
{
    struct step_definition *definition = define();
    struct step_buffer alone = write_file(definition, 0, false, 0);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct step_buffer file = write_file(definition, seed, false, 0);
        CU_ASSERT_EQUAL(count_right(&file), (uint64_t) STREAMS * RECORDS);
        CU_ASSERT(file.length == alone.length && memcmp(file.data, alone.data, file.length) == 0);
        step_buffer_reset(&file);
    }
    step_buffer_reset(&alone);
    step_definition_destroy(definition);
}

/* Nested records turn columns back to rows; little memory makes small blocks. */
static void test_turns(void)
{
    static const size_t memories[] = {0, 1 << 20, 1 << 16};
    struct step_definition *definition = define();
    for (size_t k = 0; k < 3; k++) {
        struct step_buffer file = write_file(definition, 7 + k, true, memories[k]);
        CU_ASSERT_EQUAL(count_right(&file), (uint64_t) STREAMS * RECORDS);
        step_buffer_reset(&file);
        file = write_file(definition, 17 + k, false, memories[k]);
        CU_ASSERT_EQUAL(count_right(&file), (uint64_t) STREAMS * RECORDS);
        step_buffer_reset(&file);
    }
    step_definition_destroy(definition);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("runs", NULL, NULL);
    CU_add_test(suite, "the same file as one by one", test_same_file);
    CU_add_test(suite, "by turns with nested records, and with little memory", test_turns);
}
