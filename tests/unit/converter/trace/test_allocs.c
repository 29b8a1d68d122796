/* SPDX-License-Identifier: Apache-2.0 */
/* The heap's model turns addresses into places and back, whatever the trace; the map of addresses
 * against a plain array. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/address_map.h"
#include "converter/trace/address_model.h"
#include "tests/unit/run_suite.h"

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed >> 8;
}

/* Some of it like an allocator, some of it nonsense. */
static void fill_record(struct hatf_record *record, uint64_t *seed, uint64_t *last)
{
    *record =
        (struct hatf_record){.size = next_random(seed) % 5 * 24, .thread = next_random(seed) % 3};
    uint64_t kind = next_random(seed) % 100;
    uint64_t near = 4096 + next_random(seed) % 64 * 32;
    record->tag = kind < 45 ? HATF_ALLOC : kind < 90 ? HATF_FREE : (enum hatf_tag)(kind % 10);
    record->address = kind % 7 == 0 ? next_random(seed) << 8 : kind % 5 == 0 ? *last : near;
    if (kind == 44)
        record->address = UINT64_MAX - kind;
    if (record->tag >= HATF_REALLOC_NO_ALLOC && record->tag <= HATF_REALLOC_FREE) {
        record->new_address = kind % 2 == 0 ? record->address : near + 32;
        if (kind % 3 == 0)
            record->new_address = 0;
        if (record->tag == HATF_REALLOC_ALLOC && kind % 4 != 0)
            record->address = 0;
    }
    *last = record->new_address != 0 ? record->new_address : record->address + 32;
}

static void test_model(void)
{
    uint64_t seed = 20240601;
    uint64_t last = 0;
    unsigned placed = 0;
    struct address_model *writes = address_model_create(false);
    struct address_model *reads = address_model_create(true);
    CU_ASSERT_TRUE_FATAL(writes != NULL && reads != NULL);
    for (unsigned i = 0; i < 200000; i++) {
        struct hatf_record record;
        struct address_place place;
        fill_record(&record, &seed, &last);
        enum address_answer answer = address_model_place(writes, &record, &place);
        if (answer == HEAP_PLAIN) {
            CU_ASSERT_EQUAL_FATAL(address_model_note(reads, &record), HEAP_PLAIN);
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(answer, HEAP_PLACED);
        struct hatf_record back = record;
        back.address = back.new_address = 0;
        CU_ASSERT_EQUAL_FATAL(address_model_find(reads, &place, &back), HEAP_PLACED);
        CU_ASSERT_EQUAL_FATAL(back.address, record.address);
        CU_ASSERT_EQUAL_FATAL(back.new_address, record.new_address);
        placed++;
    }
    CU_ASSERT_TRUE(placed > 100000);
    address_model_destroy(writes);
    address_model_destroy(reads);
}

/* Places that no trace has are refused, or are some address; nothing breaks. */
static void test_wild_places(void)
{
    uint64_t seed = 5;
    struct address_model *reads = address_model_create(true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reads);
    for (unsigned i = 0; i < 100000; i++) {
        struct hatf_record record = {.tag = (enum hatf_tag)(next_random(&seed) % 6),
                                     .size = next_random(&seed) % 100};
        unsigned shift = (unsigned) (next_random(&seed) % 56);
        struct address_place place = {next_random(&seed) >> shift, next_random(&seed) >> shift};
        enum address_answer answer = address_model_find(reads, &place, &record);
        CU_ASSERT_TRUE(answer == HEAP_PLACED || answer == HEAP_IMPOSSIBLE);
    }
    address_model_destroy(reads);
}

/* A program that frees and asks again gets small places. */
static void test_places(void)
{
    struct address_model *model = address_model_create(false);
    struct address_place place;
    struct hatf_record record = {.tag = HATF_ALLOC, .size = 24};
    for (uint64_t i = 0; i < 5; i++) {
        record.address = 4096 + 32 * i;
        CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLACED);
    }
    CU_ASSERT_EQUAL(place.rank, 0); /* behind the one before it */
    record = (struct hatf_record){.tag = HATF_FREE, .address = 4096 + 64};
    CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLACED);
    CU_ASSERT_EQUAL(place.age, 2);
    record.address = 4096;
    CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLACED);
    CU_ASSERT_EQUAL(place.age, 4);
    CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLAIN);
    record = (struct hatf_record){.tag = HATF_ALLOC, .size = 20, .address = 4096 + 64};
    CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLACED);
    CU_ASSERT_EQUAL(place.rank, 66); /* the free before the last one */
    /* two programs' worth of frees, taken again by turns: each goes on beside what it took before
     */
    record = (struct hatf_record){.tag = HATF_ALLOC, .size = 200};
    for (uint64_t i = 0; i < 400; i++) {
        record.address = 65536 + 256 * i;
        CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLACED);
    }
    record = (struct hatf_record){.tag = HATF_FREE};
    for (uint64_t i = 0; i < 400; i++) {
        record.address = 65536 + 256 * i;
        CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLACED);
    }
    record = (struct hatf_record){.tag = HATF_ALLOC, .size = 200};
    for (uint64_t i = 0; i < 100; i++)
        for (uint64_t k = 0; k < 2; k++) {
            record.address = 65536 + 256 * (k == 0 ? 100 + i : 350 - i);
            CU_ASSERT_EQUAL(address_model_place(model, &record, &place), HEAP_PLACED);
            if (i > 0) /* the newer neighbour of the cursor before the last, then the older one */
                CU_ASSERT_EQUAL(place.rank, k == 0 ? 5 : 4);
        }
    address_model_destroy(model);
}

