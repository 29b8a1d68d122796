/* SPDX-License-Identifier: Apache-2.0 */
/* Lock-free table of stack numbers. A slot has two words that check each other, so that a
 * half-written slot looks like another key's. `name` is half of one half of the key, and the
 * number; `check` is the other half of the key, exclusive-or'ed with `name`. 96 bits of the key
 * count. */
#include "agent/stacks/stack_known.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/base/memory.h"

#define FIRST_SLOTS ((size_t) 1 << 14)
#define SLOTS_MOST ((size_t) 1 << 21)
#define BUCKET 4u /* slots of one cache line */

struct known_slot {
    _Atomic uint64_t check, name;
};

/* A mapping of its own. */
struct known_table {
    size_t mask;               /* number of slots - 1 */
    size_t counted;            /* bytes */
    struct known_table *older; /* readers may still use it, and find little */
    struct known_slot slots[] __attribute__((aligned(64)));
};

struct stack_known {
    _Atomic(struct known_table *) table;
    _Atomic size_t added; /* to this table */
    pthread_mutex_t growing;
};

static size_t stack_known_bytes_of(size_t slots)
{
    return sizeof(struct known_table) + slots * sizeof(struct known_slot);
}

static struct known_table *table_create(size_t slots)
{
    size_t bytes = stack_known_bytes_of(slots);
    struct known_table *table =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
        return NULL;
    memory_add(MEMORY_STACKS, bytes);
    table->mask = slots - 1;
    table->counted = bytes;
    return table;
}

/* Gives back the memory of a table that was replaced, but for its first page. Slots that become
 * zero while a reader looks at them are like those that are half-written. */
static void table_empty(struct known_table *table)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    if (page >= table->counted ||
        madvise((char *) table + page, table->counted - page, MADV_DONTNEED) != 0)
        return;
    memory_subtract(MEMORY_STACKS, table->counted - page);
    table->counted = page;
}

static void table_destroy(struct known_table *table)
{
    memory_subtract(MEMORY_STACKS, table->counted);
    munmap(table, stack_known_bytes_of(table->mask + 1));
}

struct stack_known *stack_known_create(void)
{
    struct stack_known *known = calloc(1, sizeof *known);
    struct known_table *table = table_create(FIRST_SLOTS);
    if (known == NULL || table == NULL) {
        free(known);
        if (table != NULL)
            table_destroy(table);
        return NULL;
    }
    atomic_store(&known->table, table);
    pthread_mutex_init(&known->growing, NULL);
    return known;
}

void stack_known_destroy(struct stack_known *known)
{
    if (known == NULL)
        return;
    struct known_table *table = atomic_load(&known->table);
    while (table != NULL) {
        struct known_table *older = table->older;
        table_destroy(table);
        table = older;
    }
    pthread_mutex_destroy(&known->growing);
    free(known);
}

static struct known_slot *bucket_of(struct known_table *table, uint64_t low)
{
    return &table->slots[low & table->mask & ~(size_t) (BUCKET - 1)];
}

bool stack_known_find(struct stack_known *known, const struct stack_key *key, uint32_t *number)
{
    struct known_table *table = atomic_load_explicit(&known->table, memory_order_acquire);
    const struct known_slot *bucket = bucket_of(table, key->low);
    for (size_t i = 0; i < BUCKET; i++) {
        uint64_t name = atomic_load_explicit(&bucket[i].name, memory_order_relaxed);
        uint64_t check = atomic_load_explicit(&bucket[i].check, memory_order_relaxed);
        if ((check ^ name) == key->low && name >> 32 == key->high >> 32) {
            *number = (uint32_t) name;
            return (uint32_t) name != 0;
        }
    }
    return false;
}

/* Uses an empty slot, or one that the key selects.
 *
 * All accesses are relaxed. `check` and `name` are two stores, and a reader may see one of them
 * without the other, or words of two writers. Their exclusive or is then no key that is looked for,
 * except by a chance of 2^-64, and the reader finds nothing. So no order is needed: a number that
 * is found is the key's. What the number names is in the global stream already, written by the
 * thread that has defined it, and the drain takes that stream first. */
static void stack_known_put(struct known_table *table, uint64_t low, uint64_t name)
{
    struct known_slot *bucket = bucket_of(table, low), *slot = &bucket[name >> 32 & (BUCKET - 1)];
    for (size_t i = 0; i < BUCKET; i++)
        if (atomic_load_explicit(&bucket[i].name, memory_order_relaxed) == 0) {
            slot = &bucket[i];
            break;
        }
    atomic_store_explicit(&slot->check, low ^ name, memory_order_relaxed);
    atomic_store_explicit(&slot->name, name, memory_order_relaxed);
}

/* Entries that others add meanwhile may get lost; they are added again later. One thread grows, the
 * others go on with the old table: nobody waits for the lock. The release store of the table
 * pairs with the acquire loads in find and add, so its mask and its slots are initialised for
 * whoever sees it. The old table stays mapped, since a reader may be in it at any later time. */
static void stack_known_grow(struct stack_known *known)
{
    if (pthread_mutex_trylock(&known->growing) != 0)
        return;
    struct known_table *old = atomic_load(&known->table);
    size_t slots = (old->mask + 1) * 2;
    struct known_table *table = slots <= SLOTS_MOST && atomic_load(&known->added) > old->mask / 2
                                    ? table_create(slots)
                                    : NULL;
    if (table != NULL) {
        size_t count = 0;
        for (size_t i = 0; i <= old->mask; i++) {
            uint64_t name = atomic_load(&old->slots[i].name);
            if (name == 0)
                continue;
            stack_known_put(table, atomic_load(&old->slots[i].check) ^ name, name);
            count++;
        }
        table->older = old;
        atomic_store(&known->added, count);
        atomic_store_explicit(&known->table, table, memory_order_release);
        table_empty(old);
    }
    pthread_mutex_unlock(&known->growing);
}

void stack_known_add(struct stack_known *known, const struct stack_key *key, uint32_t number)
{
    struct known_table *table = atomic_load_explicit(&known->table, memory_order_acquire);
    uint64_t name = (key->high >> 32 << 32) | number;
    if (number == 0)
        return;
    stack_known_put(table, key->low, name);
    size_t added = atomic_fetch_add_explicit(&known->added, 1, memory_order_relaxed);
    if (added > table->mask / 2 && table->mask + 1 < SLOTS_MOST)
        stack_known_grow(known);
}
