/* SPDX-License-Identifier: Apache-2.0 */
/* libzstd's functions, called through pointers that are found at run time. */
#include <CUnit/Basic.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "capture/modules/late_zstd.h"
#include "tests/unit/run_suite.h"

enum { LENGTH = 100000 };

static uint8_t data[LENGTH], packed[2 * LENGTH], back[LENGTH];

static void test_round_trip(void)
{
    CU_ASSERT_TRUE(late_zstd_load(": nothing is recorded"));
    late_zstd_find(); /* again: nothing happens */
    for (size_t i = 0; i < LENGTH; i++)
        data[i] = (uint8_t) (i * i >> 9);
    ZSTD_CCtx *in = ZSTD_createCCtx();
    ZSTD_DCtx *out = ZSTD_createDCtx();
    CU_ASSERT_FATAL(in != NULL && out != NULL);
    size_t length = ZSTD_compressCCtx(in, packed, sizeof packed, data, LENGTH, 3);
    CU_ASSERT(!ZSTD_isError(length) && length < LENGTH);
    CU_ASSERT_EQUAL(ZSTD_decompressDCtx(out, back, sizeof back, packed, length), LENGTH);
    CU_ASSERT_EQUAL(memcmp(back, data, LENGTH), 0);
    /* with a checksum, which a changed byte no longer has */
    CU_ASSERT(0 == ZSTD_isError(ZSTD_CCtx_setParameter(in, ZSTD_c_checksumFlag, 1)));
    length = ZSTD_compress2(in, packed, sizeof packed, data, LENGTH);
    CU_ASSERT(0 == ZSTD_isError(length));
    CU_ASSERT_EQUAL(ZSTD_decompressDCtx(out, back, sizeof back, packed, length), LENGTH);
    packed[length - 1] ^= 1;
    CU_ASSERT(0 != ZSTD_isError(ZSTD_decompressDCtx(out, back, sizeof back, packed, length)));
    CU_ASSERT(0 != ZSTD_isError(ZSTD_compress2(in, packed, 3, data, LENGTH)));
    ZSTD_freeCCtx(in);
    ZSTD_freeDCtx(out);
    CU_ASSERT_EQUAL(ZSTD_freeCCtx(NULL), 0);
    CU_ASSERT_EQUAL(ZSTD_freeDCtx(NULL), 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("libzstd at run time", NULL, NULL);
    CU_add_test(suite, "round trip", test_round_trip);
}
