/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of heaps: an index of their keys, whose memory is the recorder's own, as it is used in
 * MODE_OWN only.  Each thread caches the heap that it used last. */
#include "malloc-recorder/heap_numbers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"
#include "malloc-recorder/recorder.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t *keys; /* by number, from 0 for the number 1 */
static size_t last_number, capacity;
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
    if (!STEP_MAKE_ROOM(keys, capacity, last_number + 1) ||
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
    uint64_t number = find(key);
    if (number != 0) {
        step_index_remove(&heaps, hash_of(key), (uint32_t) (number - 1));
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
    keys = NULL;
    heaps = (struct step_index){.slots = NULL};
    capacity = last_number = 0;
}
