/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strategies beyond the paper: what leaves a set of live values, time of a coarser resolution,
 * strings by number and by prefix; in both layouts and packed, what they save, and bad bytes.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/codec/strategies/packed_strings.h"
#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/scale.h"
#include "format/io/memory_output.h"
#include "format/step/plan/plan.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/unit/run_suite.h"

enum { RECORDS = 6000, NAME_BYTES = 64 };

static const struct form {
    enum step_write_layout layout;
    enum step_compression compression;
} forms[] = {{STEP_WRITE_ROWS, STEP_COMPRESSION_NONE},
             {STEP_WRITE_COLUMNS, STEP_COMPRESSION_NONE},
             {STEP_WRITE_COLUMNS, STEP_COMPRESSION_BEST}};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Writes records of one slot each, and opens what was written; `count` tells the bytes. */
static struct step_reader *write_slots(const char *text, const struct form *form,
                                       const uint64_t *slots, size_t count,
                                       struct step_buffer *file)
{
    struct step_definition *definition = NULL;
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_reader *reader = NULL;
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, strlen(text), "test", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.layout = form->layout;
    options.compression = form->compression;
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &slots[i]), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
    step_writer_destroy(writer);
    step_definition_destroy(definition);
    CU_ASSERT_EQUAL_FATAL(step_reader_open_memory(file->data, file->length, "test", &reader, NULL),
                          STEP_STATUS_OK);
    return reader;
}

/* Calls `same` with each record's number and slot; returns the bytes of the block. */
static uint64_t compare(struct step_reader *reader, size_t count,
                        bool (*same)(size_t number, uint64_t slot))
{
    struct step_block *block = NULL;
    struct step_record_view view;
    size_t good = 0;
    CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
    while (step_block_next(block, &view) == STEP_STATUS_OK && good < count &&
           same(good, view.slots[0]))
        good++;
    CU_ASSERT_EQUAL(good, count);
    step_block_destroy(block);
    return step_reader_block_info(reader, 0)->stored_bytes;
}

static uint64_t written[RECORDS];

static bool is_written(size_t number, uint64_t slot)
{
    return slot == written[number];
}

static uint64_t bytes_of(const char *encoding, const struct form *form,
                         bool (*same)(size_t number, uint64_t slot))
{
    char text[200];
    struct step_buffer file = {0};
    snprintf(text, sizeof text, "record R { int v <encoding:\"%s\">; }", encoding);
    struct step_reader *reader = write_slots(text, form, written, RECORDS, &file);
    uint64_t bytes = compare(reader, RECORDS, same);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    return bytes;
}

/* Three collections: every second id, every second of the others, and then all. */
static void kill_in_batches(void)
{
    static bool dead[RECORDS];
    size_t n = 0;
    memset(dead, 0, sizeof dead);
    for (size_t batch = 0; batch < 3; batch++) {
        size_t left = 0;
        for (size_t id = 0; id < RECORDS; id++) {
            if (dead[id] || (left++ % 2 != 0 && batch < 2))
                continue;
            dead[id] = true;
            written[n++] = 1000 + id;
        }
    }
    CU_ASSERT_EQUAL(n, RECORDS);
}

static void test_live(void)
{
    kill_in_batches();
    for (size_t f = 0; f < FORMS; f++) {
        uint64_t delta = bytes_of("delta,unsigned", &forms[f], is_written);
        uint64_t live = bytes_of("live,unsigned", &forms[f], is_written);
        /* packing tries both anyway */
        CU_ASSERT(forms[f].compression == STEP_COMPRESSION_BEST
                      ? live <= delta
                      : live < delta || (f == 0 && live <= delta));
        CU_ASSERT(f != 1 || live * 10 < delta * 9);
    }
}

