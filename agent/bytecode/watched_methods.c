/* SPDX-License-Identifier: Apache-2.0 */
/* An open-addressing table of numbers, each shifted, with its triggers in the low bits. A method
 * keeps its number from session to session, and so its entry; only the triggers change. */
#include "agent/bytecode/watched_methods.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "format/core/hash.h"

#define TRIGGER_BITS 2u
#define TRIGGER_MASK ((1u << TRIGGER_BITS) - 1)
#define TABLE_BITS 16u
#define TABLE_SIZE (1u << TABLE_BITS)
#define TABLE_FULL (TABLE_SIZE / 4 * 3)

static _Atomic uint64_t table[TABLE_SIZE];
static uint32_t table_count;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct watch_actions *actions;

void watched_methods_act(const struct watch_actions *wanted)
{
    actions = wanted;
}

static size_t slot_of(uint32_t number)
{
    return (size_t) (step_hash(number) >> (64 - TABLE_BITS));
}

bool watched_method_add(uint32_t number, unsigned triggers)
{
    pthread_mutex_lock(&table_lock);
    size_t slot = slot_of(number);
    uint64_t entry;
    while ((entry = atomic_load(&table[slot])) != 0 && entry >> TRIGGER_BITS != number)
        slot = (slot + 1) % TABLE_SIZE;
    bool added = entry != 0 || table_count < TABLE_FULL;
    if (added) {
        atomic_store(&table[slot], (uint64_t) number << TRIGGER_BITS | triggers);
        table_count += entry == 0;
    }
    pthread_mutex_unlock(&table_lock);
    return added;
}

void watched_methods_forget(void)
{
    pthread_mutex_lock(&table_lock);
    for (size_t slot = 0; slot < TABLE_SIZE; slot++)
        if ((atomic_load_explicit(&table[slot], memory_order_relaxed) & TRIGGER_MASK) != 0)
            atomic_fetch_and(&table[slot], ~(uint64_t) TRIGGER_MASK);
    pthread_mutex_unlock(&table_lock);
}

static unsigned triggers_of(uint32_t number)
{
    for (size_t slot = slot_of(number);; slot = (slot + 1) % TABLE_SIZE) {
        uint64_t entry = atomic_load_explicit(&table[slot], memory_order_relaxed);
        if (entry == 0)
            return 0;
        if (entry >> TRIGGER_BITS == number)
            return (unsigned) (entry & TRIGGER_MASK);
    }
}

void watched_method_entered(JNIEnv *jni, uint32_t number)
{
    unsigned triggers = triggers_of(number);
    if (triggers != 0)
        actions->entered(jni, triggers);
}

void watched_method_left(uint32_t number)
{
    unsigned triggers = triggers_of(number);
    if (triggers != 0)
        actions->left(triggers);
}
