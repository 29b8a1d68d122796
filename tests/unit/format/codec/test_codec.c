/* SPDX-License-Identifier: Apache-2.0 */
/* Every transform and every form of the tables: round trip, truncation at every byte, bit flips;
 * chains as they are chosen; codings in the file. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/codec/choose.h"
#include "tests/unit/run_suite.h"

enum { MOST = 700, PATTERNS = 12 };

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Values as columns have them, and as they should not. */
static void fill_pattern(unsigned pattern, uint64_t *values, size_t count)
{
    uint64_t last = 1000;
    for (size_t i = 0; i < count; i++) {
        uint64_t noise = draw();
        switch (pattern) {
        case 0:
            values[i] = 0;
            break;
        case 1:
            values[i] = UINT64_MAX;
            break;
        case 2:
            values[i] = i;
            break;
        case 3:
            values[i] = noise;
            break;
        case 4:
            values[i] = noise % 3;
            break;
        case 5:
            values[i] = noise % 40 == 0 ? noise : 0;
            break;
        case 6:
            values[i] = last += noise % 5;
            break;
        case 7:
            values[i] = 0 - noise % 100;
            break;
        case 8:
            values[i] = 500 + 10 * (noise % 300) + noise / 1000 % 2;
            break;
        case 9:
            values[i] = noise >> noise % 64;
            break;
        case 10:
            values[i] = i % 2 == 0 ? INT64_MAX : (uint64_t) INT64_MAX + 1;
            break;
        default:
            values[i] = i % 3 + (noise % 97 == 0);
        }
    }
}

static const size_t counts[] = {1, 2, 7, 8, 9, 64, 255, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

/* Parameter sets, of which each row takes the valid ones. */
static const uint64_t parameter_sets[][STEP_TRANSFORM_PARAMETERS] = {
    {0, 0, 0, 0},
    {1, 1, 0, 0},
    {3, 4, 0, 0},
    {2, 12, 0, 0},
    {0, 0, 4, 0},
    {0, 1, 9, 0},
    {4, 20, 0, 0},
    {UINT64_MAX, 77, 0, 0},
    {1, 2, 3, 4},
    {UINT64_MAX, 0, 1, 0},
    {0, 1, 3 | 2 << 8 | 4 << 16, 0},
};

static void test_transforms(void)
{
    static uint64_t values[MOST];
    static uint64_t keys[MOST];
    static uint64_t out[MOST];
    static uint64_t in_place[MOST];
    const struct step_transform *row;
    for (size_t r = 0; (row = step_transform_row(r)) != NULL; r++) {
        CU_ASSERT_PTR_EQUAL(step_transform_find(row->id), row);
        for (size_t p = 0; p < sizeof parameter_sets / sizeof parameter_sets[0]; p++) {
            const uint64_t *parameters = parameter_sets[p];
            if (row->valid != NULL && !row->valid(parameters))
                continue;
            for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
                for (size_t c = 0; c < COUNTS; c++) {
                    const struct step_series linked[STEP_LINKED_SERIES] = {
                        {keys, 1, NULL}, {values, 1, NULL}, {keys, c % 2, NULL}};
                    struct step_series series = {keys, c % 2, linked};
                    fill_pattern(pattern, values, counts[c]);
                    fill_pattern(4 + pattern % 3, keys, counts[c]);
                    memcpy(in_place, values, sizeof values);
                    CU_ASSERT_EQUAL(row->forward(parameters, &series, values, out, counts[c]),
                                    STEP_STATUS_OK);
                    CU_ASSERT_EQUAL(
                        row->forward(parameters, &series, in_place, in_place, counts[c]),
                        STEP_STATUS_OK);
                    CU_ASSERT_EQUAL(memcmp(out, in_place, counts[c] * sizeof *out), 0);
                    CU_ASSERT_EQUAL(row->inverse(parameters, &series, out, counts[c]),
                                    STEP_STATUS_OK);
                    if (memcmp(out, values, counts[c] * sizeof *out) != 0) {
                        fprintf(stderr, "%s, parameters %zu, pattern %u, %zu values\n", row->name,
                                p, pattern, counts[c]);
                        CU_FAIL("no round trip");
                    }
                }
        }
    }
}

static bool fits(const struct step_form *row, uint64_t parameter, const uint64_t *values,
                 size_t count)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < count; i++)
        mask |= values[i];
    return row->fits == NULL || row->fits(parameter, mask);
}

