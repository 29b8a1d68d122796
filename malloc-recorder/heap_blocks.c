/* SPDX-License-Identifier: Apache-2.0 */
/* Table from blocks to heaps, by address: pairs in mapped memory, because the recorder may not call
 * malloc() (hence no step_index).  Linear probing; removal leaves a mark.  A heap exists as long as
 * its count of blocks is not 0: blocks of a dropped heap stay until their addresses are reused, or
 * the table is rebuilt. */
#include "malloc-recorder/heap_blocks.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "format/core/hash.h"
#include "malloc-recorder/own_heap.h"
#include "malloc-recorder/recorder.h"

#define LEAST ((size_t) 1024)
#define TAKEN ((uintptr_t) 1)
#define DROPPED UINT64_MAX

struct pair {
    uintptr_t block; /* 0: free, TAKEN: formerly used */
    uint64_t heap;
};

_Atomic uint64_t heap_blocks_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
    own_mode_enter(&own);
    pthread_mutex_lock(&lock);
    if (count_heap(heap) && make_room()) {
        insert((uintptr_t) block, heap);
        counts[heap]++;
        atomic_fetch_add(&heap_blocks_count, 1);
    }
    pthread_mutex_unlock(&lock);
    own_mode_leave(&own);
}

uint64_t heap_blocks_take_slowly(const void *block)
{
    struct own_mode own;
    uint64_t heap = 0;
    own_mode_enter(&own);
    pthread_mutex_lock(&lock);
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
    pthread_mutex_unlock(&lock);
    own_mode_leave(&own);
    return heap;
}

void heap_blocks_drop(uint64_t heap)
{
    struct own_mode own;
    own_mode_enter(&own);
    pthread_mutex_lock(&lock);
    if (count_heap(heap)) {
        atomic_fetch_sub(&heap_blocks_count, counts[heap]);
        counts[heap] = DROPPED;
    }
    pthread_mutex_unlock(&lock);
    own_mode_leave(&own);
}

void heap_blocks_lock(void)
{
    pthread_mutex_lock(&lock);
}

void heap_blocks_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool heap_blocks_adopt(void)
{
    return pthread_mutex_trylock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0;
}

void heap_blocks_reset(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&heap_blocks_count, 0);
    pairs = NULL;
    counts = NULL;
    capacity = used = count_capacity = 0;
}