/* ---- the map ---- */

enum { PLACES = 600 };

static void test_map(void)
{
    struct address_map map = {0};
    uint64_t sizes[PLACES] = {0}; /* by address - 1; 0: nothing */
    uint64_t heaps[PLACES] = {0};
    uint64_t seed = 77;
    for (unsigned i = 0; i < 60000; i++) {
        uint64_t address = 1 + next_random(&seed) % PLACES;
        uint64_t size = 1 + next_random(&seed) % 20;
        bool overlaps = false;
        for (uint64_t other = 1; other <= PLACES; other++)
            overlaps = overlaps || (sizes[other - 1] > 0 && other < address + size &&
                                    address < other + sizes[other - 1]);
        CU_ASSERT_EQUAL(address_map_overlap(&map, address, size) != NULL, overlaps);
        CU_ASSERT_EQUAL(address_map_find(&map, address) != NULL, sizes[address - 1] > 0);
        if (!overlaps) {
            uint64_t heap = next_random(&seed) % 4;
            CU_ASSERT_TRUE(address_map_put(
                &map, &(struct address_block){.address = address, .size = size, .heap = heap}));
            sizes[address - 1] = size;
            heaps[address - 1] = heap;
        } else {
            CU_ASSERT_EQUAL(address_map_remove(&map, address), sizes[address - 1] > 0);
            sizes[address - 1] = 0;
        }
        if (i % 5000 == 4999) {
            address_map_remove_heap(&map, 2);
            for (unsigned j = 0; j < PLACES; j++)
                sizes[j] = heaps[j] == 2 ? 0 : sizes[j];
        }
    }
    size_t count = 0;
    uint64_t bytes = 0;
    for (unsigned j = 0; j < PLACES; j++) {
        count += sizes[j] > 0;
        bytes += sizes[j];
    }
    CU_ASSERT_EQUAL(map.count, count);
    CU_ASSERT_EQUAL(map.bytes, bytes);
    address_map_reset(&map);
    CU_ASSERT_PTR_NULL(map.root);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("heap traces", NULL, NULL);
    CU_add_test(suite, "the model, there and back", test_model);
    CU_add_test(suite, "wild places", test_wild_places);
    CU_add_test(suite, "places", test_places);
    CU_add_test(suite, "addresses in order", test_map);
}