/* Any values have codes, and any codes are values: one to one. */
static void test_live_codes(void)
{
    uint64_t state = 7;
    const struct step_row_coder *rows = step_strategy_live.rows;
    const struct step_policy policy = {.targeted = STEP_LIVE};
    void *forth = calloc(1, rows->state_size), *back = calloc(1, rows->state_size);
    CU_ASSERT_FATAL(forth != NULL && back != NULL);
    for (size_t round = 0; round < 4; round++) {
        CU_ASSERT(rows->start(forth, &policy, 1, false));
        CU_ASSERT(rows->start(back, &policy, 1, false));
        for (size_t i = 0; i < 20000; i++) {
            uint64_t value, code, again, other;
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint64_t noise = state >> 20;
            value = round == 0   ? noise % 5000
                    : round == 1 ? i % 3000 * 3 + noise % 2
                    : round == 2 ? 0 - noise % 40
                                 : state;
            CU_ASSERT(rows->code(forth, value, 0, &code));
            CU_ASSERT(rows->value(back, code, 0, &again));
            if (value != again) {
                fprintf(stderr, "round %zu, value %zu\n", round, i);
                CU_FAIL_FATAL("no round trip");
            }
            if (i % 64 != 0)
                continue;
            /* and a code that nobody made */
            CU_ASSERT(rows->value(back, noise % 9000 - 4500, 0, &other));
            CU_ASSERT(rows->code(forth, other, 0, &code));
            CU_ASSERT_EQUAL(code, noise % 9000 - 4500);
        }
    }
    rows->reset(forth);
    rows->reset(back);
    free(forth);
    free(back);
}

static bool is_rounded(size_t number, uint64_t slot)
{
    return slot == written[number] - written[number] % 1000;
}

static bool is_floor(size_t number, uint64_t slot)
{
    int64_t value = (int64_t) written[number];
    int64_t rest = value % 50;
    return (int64_t) slot == value - (rest < 0 ? rest + 50 : rest);
}

static void test_resolution(void)
{
    static const char *const encodings[] = {
        "resolution=1000,delta,unsigned", "unsigned,resolution=1000",
        "context=2,resolution=1000,unsigned", "default,size=8,resolution=1000,unsigned"};
    for (size_t f = 0; f < FORMS; f++) {
        uint64_t state = 1;
        for (size_t i = 0; i < RECORDS; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            written[i] = UINT64_C(5000000000) + i * 1234 + (state >> 33) % 977;
        }
        uint64_t exact = bytes_of("delta,unsigned", &forms[f], is_written);
        for (size_t e = 0; e < sizeof encodings / sizeof encodings[0]; e++)
            bytes_of(encodings[e], &forms[f], is_rounded);
        CU_ASSERT(bytes_of(encodings[0], &forms[f], is_rounded) < exact * 3 / 4);
        /* signed values go down too */
        for (size_t i = 0; i < RECORDS; i++)
            written[i] = (uint64_t) ((int64_t) (i * 37 % 4001) - 2000);
        bytes_of("resolution=50", &forms[f], is_floor);
        bytes_of("resolution=50,delta=1000,size=2", &forms[f], is_floor);
        /* what is none is not heeded */
        bytes_of("resolution=0", &forms[f], is_written);
        bytes_of("resolution=-5", &forms[f], is_written);
        bytes_of("resolution=99999999999999999999999", &forms[f], is_written);
    }
}

/* Of modifiers at several levels the innermost holds.  Files depend on it: readers take it from the
 * definition, too. */
static void test_levels(void)
{
    static const char text[] = "record Outer { Mid b; ~b.a.v <encoding:\"resolution=1000000\">; }"
                               "record Mid { Inner a; ~a.v <encoding:\"resolution=1000\">; }"
                               "record Inner { int v <encoding:\"resolution=10,unsigned\">; }";
    for (size_t i = 0; i < RECORDS; i++)
        written[i] = UINT64_C(5000000000) + i * 12345;
    for (size_t f = 0; f < FORMS; f++) {
        struct step_buffer file = {0};
        struct step_reader *reader = write_slots(text, &forms[f], written, RECORDS, &file);
        compare(reader, RECORDS, is_rounded);
        step_reader_destroy(reader);
        step_buffer_reset(&file);
    }
}

