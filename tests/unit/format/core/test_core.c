/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, cursors, varints, little-endian numbers, compression, arenas. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/arena.h"
#include "format/core/bytes.h"
#include "format/core/checksum.h"
#include "format/core/compress.h"
#include "steptrace/status.h"
#include "tests/unit/run_suite.h"

static void test_varints(void)
{
    static const uint64_t values[] = {
        0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    struct step_buffer buffer = {0};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        CU_ASSERT(step_buffer_append_varint(&buffer, values[i]));
    struct step_cursor cursor = step_cursor_of(buffer.data, buffer.length);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint64_t value = 0;
        CU_ASSERT(step_cursor_varint(&cursor, &value));
        CU_ASSERT_EQUAL(value, values[i]);
    }
    CU_ASSERT_EQUAL(step_cursor_left(&cursor), 0);
    uint64_t value;
    CU_ASSERT_FALSE(step_cursor_varint(&cursor, &value));
    step_buffer_reset(&buffer);
}

static void test_bad_varints(void)
{
    static const uint8_t too_long[11] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
    static const uint8_t too_large[10] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 2};
    static const uint8_t cut[2] = {0x80, 0x80};
    uint64_t value;
    struct step_cursor cursor = step_cursor_of(too_long, sizeof too_long);
    CU_ASSERT_FALSE(step_cursor_varint(&cursor, &value));
    CU_ASSERT_PTR_EQUAL(cursor.at, too_long);
    cursor = step_cursor_of(too_large, sizeof too_large);
    CU_ASSERT_FALSE(step_cursor_varint(&cursor, &value));
    cursor = step_cursor_of(cut, sizeof cut);
    CU_ASSERT_FALSE(step_cursor_varint(&cursor, &value));
    const uint8_t *bytes;
    CU_ASSERT_FALSE(step_cursor_bytes(&cursor, 3, &bytes));
    CU_ASSERT_FALSE(step_cursor_bytes(&cursor, UINT64_MAX, &bytes));
    CU_ASSERT(step_cursor_bytes(&cursor, 2, &bytes));
}

static void test_numbers(void)
{
    uint8_t bytes[8];
    step_store_u64(bytes, UINT64_C(0x8877665544332211));
    CU_ASSERT_EQUAL(bytes[0], 0x11);
    CU_ASSERT_EQUAL(bytes[7], 0x88);
    CU_ASSERT_EQUAL(step_load_u64(bytes), UINT64_C(0x8877665544332211));
    CU_ASSERT_EQUAL(step_load_u32(bytes), 0x44332211);
    CU_ASSERT_EQUAL(step_load_u16(bytes), 0x2211);
}

/* A known value: the file format depends on it. */
static void test_checksum(void)
{
    CU_ASSERT_EQUAL(step_checksum("", 0), UINT64_C(0x2d06800538d394c2));
}

static void test_compression(void)
{
    enum { LENGTH = 5000 };
    uint8_t *data = malloc(LENGTH);
    uint8_t *back = malloc(LENGTH);
    struct step_decompressor *decompressor;
    CU_ASSERT_EQUAL_FATAL(step_decompressor_create(&decompressor), STEP_STATUS_OK);
    for (int kind = STEP_COMPRESSION_NONE; kind <= STEP_COMPRESSION_ZLIB; kind++)
        for (size_t length = 0; length <= LENGTH; length = length * 3 + 1) {
            struct step_compressor *compressor;
            struct step_buffer out = {0};
            enum step_compression method;
            CU_ASSERT_EQUAL_FATAL(
                step_compressor_create((enum step_compression) kind, 0, &compressor),
                STEP_STATUS_OK);
            for (size_t i = 0; i < length; i++)
                data[i] = (uint8_t) (i % 7);
            for (int pass = 0; pass < 2; pass++) {
                out.length = 0;
                CU_ASSERT_EQUAL(step_compress(compressor, false, data, length, &out, &method),
                                STEP_STATUS_OK);
                CU_ASSERT(out.length <= length);
                CU_ASSERT_EQUAL(
                    step_decompress(decompressor, method, out.data, out.length, back, length),
                    STEP_STATUS_OK);
                CU_ASSERT_EQUAL(memcmp(data, back, length), 0);
                if (out.length > 0) {
                    CU_ASSERT_NOT_EQUAL(step_decompress(decompressor, method, out.data,
                                                        out.length - 1, back, length),
                                        STEP_STATUS_OK);
                    CU_ASSERT_NOT_EQUAL(step_decompress(decompressor, method, out.data, out.length,
                                                        back, length - 1),
                                        STEP_STATUS_OK);
                }
            }
            step_buffer_reset(&out);
            step_compressor_destroy(compressor);
        }
    CU_ASSERT_EQUAL(step_decompress(decompressor, 77, data, 1, back, 1), STEP_STATUS_UNSUPPORTED);
    step_decompressor_destroy(decompressor);
    free(data);
    free(back);
}

static void test_errors(void)
{
    struct step_error error;
    char text[900];
    CU_ASSERT_EQUAL(step_error_set(&error, STEP_STATUS_CUT, "a.step", 7, "too %s", "short"),
                    STEP_STATUS_CUT);
    step_error_prefix(&error, "reading");
    step_error_print(&error, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a.step: offset 7: reading: too short");
    CU_ASSERT_STRING_EQUAL(step_status_name(STEP_STATUS_CUT), "CUT");
}

static void test_arenas(void)
{
    struct step_arena arena = {0};
    CU_ASSERT_PTR_NULL(step_arena_take(&arena, 1, 1)); /* no limit was set */
    CU_ASSERT_TRUE(arena.limited);
    step_arena_clear(&arena, 100000);
    CU_ASSERT_FALSE(arena.limited);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 90; i++) {
            unsigned char *bytes = step_arena_take(&arena, 10, 100);
            CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
            CU_ASSERT_EQUAL((uintptr_t) bytes % 16, 0);
            memset(bytes, 0xff, 1000);
        }
        CU_ASSERT_PTR_NOT_NULL(step_arena_take(&arena, 0, 8));
        step_arena_clear(&arena, 100000);
    }
    CU_ASSERT_PTR_NULL(step_arena_take(&arena, UINT64_MAX / 4, 8));
    CU_ASSERT_PTR_NULL(step_arena_take(&arena, 1, 100001));
    CU_ASSERT_TRUE(arena.limited);
    static const unsigned char zeros[500];
    const unsigned char *zeroed = step_arena_zeroed(&arena, sizeof zeros);
    CU_ASSERT_EQUAL(memcmp(zeroed, zeros, sizeof zeros), 0);
    CU_ASSERT_STRING_EQUAL(step_arena_text(&arena, "a text, cut", 6), "a text");
    CU_ASSERT_STRING_EQUAL(step_arena_text(&arena, NULL, 0), "");
    CU_ASSERT_EQUAL(arena.taken, 508);
    step_arena_reset(&arena);
    CU_ASSERT_PTR_NULL(arena.chunks);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("step core", NULL, NULL);
    CU_add_test(suite, "varints", test_varints);
    CU_add_test(suite, "bad varints", test_bad_varints);
    CU_add_test(suite, "numbers", test_numbers);
    CU_add_test(suite, "checksum", test_checksum);
    CU_add_test(suite, "compression", test_compression);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "arenas", test_arenas);
}
