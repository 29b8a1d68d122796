/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of heaps: a table by key in mapped memory, because the recorder may not call malloc()
 * (hence no step_index).  Linear probing; removal leaves a mark.  Each thread caches the heap that
 * it used last. */
#include "malloc-recorder/heap_numbers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "format/core/hash.h"
#include "malloc-recorder/own_heap.h"
#include "malloc-recorder/recorder.h"

#define LEAST ((size_t) 64)

struct entry {
    uintptr_t key;   /* 0: free */
    uint64_t number; /* 0: formerly used */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static size_t capacity, used; /* a power of two; entries that are not free */
static uint64_t living, last_number;
static _Atomic uint64_t ends; /* the threads' caches are valid until it changes */

static _Thread_local struct {
    uintptr_t key;
    uint64_t number, ends;
} remembered __attribute__((tls_model("initial-exec")));

static struct entry *place_of(uintptr_t key)
{
    size_t at = (size_t) (step_hash(key ^ key >> 12) >> 24) & (capacity - 1);
    while (entries[at].key != 0 && entries[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static bool make_room(void)
{
    if (capacity != 0 && used < capacity / 2)
        return true;
    struct entry *old = entries;
    size_t old_capacity = capacity, next = LEAST;
    while (next < 4 * living)
        next *= 2;
    struct entry *grown = own_heap_calloc(next, sizeof *grown);
    if (grown == NULL)
        return false;
    entries = grown;
    capacity = next;
    used = 0;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].number != 0) {
            *place_of(old[i].key) = old[i];
            used++;
        }
    own_heap_free(old);
    return true;
}

static uint64_t find(uintptr_t key)
{
    return capacity != 0 ? place_of(key)->number : 0;
}

static uint64_t make(uintptr_t key)
{
    if (!make_room())
        return 0;
    struct entry *entry = place_of(key);
    used += entry->key == 0;
    living++;
    *entry = (struct entry){key, ++last_number};
    return entry->number;
}

uint64_t heap_number_find(uintptr_t key)
{
    uint64_t now = atomic_load(&ends);
    if (remembered.key == key && remembered.ends == now)
        return remembered.number;
    struct own_mode own;
    own_mode_enter(&own);
    pthread_mutex_lock(&lock);
    uint64_t number = find(key);
    pthread_mutex_unlock(&lock);
    own_mode_leave(&own);
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
    own_mode_enter(&own);
    pthread_mutex_lock(&lock);
    number = find(key);
    if (number == 0)
        *is_new = (number = make(key)) != 0;
    pthread_mutex_unlock(&lock);
    own_mode_leave(&own);
    return number;
}

void heap_number_end(uintptr_t key)
{
    struct own_mode own;
    own_mode_enter(&own);
    pthread_mutex_lock(&lock);
    if (find(key) != 0) {
        place_of(key)->number = 0;
        living--;
        atomic_fetch_add(&ends, 1);
    }
    pthread_mutex_unlock(&lock);
    own_mode_leave(&own);
}

void heap_numbers_lock(void)
{
    pthread_mutex_lock(&lock);
}

void heap_numbers_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool heap_numbers_adopt(void)
{
    return pthread_mutex_trylock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0;
}

void heap_numbers_reset(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_fetch_add(&ends, 1);
    entries = NULL;
    capacity = used = 0;
    living = last_number = 0;
}
