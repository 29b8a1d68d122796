/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of weak references keep each object's id, key and reference, whichever of them die. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "agent/deaths/weak_table.h"
#include "tests/unit/run_suite.h"

#define OBJECTS 5000u
#define ROUNDS 40u
#define LAST_ID (WEAK_ID_MASK - 2 * OBJECTS)
#define LAST_KEY ((UINT64_C(1) << 23) - 1)

static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

struct object {
    uint64_t id; /* and the key above it */
    jweak reference;
};

/* One of so many ids does not follow, one of so many objects has a key, one of so many dies in each
 * round; 0: none. */
struct mix {
    unsigned jumps, keys, deaths;
};

static bool happens(uint64_t *state, unsigned one_in)
{
    return one_in != 0 && draw(state) % one_in == 0;
}

/* What a pass does. */
struct killing {
    unsigned one_in;
    uint64_t *state;
    size_t dead;
};

static void kill_some(void *context, struct weak_page *page)
{
    struct killing *killing = context;
    uint64_t id, next = 0;
    for (uint32_t i = 0; i < atomic_load(&page->used); i++)
        if (weak_page_read(page->words[i], &id, &next) != NULL &&
            happens(killing->state, killing->one_in)) {
            page->words[i] = 0;
            killing->dead++;
        }
}

/* Returns how many objects the pages have; each must be one that was added, in the same order. */
static size_t find_all(const struct weak_page *page, const struct object *objects)
{
    size_t found = 0, at = 0;
    for (; page != NULL; page = page->next) {
        uint64_t id, next = 0;
        for (uint32_t i = 0; i < atomic_load(&page->used); i++) {
            jweak reference = weak_page_read(page->words[i], &id, &next);
            if (reference == NULL)
                continue;
            while (at < OBJECTS && objects[at].reference != reference)
                at++;
            CU_ASSERT_NOT_EQUAL_FATAL(at, OBJECTS);
            CU_ASSERT_EQUAL_FATAL(objects[at].id, id);
            found++;
        }
    }
    return found;
}

static void test_mix(const struct mix *mix)
{
    static struct object objects[OBJECTS];
    struct weak_table table = {.first = NULL};
    _Atomic(struct weak_page *) page = NULL;
    uint64_t state = 88172645463325252u, id = 1;
    for (size_t i = 0; i < OBJECTS; i++) {
        uint64_t key = happens(&state, mix->keys) ? draw(&state) & LAST_KEY : 0;
        id = happens(&state, mix->jumps) ? 1 + draw(&state) % LAST_ID : id + 1;
        objects[i] =
            (struct object){key << WEAK_ID_BITS | id, (jweak) (uintptr_t) (0x7ffff0000001 + 8 * i)};
        CU_ASSERT_TRUE_FATAL(weak_table_add(&table, &page, objects[i].id, objects[i].reference));
    }
    weak_table_hand_over(&table, page);
    weak_table_collect(&table);
    struct killing killing = {.one_in = mix->deaths, .state = &state};
    CU_ASSERT_EQUAL(find_all(table.first, objects), OBJECTS);
    for (unsigned i = 0; i < ROUNDS; i++) {
        weak_table_pass(&table, kill_some, &killing);
        CU_ASSERT_EQUAL_FATAL(find_all(table.first, objects), OBJECTS - killing.dead);
    }
    weak_table_reset(&table);
}

static void test_mixes(void)
{
    static const struct mix mixes[] = {{0, 0, 0}, {0, 0, 2},  {0, 0, 40}, {1, 0, 3},
                                       {5, 0, 9}, {0, 1, 10}, {7, 3, 2},  {100, 0, 1}};
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++)
        test_mix(&mixes[i]);
}

/* Objects whose ids follow each other take a word each. */
static void test_size(void)
{
    struct weak_table table = {.first = NULL};
    _Atomic(struct weak_page *) page = NULL;
    for (uint64_t i = 1; i <= 100; i++)
        CU_ASSERT_TRUE_FATAL(weak_table_add(&table, &page, i, (jweak) (uintptr_t) (8 * i)));
    CU_ASSERT_EQUAL(atomic_load(&atomic_load(&page)->used), 101);
    weak_table_free_page(page);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("weak table", NULL, NULL);
    CU_add_test(suite, "objects stay who they are", test_mixes);
    CU_add_test(suite, "a word an object", test_size);
}
