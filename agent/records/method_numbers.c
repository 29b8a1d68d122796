/* SPDX-License-Identifier: Apache-2.0 */
/* An open-addressed table of hashes that grows and is never emptied; one of 64 bits is taken for
 * the method itself. */
#include "agent/records/method_numbers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "agent/base/text_hash.h"
#include "agent/bytecode/method_events.h"

#define FIRST_SIZE 4096u

struct known_method {
    uint64_t hash; /* 0: free */
    uint32_t number;
};

static struct {
    pthread_mutex_t lock;
    struct known_method *methods;
    size_t size, count;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct known_method *place_of(uint64_t hash)
{
    size_t slot = (size_t) (hash >> 8) & (table.size - 1);
    while (table.methods[slot].hash != 0 && table.methods[slot].hash != hash)
        slot = (slot + 1) & (table.size - 1);
    return &table.methods[slot];
}

/* Makes room for one more. */
static bool grow(void)
{
    if (table.count < table.size / 2)
        return true;
    struct known_method *old = table.methods;
    size_t old_size = table.size, size = old_size != 0 ? 2 * old_size : FIRST_SIZE;
    struct known_method *methods = calloc(size, sizeof *methods);
    if (methods == NULL)
        return table.count + 1 < table.size;
    table.methods = methods;
    table.size = size;
    for (size_t i = 0; i < old_size; i++)
        if (old[i].hash != 0)
            *place_of(old[i].hash) = old[i];
    free(old);
    return true;
}

static uint64_t hash_method(uint64_t loader, const char *const names[3])
{
    uint64_t hash = text_hash_more(TEXT_HASH_START, (const char *) &loader, sizeof loader);
    for (size_t i = 0; i < 3; i++) /* with the 0 byte between */
        hash = text_hash_more(hash, names[i], strlen(names[i]) + 1);
    hash ^= hash >> 32;
    return hash != 0 ? hash : 1;
}

uint32_t method_number_of(uint64_t loader, const char *class_name, const char *method_name,
                          const char *descriptor)
{
    uint64_t hash = hash_method(loader, (const char *const[]){class_name, method_name, descriptor});
    uint32_t number = 0;
    pthread_mutex_lock(&table.lock);
    if (grow()) {
        struct known_method *method = place_of(hash);
        if (method->hash == 0 && (number = method_new_number()) != 0) {
            *method = (struct known_method){hash, number};
            table.count++;
        }
        number = method->number;
    }
    pthread_mutex_unlock(&table.lock);
    return number;
}
