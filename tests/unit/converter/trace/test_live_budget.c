/* SPDX-License-Identifier: Apache-2.0 */
/* How many allocations may live in a file of so many bytes: 16 Mi, and 256 for each byte. */
#include <CUnit/Basic.h>

#include "converter/trace/alloc_source.h"
#include "tests/unit/run_suite.h"

#define MOST ((UINT64_C(16) << 20) + 256u * 3u)

/* Allocations without end; of each `frees_after` records the last one is a free. */
struct endless {
    struct alloc_source base;
    uint64_t frees_after, at;
};

static enum step_status endless_next(struct alloc_source *base, struct hatf_record *record,
                                     struct step_error *error)
{
    struct endless *source = (struct endless *) base;
    bool frees = source->frees_after != 0 && ++source->at % source->frees_after == 0;
    (void) error;
    base->offset = 7;
    *record = (struct hatf_record){.tag = frees ? HATF_FREE : HATF_ALLOC, .size = 1};
    return STEP_STATUS_OK;
}

static const struct alloc_source_operations endless_operations = {.next = endless_next};

/* Returns how many records come, at most `most`. */
static uint64_t count_records(struct endless *source, uint64_t most)
{
    struct hatf_record record;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    uint64_t count = 0;
    while (count < most && alloc_source_next(&source->base, &record, &error) == STEP_STATUS_OK)
        count++;
    return count;
}

static void test_bomb(void)
{
    struct endless bomb = {.base = {.operations = &endless_operations, .path = "bomb"}};
    bomb.base.about.file_bytes = 3;
    CU_ASSERT_EQUAL(count_records(&bomb, 2 * MOST), MOST);
    CU_ASSERT_EQUAL_FATAL(trace_damage_count(&bomb.base.about), 1);
    CU_ASSERT_EQUAL(trace_damage(&bomb.base.about, 0)->offset, 7);
    CU_ASSERT_EQUAL(count_records(&bomb, 1), 0);
}

/* What is freed does not count, and nothing is known of the size of standard input. */
static void test_others(void)
{
    struct endless pairs = {.base = {.operations = &endless_operations, .path = "pairs"},
                            .frees_after = 2};
    struct endless input = {.base = {.operations = &endless_operations, .path = "input"}};
    pairs.base.about.file_bytes = 3;
    CU_ASSERT_EQUAL(count_records(&pairs, 2 * MOST + 9), 2 * MOST + 9);
    CU_ASSERT_EQUAL(count_records(&input, MOST + 9), MOST + 9);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("live_budget", NULL, NULL);
    CU_add_test(suite, "a bomb", test_bomb);
    CU_add_test(suite, "what is freed, and standard input", test_others);
}
