/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of arrays that have a sum, against all subsets. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "agent/events/last_arrays.h"
#include "tests/unit/run_suite.h"

/* By all subsets. */
static bool choose_slowly(const uint64_t *sizes, unsigned count, uint64_t bytes, uint64_t *number)
{
    uint64_t numbers = 0; /* as bits */
    for (unsigned subset = 0; subset < 1u << count; subset++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < count; i++)
            sum += (subset >> i & 1) != 0 ? sizes[i] : 0;
        if (sum == bytes)
            numbers |= UINT64_C(1) << __builtin_popcount(subset);
    }
    *number = numbers != 0 ? (uint64_t) __builtin_ctzll(numbers) : 0;
    return numbers != 0 && (numbers & (numbers - 1)) == 0;
}

static void test_all_subsets(void)
{
    unsigned known = 0, unknown = 0;
    srand(17);
    for (int round = 0; round < 400; round++) {
        struct last_arrays arrays = {.count = 0};
        uint64_t sizes[10], total = 0;
        unsigned count = (unsigned) rand() % 10 + 1;
        for (unsigned i = 0; i < count; i++) {
            sizes[i] = 16 + 8 * ((uint64_t) rand() % (round % 2 == 0 ? 12 : 4000));
            total += sizes[i];
            last_arrays_add(&arrays, sizes[i]);
        }
        for (int ask = 0; ask < 8; ask++) {
            uint64_t bytes = 0, number = 0, right = 0;
            for (unsigned i = 0; i < count; i++)
                bytes += rand() % 3 == 0 ? sizes[i] : 0;
            bytes += ask == 0 ? 8 : 0; /* mostly no sum */
            bool is_known = choose_slowly(sizes, count, bytes, &right);
            CU_ASSERT_EQUAL(last_arrays_choose(&arrays, bytes, &number), is_known);
            CU_ASSERT_TRUE(!is_known || number == right);
            known += is_known;
            unknown += !is_known;
        }
        CU_ASSERT_EQUAL(arrays.bytes, total);
    }
    CU_ASSERT_TRUE(known > 500);
    CU_ASSERT_TRUE(unknown > 200);
}

static void test_limits(void)
{
    static struct last_arrays arrays;
    uint64_t number = 0;
    CU_ASSERT_TRUE(last_arrays_choose(&arrays, 0, &number));
    CU_ASSERT_EQUAL(number, 0);
    CU_ASSERT_FALSE(last_arrays_choose(&arrays, 8, &number));
    for (unsigned i = 0; i < LAST_ARRAYS_MOST; i++)
        last_arrays_add(&arrays, 4096);
    CU_ASSERT_TRUE(last_arrays_choose(&arrays, arrays.bytes, &number));
    CU_ASSERT_EQUAL(number, LAST_ARRAYS_MOST);
    CU_ASSERT_TRUE(last_arrays_choose(&arrays, arrays.bytes - 3 * 4096, &number));
    CU_ASSERT_EQUAL(number, LAST_ARRAYS_MOST - 3);
    CU_ASSERT_FALSE(last_arrays_choose(&arrays, arrays.bytes - 4, &number));
    CU_ASSERT_FALSE(last_arrays_choose(&arrays, arrays.bytes / 2, &number)); /* too long */
    last_arrays_add(&arrays, 4096);
    CU_ASSERT_FALSE(last_arrays_choose(&arrays, 0, &number)); /* too many */
    struct last_arrays huge = {.count = 0};
    last_arrays_add(&huge, UINT64_C(1) << 40);
    last_arrays_add(&huge, 16);
    CU_ASSERT_TRUE(last_arrays_choose(&huge, UINT64_C(1) << 40, &number));
    CU_ASSERT_EQUAL(number, 1);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("last arrays", NULL, NULL);
    CU_add_test(suite, "all subsets", test_all_subsets);
    CU_add_test(suite, "limits", test_limits);
}
