/* SPDX-License-Identifier: Apache-2.0 */
/* The generator of identity hashes: its step, and the search for its words in memory. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "agent/hotspot/hash_words.h"
#include "tests/unit/run_suite.h"

#define WORDS 200u

static uint32_t before[WORDS], after[WORDS];
static uint32_t hashes[HASH_WORDS];

/* Puts a generator whose oldest word is `first` at `at`, and lets it draw four hashes. */
static void draw(size_t at, size_t first, uint32_t seed)
{
    struct hash_words words = {{seed, 842502087u, 0x8767u, 273326509u}};
    for (size_t i = 0; i < HASH_WORDS; i++)
        before[at + (first + i) % HASH_WORDS] = words.word[i];
    for (size_t i = 0; i < HASH_WORDS; i++)
        hashes[i] = hash_words_step(&words) & HASH_MASK;
    for (size_t i = 0; i < HASH_WORDS; i++)
        after[at + (first + i) % HASH_WORDS] = words.word[i];
}

static void fill(void)
{
    srand(7);
    for (size_t i = 0; i < WORDS; i++)
        before[i] = after[i] = (uint32_t) rand() * 3u;
}

/* The first hashes of a JVM's first thread: 1234567 * 16807 % (2^31 - 1) is its seed. */
static void test_step(void)
{
    static const uint32_t known[] = {0x55054057u, 0x5bc2b487u, 0x5ffd2b27u, 0x1affbebcu,
                                     0x6587524cu, 0x2b2fa4f7u, 0x1dbd16a6u, 0x7ad041f3u};
    struct hash_words words = {{1422014746u, 842502087u, 0x8767u, 273326509u}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CU_ASSERT_EQUAL(hash_words_step(&words) & HASH_MASK, known[i]);
}

static void test_found(void)
{
    for (size_t first = 0; first < 2; first++)
        for (size_t at = 0; at + HASH_WORDS <= WORDS; at += 7) {
            size_t found = WORDS;
            fill();
            draw(at, first, 12345u + (uint32_t) at);
            CU_ASSERT_EQUAL(hash_words_search(before, after, WORDS, hashes, &found), 1);
            CU_ASSERT_EQUAL(found, at);
        }
}

static void test_not_found(void)
{
    size_t found = 0;
    fill();
    draw(50, 1, 99u);
    CU_ASSERT_EQUAL(hash_words_search(before, after, 0, hashes, &found), 0);
    CU_ASSERT_EQUAL(hash_words_search(before, after, 53, hashes, &found), 0);
    CU_ASSERT_EQUAL(hash_words_search(before, after, 54, hashes, &found), 1);
    /* one bit that no hash shows, before and after */
    after[51] ^= UINT32_C(1) << 31;
    CU_ASSERT_EQUAL(hash_words_search(before, after, WORDS, hashes, &found), 0);
    after[51] ^= UINT32_C(1) << 31;
    before[50] ^= 1u;
    CU_ASSERT_EQUAL(hash_words_search(before, after, WORDS, hashes, &found), 0);
    before[50] ^= 1u;
    /* hashes in another order, as other modes have them */
    hashes[0]++;
    CU_ASSERT_EQUAL(hash_words_search(before, after, WORDS, hashes, &found), 0);
}

static void test_twice(void)
{
    size_t found = WORDS;
    fill();
    draw(20, 0, 5u);
    draw(120, 1, 5u);
    CU_ASSERT_EQUAL(hash_words_search(before, after, WORDS, hashes, &found), 2);
    CU_ASSERT_EQUAL(found, 20);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("hash_words", NULL, NULL);
    CU_ADD_TEST(suite, test_step);
    CU_ADD_TEST(suite, test_found);
    CU_ADD_TEST(suite, test_not_found);
    CU_ADD_TEST(suite, test_twice);
}
