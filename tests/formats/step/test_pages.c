/* SPDX-License-Identifier: Apache-2.0 */
/* Pages give back the values that were put, however near these are to each other, and take a half
 * or a quarter of the memory once full. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "format/step/columns/value_pages.h"
#include "tests/unit/run_suite.h"

enum { VALUES = 30000 };

/* The value at a place, from the start and the reach of all of them. */
struct shape {
    uint64_t start;
    uint64_t below, above; /* how far values go from the start; every third one is there */
};

static uint64_t value_at(const struct shape *shape, size_t i)
{
    uint64_t mixed = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t wide = shape->below + shape->above + 1;
    if (i % 3 == 0)
        return shape->start;
    if (i % 3 == 1)
        return i % 2 == 0 ? shape->start - shape->below : shape->start + shape->above;
    return shape->start - shape->below + (wide == 0 ? mixed : mixed % wide);
}

static void put_all(struct step_pages *pages, struct step_page_share *share,
                    const struct shape *shape)
{
    for (size_t i = 0; i < VALUES;) {
        size_t room = 0, wanted = 1 + i % 700;
        wanted = wanted < VALUES - i ? wanted : VALUES - i;
        uint64_t *values = step_pages_room(pages, share, wanted, &room);
        CU_ASSERT_PTR_NOT_NULL_FATAL(values);
        CU_ASSERT_FATAL(room >= 1 && room <= wanted);
        for (size_t k = 0; k < room; k++)
            values[k] = value_at(shape, i++);
        step_pages_take(pages, room);
    }
}

/* How wide a full page must be: by the differences to its first value. */
static size_t width_of(const uint64_t *values, size_t count)
{
    int64_t least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t difference = (int64_t) (values[i] - values[0]);
        least = difference < least ? difference : least;
        most = difference > most ? difference : most;
    }
    return least >= INT16_MIN && most <= INT16_MAX   ? 2
           : least >= INT32_MIN && most <= INT32_MAX ? 4
                                                     : 8;
}

/* The values of one stream after the other, which take pages that the one before gave back. Returns
 * the widths that there were, as a bit set. */
static unsigned test_shape(struct step_page_pool *pool, const struct shape *shape)
{
    static uint64_t copy[VALUES];
    struct step_page_share share = {.pool = pool};
    struct step_pages pages = {0};
    put_all(&pages, &share, shape);
    step_pages_copy(&pages, copy);
    size_t wrong = 0, i = 0, bytes = 0, most = 0;
    unsigned widths = 0;
    for (const struct step_page *page = pages.first; page != NULL; page = page->next)
        most = page->capacity > most ? page->capacity : most;
    for (const struct step_page *page = pages.first; page != NULL; page = page->next) {
        bool is_narrow = page->capacity == most && page->next != NULL;
        CU_ASSERT_EQUAL(page->width, is_narrow ? width_of(copy + i, page->count) : 8);
        widths |= is_narrow ? page->width : 0;
        bytes += sizeof *page + page->capacity * page->width;
        for (size_t k = 0; k < page->count; k++, i++)
            wrong +=
                step_page_value(page, k) != value_at(shape, i) || copy[i] != value_at(shape, i);
    }
    CU_ASSERT_EQUAL(i, VALUES);
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(share.bytes, bytes);
    CU_ASSERT(share.bytes + share.saved >= VALUES * sizeof(uint64_t));
    step_pages_clear(&pages, &share);
    CU_ASSERT_EQUAL(share.bytes, 0);
    CU_ASSERT_EQUAL(share.saved, 0);
    return widths;
}

static void test_shapes(void)
{
    static const uint64_t half = UINT64_C(1) << 31, top = UINT64_MAX;
    const struct shape shapes[] = {
        {1000000, 0, 0},         {1000000, 32768, 32767}, {1000000, 16384, 16383},
        {1000000, 32769, 0},     {1000000, 0, 32768},     {5, 5, 100},
        {5, 32768, 0},           {top, 10, 32757},        {0, half, half - 1},
        {0, half / 2, half / 2}, {top / 3, half + 1, 0},  {top / 3, 0, half},
        {0, top / 2, top / 2},   {top - 7, 40000, 7},
    };
    struct step_page_pool pool = {0};
    unsigned widths = 0;
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            widths |= test_shape(&pool, &shapes[i]);
    CU_ASSERT_EQUAL(widths, 2 | 4 | 8);
    CU_ASSERT(pool.bytes > 0);
    step_page_pool_reset(&pool);
    CU_ASSERT_EQUAL(pool.bytes, 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("pages of values", NULL, NULL);
    CU_add_test(suite, "near, far and at the limits", test_shapes);
}
