/* SPDX-License-Identifier: Apache-2.0 */
/* Open-addressing tables, one per shard. An object is compared with all entries of its key while
 * the shard's lock is held, so that the reaper cannot delete their references meanwhile. */
#include "agent/deaths/identity.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/base/patience.h"
#include "agent/base/tracer.h"
#include "agent/deaths/weak_table.h"

#define SHARDS 64u
#define FIRST_ENTRIES 256u

struct identity_entry {
    uint64_t id; /* and the key above it; 0: free */
    jweak reference;
};

struct shard {
    pthread_mutex_t lock;
    size_t mask; /* entries - 1 */
    size_t count;
    struct identity_entry *entries;
};

static struct shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

uint32_t identity_key(jobject object)
{
    jint hash = 0;
    if ((*tracer.jvmti)->GetObjectHashCode(tracer.jvmti, object, &hash) != JVMTI_ERROR_NONE)
        return 0;
    uint32_t mixed = (uint32_t) hash * 0x9e3779b1u;
    return mixed >> (32 - IDENTITY_KEY_BITS);
}

static size_t home_of_key(uint64_t key, size_t mask)
{
    return (size_t) key / SHARDS * 0x85ebca6bu & mask;
}

static size_t home_of(const struct shard *shard, uint64_t word)
{
    return home_of_key(word >> WEAK_ID_BITS, shard->mask);
}

/* Only a hint: the table may be another one by now, so it is not read. */
void identity_expect(uint32_t key)
{
    const struct shard *shard = &shards[key % SHARDS];
    const struct identity_entry *entries = __atomic_load_n(&shard->entries, __ATOMIC_RELAXED);
    size_t mask = __atomic_load_n(&shard->mask, __ATOMIC_RELAXED);
    uintptr_t home = (uintptr_t) entries + home_of_key(key, mask) * sizeof *entries;
    __builtin_prefetch((const char *) home, 1);
}

/* Linear probing. The table is at most half full, so a search ends after few entries. Objects with
 * equal keys are neighbours, and the JVM decides between them. */
static void identity_put(struct shard *shard, struct identity_entry entry)
{
    size_t i = home_of(shard, entry.id);
    while (shard->entries[i].id != 0)
        i = (i + 1) & shard->mask;
    shard->entries[i] = entry;
}

static bool identity_resize(struct shard *shard, size_t size)
{
    struct identity_entry *old = shard->entries;
    size_t old_size = old != NULL ? shard->mask + 1 : 0;
    struct identity_entry *entries = memory_counted(MEMORY_TABLES, calloc(size, sizeof *entries));
    if (entries == NULL)
        return old != NULL && shard->count < shard->mask;
    __atomic_store_n(&shard->entries, entries, __ATOMIC_RELAXED);
    __atomic_store_n(&shard->mask, size - 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].id != 0)
            identity_put(shard, old[i]);
    memory_free(MEMORY_TABLES, old);
    return true;
}

bool identity_add(struct session *session, uint32_t key, uint64_t id, jweak reference)
{
    struct shard *shard = &shards[key % SHARDS];
    if (!session_lock(session, &shard->lock))
        return false;
    size_t size = shard->entries != NULL ? shard->mask + 1 : 0;
    bool room =
        shard->count * 2 < size || identity_resize(shard, size == 0 ? FIRST_ENTRIES : size * 2);
    if (room) {
        identity_put(shard,
                     (struct identity_entry){(uint64_t) key << WEAK_ID_BITS | id, reference});
        shard->count++;
    }
    pthread_mutex_unlock(&shard->lock);
    return room;
}

/* IsSameObject() is called under the shard's lock, since the reaper deletes or recycles a reference
 * right after it has removed the entry. The call may wait for the end of a safepoint. That is no
 * deadlock: threads that wait for the lock are in native code, which does not delay the safepoint,
 * and no callback in a pause takes it. If a debugger suspends the thread there, session_lock() ends
 * the waits of the others. */
uint64_t identity_find(struct session *session, JNIEnv *jni, uint32_t key, jobject object)
{
    struct shard *shard = &shards[key % SHARDS];
    uint64_t found = 0;
    if (!session_lock(session, &shard->lock))
        return 0;
    if (shard->entries != NULL) {
        size_t i = home_of(shard, (uint64_t) key << WEAK_ID_BITS);
        for (; shard->entries[i].id != 0 && found == 0; i = (i + 1) & shard->mask)
            if (shard->entries[i].id >> WEAK_ID_BITS == key &&
                (*jni)->IsSameObject(jni, object, shard->entries[i].reference))
                found = shard->entries[i].id & WEAK_ID_MASK;
    }
    pthread_mutex_unlock(&shard->lock);
    return found;
}

/* Closes the gap at `hole`: moves up entries that would not be found any more. There are no markers
 * of deleted entries: objects die at the rate at which they are made, and markers would fill the
 * table as fast. An entry may move to the hole if its home is not between the hole and itself;
 * distances are taken modulo the size, so a run across the end of the table is no special case. It
 * ends at a free entry, as there is always one. */
static void close_gap(struct shard *shard, size_t hole)
{
    for (size_t i = (hole + 1) & shard->mask; shard->entries[i].id != 0;
         i = (i + 1) & shard->mask) {
        size_t home = home_of(shard, shard->entries[i].id);
        if (((i - home) & shard->mask) >= ((i - hole) & shard->mask)) {
            shard->entries[hole] = shard->entries[i];
            hole = i;
        }
    }
    shard->entries[hole].id = 0;
}

/* Called before the object's reference is recycled. Afterwards that reference names another object,
 * and a search with the old entry would give that object the dead one's id. */
void identity_remove(struct session *session, uint32_t key, uint64_t id)
{
    struct shard *shard = &shards[key % SHARDS];
    uint64_t word = (uint64_t) key << WEAK_ID_BITS | id;
    if (shard->entries == NULL)
        return;
    if (!session_lock(session, &shard->lock))
        return;
    size_t i = home_of(shard, word);
    while (shard->entries[i].id != 0 && shard->entries[i].id != word)
        i = (i + 1) & shard->mask;
    if (shard->entries[i].id == word) {
        close_gap(shard, i);
        shard->count--;
        if (shard->mask + 1 > FIRST_ENTRIES && shard->count * 8 < shard->mask)
            identity_resize(shard, (shard->mask + 1) / 2);
    }
    pthread_mutex_unlock(&shard->lock);
}

void identity_reset(void)
{
    for (size_t i = 0; i < SHARDS; i++) {
        memory_free(MEMORY_TABLES, shards[i].entries);
        shards[i].entries = NULL;
        shards[i].mask = shards[i].count = 0;
    }
}
