/* SPDX-License-Identifier: Apache-2.0 */
/* Births by runs against a plain array: each object is taken once, with what was put last. */
#include <CUnit/Basic.h>

#include "converter/containers/birth_pages.h"
#include "tests/unit/run_suite.h"

enum { OBJECTS = 5000, ROUNDS = 40000 };

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void test_bits(void)
{
    const uint64_t row[] = {30, 31, 32, 33, 35};
    CU_ASSERT_EQUAL(birth_bits(0, 32), UINT32_MAX);
    CU_ASSERT_EQUAL(birth_bits(31, 1), UINT32_C(1) << 31);
    CU_ASSERT_EQUAL(birth_bits(4, 3), 0x70);
    CU_ASSERT_EQUAL(birth_run(row, 5), 2);
    CU_ASSERT_EQUAL(birth_run(row + 2, 3), 2);
    CU_ASSERT_EQUAL(birth_run(row + 2, 1), 1);
}

/* A run that ends with its page. */
static unsigned run_from(uint64_t object, uint64_t *seed)
{
    unsigned room = (unsigned) BIRTH_PAGE_SIZE - birth_place(object);
    return 1 + (unsigned) (next_random(seed) % room);
}

static size_t put(struct birth_pages *pages, uint64_t *born, uint64_t object, unsigned count,
                  uint64_t value)
{
    size_t more = 0;
    struct birth_page *page = birth_pages_put(pages, object, count);
    CU_ASSERT_PTR_NOT_NULL_FATAL(page);
    for (unsigned i = 0; i < count; i++) {
        page->born_ns[birth_place(object) + i] = value + i;
        more += born[object + i] == 0;
        born[object + i] = value + i;
    }
    return more;
}

static size_t take(struct birth_pages *pages, uint64_t *born, uint64_t object, unsigned count)
{
    uint32_t bits, known = 0;
    size_t faults = 0, taken = 0;
    const struct birth_page *page = birth_pages_take(pages, object, count, &bits);
    for (unsigned i = 0; i < count; i++) {
        unsigned place = birth_place(object) + i;
        if (born[object + i] == 0)
            continue;
        known |= UINT32_C(1) << place;
        faults += page == NULL || page->born_ns[place] != born[object + i];
        born[object + i] = 0;
        taken++;
    }
    CU_ASSERT_EQUAL(bits, known);
    CU_ASSERT_EQUAL(faults, 0);
    return taken;
}

static void test_against_array(void)
{
    static uint64_t born[OBJECTS + BIRTH_PAGE_SIZE];
    struct birth_pages pages = {.columns = BIRTH_TIME | BIRTH_SITE};
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
    size_t living = 0, found = 0, slot = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t object = next_random(&seed) % OBJECTS;
        unsigned count = run_from(object, &seed);
        if (next_random(&seed) % 5 < 2)
            living += put(&pages, born, object, count, round * 100);
        else
            living -= take(&pages, born, object, count);
        birth_pages_expect(&pages, object);
    }
    for (const struct birth_page *page; (page = birth_pages_next(&pages, &slot)) != NULL;)
        found += (size_t) __builtin_popcount(page->living);
    CU_ASSERT_EQUAL(found, living);
    CU_ASSERT_TRUE(living > 0);
    birth_pages_reset(&pages);
}

/* Pages have the columns that are wanted, which do not overlap, and others have not. */
static void test_columns(void)
{
    for (unsigned columns = 0; columns <= BIRTH_ALL; columns++) {
        struct birth_pages pages = {.columns = columns};
        struct birth_page *lent[20];
        for (unsigned i = 0; i < 20; i++) {
            lent[i] = i % 2 == 0 ? birth_pages_lend(&pages) : birth_pages_put(&pages, i * 32, 5);
            CU_ASSERT_PTR_NOT_NULL_FATAL(lent[i]);
            for (unsigned k = 0; k < BIRTH_PAGE_SIZE; k++) {
                if (lent[i]->born_ns != NULL)
                    lent[i]->born_ns[k] = i * 1000 + k;
                if (lent[i]->size != NULL)
                    lent[i]->size[k] = i * 2000 + k;
                if (lent[i]->thread != NULL)
                    lent[i]->thread[k] = i * 3000 + k;
                if (lent[i]->site != NULL)
                    lent[i]->site[k] = i * 4000 + k;
                if (lent[i]->class_id != NULL)
                    lent[i]->class_id[k] = i * 5000 + k;
            }
        }
        unsigned faults = 0;
        for (unsigned i = 0; i < 20; i++) {
            const struct birth_page *page = lent[i];
            faults += (page->born_ns != NULL) != ((columns & BIRTH_TIME) != 0);
            faults += (page->size != NULL) != ((columns & BIRTH_SIZE) != 0);
            faults += (page->thread != NULL) != ((columns & BIRTH_THREAD) != 0);
            faults += (page->site != NULL) != ((columns & BIRTH_SITE) != 0);
            faults += (page->class_id != NULL) != ((columns & BIRTH_CLASS) != 0);
            faults += i % 2 == 1 && (page->number != i || page->living != 0x1f);
            for (unsigned k = 0; k < BIRTH_PAGE_SIZE; k++) {
                faults += page->born_ns != NULL && page->born_ns[k] != i * 1000 + k;
                faults += page->size != NULL && page->size[k] != i * 2000 + k;
                faults += page->thread != NULL && page->thread[k] != i * 3000 + k;
                faults += page->site != NULL && page->site[k] != i * 4000 + k;
                faults += page->class_id != NULL && page->class_id[k] != i * 5000 + k;
            }
        }
        CU_ASSERT_EQUAL(faults, 0);
        birth_pages_reset(&pages);
    }
}

static void test_empty(void)
{
    struct birth_pages pages = {0};
    uint32_t bits = 1;
    size_t slot = 0;
    birth_pages_expect(&pages, 7);
    CU_ASSERT_PTR_NULL(birth_pages_take(&pages, UINT64_MAX, 1, &bits));
    CU_ASSERT_EQUAL(bits, 0);
    CU_ASSERT_PTR_NULL(birth_pages_next(&pages, &slot));
    birth_pages_reset(&pages);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("pages of births", NULL, NULL);
    CU_add_test(suite, "bits and runs", test_bits);
    CU_add_test(suite, "random runs", test_against_array);
    CU_add_test(suite, "columns", test_columns);
    CU_add_test(suite, "empty", test_empty);
}