/* The size of a field is that of what is stored. */
static void test_resolution_size(void)
{
    static const uint64_t good = 255000, bad = 256000;
    static const char text[] = "record R { int v <encoding:\"size=1,unsigned,resolution=1000\">; }";
    struct step_definition *definition = NULL;
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    struct step_buffer file = {0};
    struct step_error error = {0};
    CU_ASSERT_EQUAL_FATAL(
        step_definition_parse(text, sizeof text - 1, "test", NULL, NULL, &definition, NULL),
        STEP_STATUS_OK);
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &good), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(step_writer_put(writer, 0, 0, &bad), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(step_writer_close(writer, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "field v is"));
    step_writer_destroy(writer);
    step_buffer_reset(&file);
    step_definition_destroy(definition);
}

/* One to one for all numbers, and a division where it is exact. */
static void test_scale(void)
{
    static const uint64_t numbers[] = {2, 3, 8, 1000, 1000000007, UINT64_C(1) << 62, 12};
    uint64_t state = 99;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct step_scale scale = step_scale_of(numbers[i]);
        for (size_t k = 0; k < 2000; k++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            CU_ASSERT_EQUAL(step_scale_up(&scale, step_scale_down(&scale, state)), state);
            CU_ASSERT_EQUAL(step_scale_down(&scale, step_scale_up(&scale, state)), state);
            int64_t most = INT64_MAX / (int64_t) numbers[i];
            int64_t quotient = (int64_t) (state >> 1) % (most + 1);
            quotient = k % 2 == 0 ? quotient : -quotient;
            CU_ASSERT_EQUAL((int64_t) step_scale_down(&scale, (uint64_t) quotient * numbers[i]),
                            quotient);
        }
    }
}

static char names[RECORDS][NAME_BYTES];
static struct step_bytes strings[RECORDS];

static bool is_name(size_t number, uint64_t slot)
{
    const struct step_bytes *bytes = step_slot_bytes(slot);
    return bytes->length == strings[number].length &&
           (bytes->length == 0 || memcmp(bytes->data, names[number], bytes->length) == 0);
}

static uint64_t name_bytes(const char *type, const char *encoding, const struct form *form)
{
    char text[200];
    struct step_buffer file = {0};
    for (size_t i = 0; i < RECORDS; i++) {
        strings[i] = (struct step_bytes){(const uint8_t *) names[i], strlen(names[i])};
        written[i] = step_slot_of_bytes(&strings[i]);
    }
    snprintf(text, sizeof text,
             "record R { %s s <encoding:\"%s\">; ~s.length "
             "<encoding:\"recent=4\">; }",
             type, encoding);
    struct step_reader *reader = write_slots(text, form, written, RECORDS, &file);
    uint64_t bytes = compare(reader, RECORDS, is_name);
    step_reader_destroy(reader);
    step_buffer_reset(&file);
    return bytes;
}

static void test_string_identifiers(void)
{
    for (size_t i = 0; i < RECORDS; i++) {
        snprintf(names[i], NAME_BYTES, "spec.benchmarks.javac.Expression%zu", i * i % 83);
        if (i % 50 == 0)
            names[i][0] = '\0';
    }
    for (size_t f = 0; f < FORMS; f++) {
        uint64_t plain = name_bytes("string", "", &forms[f]);
        uint64_t numbered = name_bytes("data", "identifier", &forms[f]);
        uint64_t both = name_bytes("string", "identifier,prefix", &forms[f]);
        CU_ASSERT(forms[f].compression == STEP_COMPRESSION_BEST ? numbered <= plain
                                                                : numbered < plain / 8);
        CU_ASSERT(both <= numbered);
    }
    /* a number and a type a record, in rows */
    CU_ASSERT(name_bytes("string", "identifier", &forms[0]) < RECORDS * 2 + 6000);
}

static void test_prefixes(void)
{
    for (size_t i = 0; i < RECORDS; i++)
        snprintf(names[i], NAME_BYTES, "/usr/share/doc/package-%04zu/part%zu", i / 8, i % 8);
    for (size_t f = 0; f < FORMS; f++) {
        uint64_t plain = name_bytes("string", "", &forms[f]);
        uint64_t shared = name_bytes("string", "prefix", &forms[f]);
        CU_ASSERT(forms[f].compression == STEP_COMPRESSION_BEST ? shared <= plain
                                                                : shared < plain / 4);
    }
}

