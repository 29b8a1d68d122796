/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of two runs, those first that changed most; those that did not change are none. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/statistics/change_ranking.h"
#include "tests/unit/run_suite.h"

static struct measures measures;

static uint32_t put_row(const char *name, uint64_t before, uint64_t after)
{
    uint32_t row = measures_row(&measures, AXIS_CLASS, 0,
                                (struct step_bytes){(const uint8_t *) name, strlen(name)});
    CU_ASSERT_NOT_EQUAL_FATAL(row, 0);
    measures_sums(&measures, AXIS_CLASS, row, 0)[SUM_ALLOCATED_BYTES] = before;
    measures_sums(&measures, AXIS_CLASS, row, 1)[SUM_ALLOCATED_BYTES] = after;
    return row;
}

static void begin(void)
{
    CU_ASSERT_TRUE_FATAL(measures_init(&measures, 2));
    measures.run_count = 2;
    for (int i = 0; i < 2; i++)
        measures.runs[i] = (struct measure_run){.path = "t",
                                                .side = i == 0 ? SIDE_BEFORE : SIDE_AFTER,
                                                .has_sizes = true,
                                                .kinds = UINT32_MAX};
}

static void test_order(void)
{
    struct change_ranking ranking;
    const struct metric *metric = metric_by_name("allocated", 9);
    CU_ASSERT_PTR_NOT_NULL_FATAL(metric);
    begin();
    uint32_t grown = put_row("grown", 100, 150), same = put_row("same", 70, 70);
    uint32_t gone = put_row("gone", 1000, 0), little = put_row("little", 5, 4);
    CU_ASSERT_TRUE_FATAL(rank_changes(&measures, AXIS_CLASS, metric, false, 0, &ranking));
    CU_ASSERT(ranking.count == 3 && ranking.shown == 3);
    CU_ASSERT(ranking.rows[0].row == gone && measured_pair_change(&ranking.rows[0].pair) == -1000);
    CU_ASSERT(ranking.rows[1].row == grown && measured_pair_change(&ranking.rows[1].pair) == 50);
    CU_ASSERT(ranking.rows[2].row == little && ranking.rows[2].row != same);
    free(ranking.rows);
    CU_ASSERT_TRUE_FATAL(rank_changes(&measures, AXIS_CLASS, metric, false, 2, &ranking));
    CU_ASSERT(ranking.count == 3 && ranking.shown == 2);
    free(ranking.rows);
    measures_reset(&measures);
}

/* Rows of equal change: by what else has changed, then by their number. */
static void test_ties(void)
{
    struct change_ranking ranking;
    const struct metric *metric = metric_by_name("allocated", 9);
    begin();
    uint32_t first = put_row("first", 10, 20), second = put_row("second", 30, 20);
    uint32_t more = put_row("more", 0, 10);
    measures_sums(&measures, AXIS_CLASS, more, 1)[SUM_END_BYTES] = 4096;
    CU_ASSERT_TRUE_FATAL(rank_changes(&measures, AXIS_CLASS, metric, false, 0, &ranking));
    CU_ASSERT_EQUAL_FATAL(ranking.count, 3);
    CU_ASSERT(ranking.rows[0].row == more && ranking.rows[1].row == first &&
              ranking.rows[2].row == second);
    free(ranking.rows);
    CU_ASSERT_TRUE_FATAL(rank_changes(&measures, AXIS_THREAD, metric, false, 0, &ranking));
    CU_ASSERT_EQUAL(ranking.count, 0); /* no thread has a row */
    free(ranking.rows);
    measures_reset(&measures);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("changes", NULL, NULL);
    CU_add_test(suite, "order", test_order);
    CU_add_test(suite, "ties", test_ties);
}
