/* SPDX-License-Identifier: Apache-2.0 */
/* Records of threads that come one farther than another, against what is true at the end. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "converter/trace/arrival_order.h"
#include "tests/unit/run_suite.h"

enum { RECORDS = 20000, THREADS = 4, ADDRESSES = 40, TOLD_APART = 200 };

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* What happened, in order; and the order in which it comes. */
struct history {
    struct hatf_record records[RECORDS];
    size_t order[RECORDS];
    size_t count;
    uint64_t sizes[ADDRESSES]; /* what lives in the end; 0: nothing */
    uint64_t allocated;
};

struct fake {
    struct alloc_source base;
    const struct history *history;
    size_t at, end;
    const bool *is_known; /* frees that do not come; NULL: none */
};

static enum step_status fake_next(struct alloc_source *base, struct hatf_record *record,
                                  struct step_error *error)
{
    struct fake *fake = (struct fake *) base;
    (void) error;
    while (fake->at < fake->end) {
        size_t place = fake->history->order[fake->at++];
        *record = fake->history->records[place];
        if (fake->is_known == NULL || !fake->is_known[place])
            return STEP_STATUS_OK;
    }
    return STEP_STATUS_END;
}

static void fake_destroy(struct alloc_source *base)
{
    (void) base;
}

static const struct alloc_source_operations fake_operations = {.next = fake_next,
                                                               .destroy = fake_destroy};

static void happen(struct history *history, uint64_t *seed)
{
    for (size_t i = 0; i < RECORDS; i++) {
        size_t place = next_random(seed) % ADDRESSES;
        uint64_t size = 1 + next_random(seed) % 1000;
        bool lives = history->sizes[place] != 0;
        bool is_resized = lives && next_random(seed) % 4 == 0;
        struct hatf_record record = {.tag = is_resized ? HATF_REALLOC_NO_ALLOC
                                            : lives    ? HATF_FREE
                                                       : HATF_ALLOC,
                                     .time = i + 1,
                                     .thread = next_random(seed) % THREADS,
                                     .address = 4096 + 16 * place,
                                     .new_address = is_resized ? 4096 + 16 * place : 0,
                                     .size = lives && !is_resized ? 0 : size};
        history->sizes[place] = record.size;
        history->allocated += record.size;
        history->records[history->count++] = record;
    }
}

/* Each thread's records stay in order; some threads come much later. */
static void shuffle(struct history *history, uint64_t *seed)
{
    size_t at[THREADS] = {0}, filled = 0;
    while (filled < history->count) {
        size_t thread = next_random(seed) % THREADS, most = next_random(seed) % 3000;
        for (size_t *i = &at[thread]; *i < history->count && most > 0; ++*i) {
            if (history->records[*i].thread != thread)
                continue;
            history->order[filled++] = *i;
            most--;
        }
    }
}

struct figures {
    uint64_t allocated, freed, faults;
};

/* Each object is born, and dies once after that at the most. */
static void read_on(struct alloc_source *source, uint64_t *sizes, struct figures *figures)
{
    struct hatf_record record;
    while (alloc_source_next(source, &record, NULL) == STEP_STATUS_OK) {
        uint64_t *size = &sizes[record.address];
        figures->faults += (record.tag == HATF_FREE) != (*size != 0);
        if (record.tag == HATF_FREE)
            figures->freed += *size;
        else
            figures->allocated += record.size;
        *size = record.tag == HATF_FREE ? 0 : record.size;
    }
}

static void check(const struct history *history, const struct figures *figures)
{
    uint64_t live = 0;
    for (size_t i = 0; i < ADDRESSES; i++)
        live += history->sizes[i];
    CU_ASSERT_EQUAL(figures->faults, 0);
    CU_ASSERT_EQUAL(figures->allocated, history->allocated);
    CU_ASSERT_EQUAL(figures->allocated - figures->freed, live);
}

/* Every so often frees that are still to come are told of, a thread's next ones. */
static void tell(const struct history *history, struct fake *fake, struct alloc_source *source,
                 bool *is_known)
{
    for (size_t thread = 0; thread < THREADS; thread++) {
        size_t most = TOLD_APART;
        for (size_t i = fake->end; i < history->count && most > 0; i++) {
            const struct hatf_record *record = &history->records[history->order[i]];
            if (record->thread != thread || is_known[history->order[i]])
                continue;
            most--;
            is_known[history->order[i]] = record->tag == HATF_FREE;
            if (record->tag == HATF_FREE)
                CU_ASSERT_TRUE(arrival_order_free(source, record));
        }
    }
}

static void try_history(uint64_t seed, bool tells)
{
    struct history *history = calloc(1, sizeof *history);
    uint64_t *sizes = calloc(2 * RECORDS, sizeof *sizes);
    bool *is_known = calloc(RECORDS, sizeof *is_known);
    struct figures figures = {0, 0, 0};
    struct alloc_source *source;
    CU_ASSERT_FATAL(history != NULL && sizes != NULL && is_known != NULL);
    happen(history, &seed);
    shuffle(history, &seed);
    struct fake fake = {.base = {.operations = &fake_operations},
                        .history = history,
                        .is_known = tells ? is_known : NULL};
    CU_ASSERT_EQUAL_FATAL(arrival_order_create(&fake.base, &source, NULL), STEP_STATUS_OK);
    while (fake.end < history->count) {
        fake.end += next_random(&seed) % 1500;
        fake.end = fake.end < history->count ? fake.end : history->count;
        read_on(source, sizes, &figures);
        if (tells)
            tell(history, &fake, source, is_known);
        read_on(source, sizes, &figures);
    }
    check(history, &figures);
    alloc_source_destroy(source);
    free(is_known);
    free(sizes);
    free(history);
}

static void test_orders(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        try_history(seed * UINT64_C(0x9e3779b97f4a7c15), false);
}

static void test_told_apart(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        try_history(seed * UINT64_C(0x9e3779b97f4a7c15), true);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("order of arrival", NULL, NULL);
    CU_add_test(suite, "threads far apart", test_orders);
    CU_add_test(suite, "frees that are told of apart", test_told_apart);
}