/* Strings in arrays and in records by value, several to a record. */
static void test_strings_inside(void)
{
    static const char text[] =
        "record P { string name <encoding:\"identifier,prefix\">; int x; }"
        "record R { P a; string[] tags <encoding:\"identifier\">; P[] more; }";
    for (size_t f = 0; f < FORMS; f++) {
        struct step_definition *definition = NULL;
        struct step_writer_options options;
        struct step_writer *writer = NULL;
        struct step_reader *reader = NULL;
        struct step_buffer file = {0};
        CU_ASSERT_EQUAL_FATAL(
            step_definition_parse(text, sizeof text - 1, "test", NULL, NULL, &definition, NULL),
            STEP_STATUS_OK);
        uint32_t type = step_definition_find(definition, "R");
        step_writer_options_init(&options);
        options.definition = definition;
        options.output = step_memory_output(&file);
        options.layout = forms[f].layout;
        options.compression = forms[f].compression;
        CU_ASSERT_EQUAL_FATAL(step_writer_create(&options, &writer, NULL), STEP_STATUS_OK);
        struct step_bytes words[3] = {{(const uint8_t *) "abcdef", 6},
                                      {(const uint8_t *) "abcxyz", 6},
                                      {(const uint8_t *) "", 0}};
        for (uint64_t i = 0; i < 500; i++) {
            uint64_t tags[2] = {step_slot_of_bytes(&words[i % 3]),
                                step_slot_of_bytes(&words[i / 3 % 3])};
            uint64_t more[2] = {step_slot_of_bytes(&words[i % 2]), i};
            struct step_array tag_array = {tags, i % 3}, more_array = {more, i % 2};
            uint64_t slots[4] = {step_slot_of_bytes(&words[i / 2 % 3]), i,
                                 step_slot_of_array(&tag_array), step_slot_of_array(&more_array)};
            CU_ASSERT_EQUAL(step_writer_put(writer, 0, type, slots), STEP_STATUS_OK);
        }
        CU_ASSERT_EQUAL(step_writer_close(writer, NULL), STEP_STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(
            step_reader_open_memory(file.data, file.length, "test", &reader, NULL), STEP_STATUS_OK);
        struct step_block *block = NULL;
        struct step_record_view view;
        CU_ASSERT_EQUAL(step_reader_load(reader, 0, NULL, &block, NULL), STEP_STATUS_OK);
        uint64_t i = 0;
        for (; step_block_next(block, &view) == STEP_STATUS_OK; i++) {
            const struct step_bytes *name = step_slot_bytes(view.slots[0]);
            const struct step_array *tag_array = step_slot_array(view.slots[2]);
            const struct step_bytes *word = &words[i / 2 % 3];
            CU_ASSERT(name->length == word->length &&
                      memcmp(name->data, word->data, word->length) == 0);
            CU_ASSERT_EQUAL_FATAL(tag_array->count, i % 3);
            if (i % 3 == 2) {
                name = step_slot_bytes(tag_array->slots[1]);
                word = &words[i / 3 % 3];
                CU_ASSERT(name->length == word->length &&
                          memcmp(name->data, word->data, word->length) == 0);
            }
        }
        CU_ASSERT_EQUAL(i, 500);
        step_block_destroy(block);
        step_reader_destroy(reader);
        step_writer_destroy(writer);
        step_buffer_reset(&file);
        step_definition_destroy(definition);
    }
}

/* Packed strings that are cut, changed, or tell of what is not there. */
static void test_bad_strings(void)
{
    static const uint64_t lengths[] = {4, 4, 2, 4};
    static const uint8_t text[] = "abcdabceababcd";
    struct step_series series = {lengths, 1, NULL};
    for (unsigned flags = 1; flags <= 3; flags++) {
        struct step_buffer packed = {0};
        uint8_t out[14];
        CU_ASSERT_EQUAL(step_strings_pack(flags, lengths, 4, text, &packed), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(
            step_strings_unpack(flags, &series, 4, packed.data, packed.length, out, sizeof out),
            STEP_STATUS_OK);
        CU_ASSERT_EQUAL(memcmp(out, text, sizeof out), 0);
        for (size_t cut = 0; cut < packed.length; cut++) {
            uint8_t *exact = malloc(cut + 1);
            memcpy(exact, packed.data, cut);
            CU_ASSERT_EQUAL(step_strings_unpack(flags, &series, 4, exact, cut, out, sizeof out),
                            STEP_STATUS_CORRUPT);
            free(exact);
        }
        for (size_t bit = 0; bit < packed.length * 8; bit++) { /* no fault of memory */
            packed.data[bit / 8] ^= (uint8_t) (1u << bit % 8);
            step_strings_unpack(flags, &series, 4, packed.data, packed.length, out, sizeof out);
            packed.data[bit / 8] ^= (uint8_t) (1u << bit % 8);
        }
        step_buffer_reset(&packed);
    }
    uint8_t out[14];
    static const uint8_t never[] = {0, 2, 0, 0, 'a', 'b', 'c', 'd'};
    CU_ASSERT_EQUAL(step_strings_unpack(STEP_STRINGS_NUMBERED, &series, 4, never, sizeof never, out,
                                        sizeof out),
                    STEP_STATUS_CORRUPT);
    static const uint8_t before[] = {1, 0, 0, 0, 'a', 'b', 'c'};
    CU_ASSERT_EQUAL(step_strings_unpack(STEP_STRINGS_SHARED, &series, 4, before, sizeof before, out,
                                        sizeof out),
                    STEP_STATUS_CORRUPT);
}

/* In columns nobody counts records by a nested field, so there neither is tried (step.md). */
static void test_nested_followers(void)
{
    static const char text[] =
        "record A { int t; int own <encoding:\"age=A.t\">; B b; }"
        "record B { int a <encoding:\"age=A.t\">; int s <encoding:\"stack=A\">; }";
    struct step_definition *definition = NULL;
    struct step_plan *plan = NULL;
    step_definition_parse(text, sizeof text - 1, "nested", NULL, NULL, &definition, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(definition);
    CU_ASSERT_EQUAL_FATAL(step_plan_create(definition, &plan, NULL), STEP_STATUS_OK);
    const uint32_t record = step_definition_find(definition, "A");
    const struct step_plan_column *own = &plan->columns[step_plan_find_column(plan, record, 1, 0)];
    const struct step_plan_column *age = &plan->columns[step_plan_find_column(plan, record, 2, 0)];
    const struct step_plan_column *stack =
        &plan->columns[step_plan_find_column(plan, record, 2, 1)];
    CU_ASSERT(step_hints_name(&own->field_coding.column, STEP_AGE) &&
              own->field_coding.policy.targeted == STEP_AGE);
    CU_ASSERT(!step_hints_name(&age->field_coding.column, STEP_AGE) &&
              age->field_coding.policy.targeted == STEP_AGE);
    CU_ASSERT(!step_hints_name(&stack->field_coding.column, STEP_STACK) &&
              stack->field_coding.policy.targeted == STEP_STACK);
    step_plan_destroy(plan);
    step_definition_destroy(definition);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step strategies", NULL, NULL);
    CU_add_test(suite, "live", test_live);
    CU_add_test(suite, "live codes", test_live_codes);
    CU_add_test(suite, "resolution", test_resolution);
    CU_add_test(suite, "modifiers at several levels", test_levels);
    CU_add_test(suite, "resolution and size", test_resolution_size);
    CU_add_test(suite, "scale", test_scale);
    CU_add_test(suite, "string identifiers", test_string_identifiers);
    CU_add_test(suite, "prefixes", test_prefixes);
    CU_add_test(suite, "strings inside", test_strings_inside);
    CU_add_test(suite, "bad strings", test_bad_strings);
    CU_add_test(suite, "nested followers", test_nested_followers);
}