/* Copies to a block of exactly that size, so that a sanitizer sees a read past the end. */
static uint8_t *exact_copy(const uint8_t *bytes, size_t length)
{
    uint8_t *copy = malloc(length + (length == 0));
    if (length > 0)
        memcpy(copy, bytes, length);
    return copy;
}

static void damage(const struct step_form *row, uint64_t parameter, const uint8_t *bytes,
                   size_t length, size_t count)
{
    static uint64_t back[MOST];
    for (size_t cut = 0; cut < length; cut += 1 + length / 300) {
        uint8_t *copy = exact_copy(bytes, cut);
        CU_ASSERT_FALSE(row->decode(parameter, copy, cut, back, count));
        free(copy);
    }
    uint8_t *longer = exact_copy(bytes, length);
    for (size_t i = 0; i < length; i += 1 + length / 300) {
        longer[i] ^= (uint8_t) (1u << draw() % 8);
        row->decode(parameter, longer, length, back, count); /* any answer; no crash */
    }
    free(longer);
    longer = malloc(length + 1);
    memcpy(longer, bytes, length);
    longer[length] = 0;
    CU_ASSERT_FALSE(row->decode(parameter, longer, length + 1, back, count));
    free(longer);
}

static void test_forms(void)
{
    static uint64_t values[MOST];
    static uint64_t back[MOST];
    const struct step_form *row;
    for (size_t r = 0; (row = step_form_row(r)) != NULL; r++) {
        CU_ASSERT_PTR_EQUAL(step_form_find(row->id), row);
        for (uint64_t parameter = 0; parameter <= 8; parameter++) {
            if ((row->valid != NULL && !row->valid(parameter)) ||
                (row->parameter_count == 0 && parameter > 0))
                continue;
            for (unsigned pattern = 0; pattern < PATTERNS; pattern++)
                for (size_t c = 0; c < COUNTS; c++) {
                    size_t count = counts[c];
                    fill_pattern(pattern, values, count);
                    if (!fits(row, parameter, values, count))
                        continue;
                    uint64_t bound = row->bound(parameter, count);
                    uint8_t *bytes = malloc((size_t) bound + 1);
                    size_t length = row->encode(parameter, values, count, bytes);
                    CU_ASSERT_FATAL(length <= bound);
                    uint8_t *copy = exact_copy(bytes, length);
                    CU_ASSERT(row->decode(parameter, copy, length, back, count));
                    if (memcmp(back, values, count * sizeof *back) != 0) {
                        fprintf(stderr, "%s(%u), pattern %u, %zu values\n", row->name,
                                (unsigned) parameter, pattern, count);
                        CU_FAIL("no round trip");
                    }
                    if (row->id != STEP_FORM_CONSTANT)
                        damage(row, parameter, copy, length, count);
                    free(copy);
                    free(bytes);
                }
        }
    }
}

