/* SPDX-License-Identifier: Apache-2.0 */
/* The program's heaps: an index of their keys, which gives them numbers, and a map from blocks to
 * heaps, by address.  One lock is for both.  The memory is the recorder's own, as both are used in
 * MODE_OWN only.  Each thread caches the heap that it used last.
 *
 * Blocks of a dropped heap stay until their addresses are reused, or they are most of all. */
#include "malloc-recorder/program_heaps.h"

#include <stddef.h>

#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"
#include "format/core/page_map.h"
#include "malloc-recorder/recorder.h"

pthread_mutex_t program_heaps_lock = PTHREAD_MUTEX_INITIALIZER;

static void program_heaps_enter(struct own_mode *own)
{
    own_mode_enter(own);
    pthread_mutex_lock(&program_heaps_lock);
}

static void program_heaps_leave(const struct own_mode *own)
{
    pthread_mutex_unlock(&program_heaps_lock);
    own_mode_leave(own);
}

/* ---- numbers ---- */

static uintptr_t *keys; /* by number, from 0 for the number 1 */
static size_t last_number, key_capacity;
static struct step_index heaps; /* the keys of heaps that exist */
static _Atomic uint64_t ends;   /* the threads' caches are valid until it changes */

static _Thread_local struct {
    uintptr_t key;
    uint64_t number, ends;
} remembered __attribute__((tls_model("initial-exec")));

static uint32_t program_heaps_hash_of(uintptr_t key)
{
    return step_hash_half(key ^ key >> 12);
}

static uint64_t program_heaps_find(uintptr_t key)
{
    uint32_t item;
    STEP_INDEX_EACH (&heaps, program_heaps_hash_of(key), item)
        if (keys[item] == key)
            return (uint64_t) item + 1;
    return 0;
}

static uint64_t program_heaps_make(uintptr_t key)
{
    if (!STEP_MAKE_ROOM(keys, key_capacity, last_number + 1) ||
        !step_index_add(&heaps, program_heaps_hash_of(key), (uint32_t) last_number))
        return 0;
    keys[last_number] = key;
    return ++last_number;
}

uint64_t heap_number_find(uintptr_t key)
{
    uint64_t now = atomic_load(&ends);
    if (remembered.key == key && remembered.ends == now)
        return remembered.number;
    struct own_mode own;
    program_heaps_enter(&own);
    uint64_t number = program_heaps_find(key);
    program_heaps_leave(&own);
    if (number != 0) {
        remembered.key = key;
        remembered.number = number;
        remembered.ends = now;
    }
    return number;
}

uint64_t heap_number_make(uintptr_t key, bool *is_new)
{
    uint64_t number = heap_number_find(key);
    *is_new = false;
    if (number != 0)
        return number;
    struct own_mode own;
    program_heaps_enter(&own);
    number = program_heaps_find(key);
    if (number == 0)
        *is_new = (number = program_heaps_make(key)) != 0;
    program_heaps_leave(&own);
    return number;
}

void heap_number_end(uintptr_t key)
{
    struct own_mode own;
    program_heaps_enter(&own);
    uint64_t number = program_heaps_find(key);
    if (number != 0) {
        step_index_remove(&heaps, program_heaps_hash_of(key), (uint32_t) (number - 1));
        atomic_fetch_add(&ends, 1);
    }
    program_heaps_leave(&own);
}

/* ---- blocks ---- */

#define DROPPED UINT64_MAX
enum { LEAST = 1024 };

_Atomic uint64_t heap_blocks_count;

static struct step_page_map blocks; /* each block's heap, by block_number() */
static uint64_t *counts;            /* number of blocks, by heap */
static size_t count_capacity;

static uint64_t block_number(const void *block)
{
    return (uintptr_t) block >> 3;
}

/* Removes the blocks of dropped heaps if they are most of all. */
static void purge(void)
{
    if (blocks.count < LEAST || blocks.count / 4 < atomic_load(&heap_blocks_count))
        return;
    struct step_page_map old = blocks;
    blocks = (struct step_page_map){.slots = NULL};
    for (size_t i = 0; i <= old.mask; i++) {
        void *heap = old.slots[i].page;
        if (heap != NULL && counts[(uintptr_t) heap] != DROPPED)
            step_page_map_add(&blocks, old.slots[i].number, heap);
    }
    step_page_map_reset(&old);
}

static bool count_heap(uint64_t heap)
{
    return STEP_MAKE_ZEROED_ROOM(counts, count_capacity, heap + 1) && counts[heap] != DROPPED;
}

/* Returns false for 0, and for a heap that was dropped, whose blocks are not counted any more. */
static bool uncount(uint64_t heap)
{
    if (heap == 0 || counts[heap] == DROPPED)
        return false;
    counts[heap]--;
    atomic_fetch_sub(&heap_blocks_count, 1);
    return true;
}

void heap_blocks_put(const void *block, uint64_t heap)
{
    struct own_mode own;
    program_heaps_enter(&own);
    uint64_t number = block_number(block);
    void *value = (void *) (uintptr_t) heap;
    bool done = count_heap(heap);
    if (done) {
        purge();
        uint64_t before = (uintptr_t) step_page_map_find(&blocks, number);
        if (before != 0)
            step_page_map_replace(&blocks, number, value);
        else
            done = step_page_map_add(&blocks, number, value);
        uncount(before); /* a block that was freed without a record */
    }
    if (done) {
        counts[heap]++;
        atomic_fetch_add(&heap_blocks_count, 1);
    }
    program_heaps_leave(&own);
}

uint64_t heap_blocks_take_slowly(const void *block)
{
    struct own_mode own;
    program_heaps_enter(&own);
    uint64_t number = block_number(block);
    uint64_t heap = (uintptr_t) step_page_map_find(&blocks, number);
    if (heap != 0)
        step_page_map_remove(&blocks, number);
    bool is_live = uncount(heap);
    program_heaps_leave(&own);
    return is_live ? heap : 0;
}

void heap_blocks_drop(uint64_t heap)
{
    struct own_mode own;
    program_heaps_enter(&own);
    if (count_heap(heap)) {
        atomic_fetch_sub(&heap_blocks_count, counts[heap]);
        counts[heap] = DROPPED;
    }
    program_heaps_leave(&own);
}

/* ---- forks ---- */

bool program_heaps_adopt(void)
{
    return pthread_mutex_trylock(&program_heaps_lock) == 0 &&
           pthread_mutex_unlock(&program_heaps_lock) == 0;
}

void program_heaps_reset(void)
{
    pthread_mutex_init(&program_heaps_lock, NULL);
    atomic_fetch_add(&ends, 1);
    atomic_store(&heap_blocks_count, 0);
    heaps = (struct step_index){.slots = NULL};
    keys = NULL;
    blocks = (struct step_page_map){.slots = NULL};
    counts = NULL;
    key_capacity = last_number = count_capacity = 0;
}
