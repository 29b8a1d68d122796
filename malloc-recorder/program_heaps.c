/* SPDX-License-Identifier: Apache-2.0 */
/* The program's heaps: an index of their keys, which gives them numbers, and a table from blocks to
 * heaps, by address.  One lock is for both.  The memory is the recorder's own, as both are used in
 * MODE_OWN only.  Each thread caches the heap that it used last.
 *
 * The table has pairs with linear probing; removal leaves a mark.  A heap exists as long as its
 * count of blocks is not 0: blocks of a dropped heap stay until their addresses are reused, or the
 * table is rebuilt. */
#include "malloc-recorder/program_heaps.h"

#include <stddef.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"
#include "malloc-recorder/own_heap.h"
#include "malloc-recorder/recorder.h"

pthread_mutex_t program_heaps_lock = PTHREAD_MUTEX_INITIALIZER;

static void enter(struct own_mode *own)
{
    own_mode_enter(own);
    pthread_mutex_lock(&program_heaps_lock);
}

static void leave(const struct own_mode *own)
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

static uint32_t hash_of(uintptr_t key)
{
    return step_hash_half(key ^ key >> 12);
}

static uint64_t find(uintptr_t key)
{
    uint32_t item;
    STEP_INDEX_EACH (&heaps, hash_of(key), item)
        if (keys[item] == key)
            return (uint64_t) item + 1;
    return 0;
}

static uint64_t make(uintptr_t key)
{
    if (!STEP_MAKE_ROOM(keys, key_capacity, last_number + 1) ||
        !step_index_add(&heaps, hash_of(key), (uint32_t) last_number))
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
    enter(&own);
    uint64_t number = find(key);
    leave(&own);
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
    enter(&own);
    number = find(key);
    if (number == 0)
        *is_new = (number = make(key)) != 0;
    leave(&own);
    return number;
}

void heap_number_end(uintptr_t key)
{
    struct own_mode own;
    enter(&own);
    uint64_t number = find(key);
    if (number != 0) {
        step_index_remove(&heaps, hash_of(key), (uint32_t) (number - 1));
        atomic_fetch_add(&ends, 1);
    }
    leave(&own);
}

/* ---- blocks ---- */

#define LEAST ((size_t) 1024)
#define TAKEN ((uintptr_t) 1)
#define DROPPED UINT64_MAX

struct pair {
    uintptr_t block; /* 0: free, TAKEN: formerly used */
    uint64_t heap;
};

_Atomic uint64_t heap_blocks_count;

static struct pair *pairs;
static size_t capacity, used; /* a power of two; pairs that are not free */
static uint64_t *counts;      /* number of blocks, by heap */
static uint64_t count_capacity;

static size_t place_of(uintptr_t block)
{
    return (size_t) (step_hash(block >> 4) >> 20) & (capacity - 1);
}

static bool lives(const struct pair *pair)
{
    return pair->block > TAKEN && counts[pair->heap] != DROPPED;
}

static void insert(uintptr_t block, uint64_t heap)
{
    size_t at = place_of(block);
    while (pairs[at].block != 0 && pairs[at].block != block)
        at = (at + 1) & (capacity - 1);
    used += pairs[at].block == 0;
    pairs[at] = (struct pair){block, heap};
}

static bool make_room(void)
{
    if (capacity != 0 && used < capacity / 2)
        return true;
    struct pair *old = pairs;
    size_t old_capacity = capacity;
    size_t wanted = 4 * (size_t) atomic_load(&heap_blocks_count);
    size_t next = LEAST;
    while (next < wanted)
        next *= 2;
    struct pair *grown = own_heap_calloc(next, sizeof *grown);
    if (grown == NULL)
        return false;
    pairs = grown;
    capacity = next;
    used = 0;
    for (size_t i = 0; i < old_capacity; i++)
        if (lives(&old[i]))
            insert(old[i].block, old[i].heap);
    own_heap_free(old);
    return true;
}

static bool count_heap(uint64_t heap)
{
    if (heap < count_capacity)
        return counts[heap] != DROPPED;
    uint64_t wanted = 2 * heap < LEAST ? LEAST : 2 * heap;
    uint64_t *grown = own_heap_calloc(wanted, sizeof *grown);
    if (grown == NULL)
        return false;
    if (counts != NULL)
        memcpy(grown, counts, count_capacity * sizeof *grown);
    own_heap_free(counts);
    counts = grown;
    count_capacity = wanted;
    return true;
}

void heap_blocks_put(const void *block, uint64_t heap)
{
    struct own_mode own;
    enter(&own);
    if (count_heap(heap) && make_room()) {
        insert((uintptr_t) block, heap);
        counts[heap]++;
        atomic_fetch_add(&heap_blocks_count, 1);
    }
    leave(&own);
}

uint64_t heap_blocks_take_slowly(const void *block)
{
    struct own_mode own;
    uint64_t heap = 0;
    enter(&own);
    for (size_t at = place_of((uintptr_t) block); capacity != 0 && pairs[at].block != 0;
         at = (at + 1) & (capacity - 1)) {
        if (pairs[at].block != (uintptr_t) block)
            continue;
        if (lives(&pairs[at])) {
            heap = pairs[at].heap;
            counts[heap]--;
            atomic_fetch_sub(&heap_blocks_count, 1);
        }
        pairs[at].block = TAKEN;
        break;
    }
    leave(&own);
    return heap;
}

void heap_blocks_drop(uint64_t heap)
{
    struct own_mode own;
    enter(&own);
    if (count_heap(heap)) {
        atomic_fetch_sub(&heap_blocks_count, counts[heap]);
        counts[heap] = DROPPED;
    }
    leave(&own);
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
    pairs = NULL;
    counts = NULL;
    key_capacity = last_number = capacity = used = count_capacity = 0;
}