/* Whatever is wished for and chosen comes back as it was, through the coding in the file. */
static void test_chosen_chains(void)
{
    static uint64_t values[MOST];
    static uint64_t keys[MOST];
    static uint64_t back[MOST];
    struct step_compressor *compressor;
    struct step_decompressor *decompressor;
    struct step_scratch scratch = {0};
    CU_ASSERT_EQUAL_FATAL(step_compressor_create(STEP_COMPRESSION_ZSTD, 0, &compressor),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(step_decompressor_create(&decompressor), STEP_STATUS_OK);
    for (unsigned hints = 0; hints < 128; hints++)
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
            struct step_coding_hints field_coding = {
                .is_signed = hints & 1,
                .usual = hints & 16,
            };
            if (hints & 2)
                step_hints_add(&field_coding, STEP_DELTA, UINT64_MAX);
            if (hints & 4)
                step_hints_add(&field_coding, STEP_STRIDE, 1);
            if (hints & 8)
                step_hints_add(&field_coding, STEP_GIVEN, 0);
            if (hints & 32)
                step_hints_add(&field_coding, STEP_OFFSET, 7);
            if (hints & 64)
                step_hints_add(&field_coding, STEP_CONTEXT, 2);
            size_t count = counts[(hints + pattern) % COUNTS];
            struct step_series series = {keys, 1, NULL};
            struct step_chain chain;
            struct step_coding coding;
            struct step_coding parsed;
            struct step_buffer section = {0};
            struct step_buffer entry = {0};
            fill_pattern(pattern, values, count);
            fill_pattern(4, keys, count);
            CU_ASSERT_EQUAL(step_choose(&field_coding, &series, 2, values, count, compressor,
                                        &scratch, NULL, &chain),
                            STEP_STATUS_OK);
            CU_ASSERT_EQUAL(
                step_column_write(&chain, count, compressor, &scratch, &section, &coding),
                STEP_STATUS_OK);
            CU_ASSERT(step_coding_append(&coding, &entry));
            struct step_cursor cursor = step_cursor_of(entry.data, entry.length);
            CU_ASSERT(step_coding_parse(&cursor, &parsed));
            CU_ASSERT_EQUAL(step_cursor_left(&cursor), 0);
            CU_ASSERT_EQUAL(step_column_read(&parsed, section.data, &series, back, count,
                                             decompressor, &scratch),
                            STEP_STATUS_OK);
            CU_ASSERT_EQUAL(memcmp(back, values, count * sizeof *back), 0);
            for (size_t cut = 0; cut < entry.length; cut++) {
                uint8_t *copy = exact_copy(entry.data, cut);
                cursor = step_cursor_of(copy, cut);
                CU_ASSERT_FALSE(step_coding_parse(&cursor, &parsed));
                free(copy);
            }
            step_buffer_reset(&section);
            step_buffer_reset(&entry);
        }
    step_scratch_reset(&scratch);
    step_compressor_destroy(compressor);
    step_decompressor_destroy(decompressor);
}

/* Numbers that this library does not know are told, and do not hinder what follows. */
static void test_unknown_numbers(void)
{
    static const uint8_t transform[] = {1, 99, 2, 5, 6, STEP_FORM_VARINT, 0, 1, 10, 4};
    static const uint8_t form[] = {0, 98, 1, 5, 1, 10, 4};
    static const uint8_t method[] = {0, STEP_FORM_VARINT, 0, 97, 10, 4};
    static const struct {
        const uint8_t *bytes;
        size_t length;
        uint64_t number;
    } cases[] = {
        {transform, sizeof transform, 99}, {form, sizeof form, 98}, {method, sizeof method, 97}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct step_coding coding;
        struct step_cursor cursor = step_cursor_of(cases[i].bytes, cases[i].length);
        CU_ASSERT(step_coding_parse(&cursor, &coding));
        CU_ASSERT_EQUAL(step_cursor_left(&cursor), 0);
        CU_ASSERT_PTR_NOT_NULL(coding.unknown);
        CU_ASSERT_EQUAL(coding.unknown_number, cases[i].number);
        CU_ASSERT_EQUAL(coding.stored_length, 4);
    }
}

void add_suite(void)
{
    state = suite_argument != NULL ? strtoull(suite_argument, NULL, 10) : 20261121;
    state += state == 0;
    printf("seed %llu\n", (unsigned long long) state);
    CU_pSuite suite = CU_add_suite("step codecs", NULL, NULL);
    CU_add_test(suite, "transforms", test_transforms);
    CU_add_test(suite, "forms", test_forms);
    CU_add_test(suite, "chosen chains", test_chosen_chains);
    CU_add_test(suite, "unknown numbers", test_unknown_numbers);
}
