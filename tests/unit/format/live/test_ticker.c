/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps to ticks: the quick way gives what a division gives, for each clock, next to each change
 * of a tick, and for stamps that go back. */
#include <CUnit/Basic.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/live/ticker.h"
#include "tests/unit/run_suite.h"

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static uint64_t ticks_by_division(const struct step_live_header *clock, uint64_t stamp)
{
    unsigned __int128 ns = (unsigned __int128) stamp * clock->clock_multiplier;
    return (uint64_t) (ns >> clock->clock_shift) / clock->resolution_ns;
}

/* The first stamp of the next tick, or one next to it. */
static uint64_t near_next_tick(const struct step_live_header *clock, uint64_t stamp, uint64_t aside)
{
    unsigned __int128 tick = (unsigned __int128) clock->resolution_ns << clock->clock_shift;
    unsigned __int128 end = (ticks_by_division(clock, stamp) + (unsigned __int128) 1) * tick;
    uint64_t first = (uint64_t) ((end + clock->clock_multiplier - 1) / clock->clock_multiplier);
    return first + aside - 1;
}

static uint64_t next_stamp(const struct step_live_header *clock, uint64_t stamp, uint64_t *seed)
{
    uint64_t chance = draw(seed) % 10, number = draw(seed);
    return chance < 4   ? near_next_tick(clock, stamp, number % 3)
           : chance < 7 ? stamp + number % 100
           : chance < 8 ? stamp + number % (UINT64_C(1) << 26)
           : chance < 9 ? stamp
                        : stamp - number % (stamp < 1000 ? stamp + 1 : 1000);
}

static void test_clock(const struct step_live_header *clock, uint64_t start, bool is_quick)
{
    enum { STAMPS = 20000 };
    struct stream_state state = {0};
    struct ticker ticker = ticker_begin(clock, ticker_rate(clock), &state);
    struct quick_ticker quick = quick_ticker_begin(&ticker);
    uint64_t seed = 88172645463325252u, stamp = start, latest = 0, wrong = 0, exact = 0;
    for (size_t i = 0; i < STAMPS; i++) {
        stamp = next_stamp(clock, stamp, &seed);
        uint64_t base = quick.base, right = ticks_by_division(clock, stamp);
        latest = right > latest ? right : latest;
        wrong += quick_ticker_at(&quick, &ticker, stamp) != latest;
        exact += quick.base != base;
    }
    quick_ticker_end(&quick, &ticker);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(ticker.state.last_ticks, latest);
    CU_ASSERT_EQUAL(ticker.state.last_ns, latest * clock->resolution_ns);
    /* only what is before the base, far from it, or next to a tick */
    CU_ASSERT_EQUAL(exact < STAMPS / 2, is_quick);
    if (wrong != 0)
        printf("multiplier %" PRIu64 ", shift %u, resolution %u ns: %" PRIu64 " wrong\n",
               (uint64_t) clock->clock_multiplier, (unsigned) clock->clock_shift,
               (unsigned) clock->resolution_ns, wrong);
}

static struct step_live_header clock_of(uint64_t multiplier, unsigned shift, unsigned resolution)
{
    struct step_live_header clock = {.resolution_ns = resolution};
    clock.clock_multiplier = multiplier;
    clock.clock_shift = shift;
    return clock;
}

static void test_clocks(void)
{
    static const unsigned resolutions[] = {1, 7, 1000, 1000000};
    for (size_t i = 0; i < sizeof resolutions / sizeof resolutions[0]; i++) {
        unsigned resolution = resolutions[i];
        struct step_live_header fast = clock_of((UINT64_C(1) << 32) / 3 + 1, 32, resolution);
        struct step_live_header ns = clock_of(1, 0, resolution);
        struct step_live_header slow = clock_of((UINT64_C(1) << 24) * 5 / 2, 24, resolution);
        test_clock(&fast, 1, true);
        test_clock(&fast, UINT64_C(1) << 56, true);
        test_clock(&ns, UINT64_C(1) << 50, resolution > 1);
        test_clock(&slow, UINT64_C(12345678901234), resolution > 2);
    }
}

/* A tick of 2 ^ 64 units or more, as no clock has it but a damaged header may. */
static void test_long_tick(void)
{
    struct step_live_header clock = clock_of((UINT64_C(1) << 31) + 12345, 63, 4000000000u);
    CU_ASSERT_EQUAL(ticker_rate(&clock), 0);
    struct stream_state state = {0};
    struct ticker ticker = ticker_begin(&clock, 0, &state);
    struct quick_ticker quick = quick_ticker_begin(&ticker);
    CU_ASSERT_EQUAL(quick_ticker_at(&quick, &ticker, 5), 0);
    uint64_t late = UINT64_C(1) << 58;
    CU_ASSERT_EQUAL(quick_ticker_at(&quick, &ticker, late), ticks_by_division(&clock, late));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("ticker", NULL, NULL);
    CU_add_test(suite, "clocks", test_clocks);
    CU_add_test(suite, "a long tick", test_long_tick);
}
