/* SPDX-License-Identifier: Apache-2.0 */
/* A table by the hash of a method's names and the length of its code.
 *
 * The rewriter knows a method as a class file has it, before the JVM has given it an id; a call
 * stack knows a jmethodID. What both have are the names of class and method, the descriptor, and
 * the length of the new code. That is not always one method: loaders may have classes of one name,
 * and a class may be rewritten again with other probes. Then two lists of places come together
 * under one key. Equal ones are one entry; if they differ, the list is dropped and the key stays,
 * so that the method is known to be unknown (-1). A stack without an index is a loss, one with the
 * index of another instruction a false answer.
 *
 * The same care makes a method that is not in the table mean two things. As long as every method
 * was added, it is one without probes, whose indices are those of its class file. Once one could
 * not be added (`full`), nobody can tell any more. A method of which nothing is known whatever its
 * length, as one that is rewritten once for phases and once for events, has an entry with the
 * length 0.
 *
 * The key has 128 bits in place of the names, which would take many times as much for the tens of
 * thousands of methods of a large program. */
#include "agent/records/code_places.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "format/core/bytes.h"
#include "format/core/grow.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"

#define BYTES_MOST ((size_t) 16 << 20)

struct method_key {
    uint64_t low, high;
};

struct method_places {
    struct method_key key;
    uint8_t *bytes; /* NULL: not known */
    size_t size;
};

static struct {
    pthread_mutex_t lock;
    struct method_places *methods;
    size_t count, capacity, bytes;
    struct step_index index; /* of the methods */
    bool full;               /* some are missing: what is not here is not known */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add_text(struct method_key *key, const char *text, size_t length)
{
    for (size_t i = 0; i <= length; i++) {
        uint64_t byte = i < length ? (unsigned char) text[i] : 0x100u;
        key->low = step_hash_join(key->low, byte);
        key->high = step_hash_join(key->high, ~byte);
    }
}

static struct method_key code_places_key_of(const char *class_name, size_t class_length,
                                            const char *method_name, const char *descriptor,
                                            uint32_t code_bytes)
{
    struct method_key key = {1, 2};
    add_text(&key, class_name, class_length);
    add_text(&key, method_name, strlen(method_name));
    add_text(&key, descriptor, strlen(descriptor));
    key.low = step_hash_join(key.low, code_bytes);
    key.high = step_hash_join(key.high, code_bytes);
    return key;
}

/* The caller holds the lock. */
static struct method_places *code_places_find(struct method_key key)
{
    uint32_t item;
    STEP_INDEX_EACH (&table.index, (uint32_t) key.low, item)
        if (table.methods[item].key.low == key.low && table.methods[item].key.high == key.high)
            return &table.methods[item];
    return NULL;
}

static void forget(struct method_places *places)
{
    free(places->bytes);
    places->bytes = NULL;
}

/* The caller holds the lock. Returns false if there is no memory for it. */
static bool add(struct method_key key, const uint8_t *bytes, size_t size)
{
    size_t taken = sizeof *table.methods + size;
    if (taken > BYTES_MOST - table.bytes || table.count >= UINT32_MAX - 1 ||
        !step_index_reserve(&table.index) ||
        !STEP_MAKE_ROOM(table.methods, table.capacity, table.count + 1))
        return false;
    uint8_t *copy = bytes != NULL ? malloc(size) : NULL;
    if (bytes != NULL && copy == NULL)
        return false;
    if (copy != NULL)
        memcpy(copy, bytes, size);
    step_index_add(&table.index, (uint32_t) key.low, (uint32_t) table.count);
    table.methods[table.count++] = (struct method_places){key, copy, size};
    table.bytes += taken;
    memory_add(MEMORY_STACKS, taken);
    return true;
}

void code_places_add(const char *class_name, const char *method_name, const char *descriptor,
                     uint32_t code_bytes, const uint8_t *bytes, size_t size)
{
    struct method_key key = code_places_key_of(class_name, strlen(class_name), method_name,
                                               descriptor, bytes != NULL ? code_bytes : 0);
    pthread_mutex_lock(&table.lock);
    struct method_places *known = code_places_find(key);
    if (known == NULL)
        table.full |= !add(key, bytes, size);
    else if (known->bytes != NULL &&
             (known->size != size || memcmp(known->bytes, bytes, size) != 0))
        forget(known);
    pthread_mutex_unlock(&table.lock);
}

/* One instruction of the list. */
struct instruction {
    jlocation new_place, old, made;
    uint64_t size;
};

/* Returns the address after the next instruction, or NULL. */
static const uint8_t *next_instruction(const uint8_t *at, const uint8_t *end,
                                       struct instruction *next)
{
    uint64_t from, size, back = 0;
    at = step_varint_get(at, end, &from);
    at = at != NULL ? step_varint_get(at, end, &size) : NULL;
    if (at != NULL && (size & 1) != 0)
        at = step_varint_get(at, end, &back);
    if (at == NULL)
        return NULL;
    next->new_place += (jlocation) from;
    next->old += (jlocation) next->size;
    next->size = size >> 1;
    next->made = next->old - (jlocation) back;
    return at;
}

static jlocation place_in(const struct method_places *places, jlocation location, bool makes)
{
    const uint8_t *at = places->bytes, *end = at + places->size;
    struct instruction next = {0};
    jlocation found = 0;
    while (at < end) {
        at = next_instruction(at, end, &next);
        if (at == NULL)
            return -1;
        if (next.new_place > location)
            return found;
        found = makes ? next.made : next.old;
    }
    return found;
}

static jlocation code_places_look_up(const char *class_name, size_t class_length,
                                     const char *method_name, const char *descriptor,
                                     uint32_t code_bytes, jlocation location, bool makes)
{
    struct method_key key =
        code_places_key_of(class_name, class_length, method_name, descriptor, code_bytes);
    struct method_key any =
        code_places_key_of(class_name, class_length, method_name, descriptor, 0);
    pthread_mutex_lock(&table.lock);
    const struct method_places *places = code_places_find(key);
    bool unknown = places != NULL ? places->bytes == NULL : table.full;
    unknown = unknown || code_places_find(any) != NULL;
    jlocation place = unknown ? -1 : places != NULL ? place_in(places, location, makes) : location;
    pthread_mutex_unlock(&table.lock);
    return place;
}

/* A hidden class has a suffix behind the name of its class file. */
static jlocation place_by_names(const char *signature, const char *method_name,
                                const char *descriptor, uint32_t code_bytes, jlocation location,
                                bool makes)
{
    return code_places_look_up(signature + 1, strcspn(signature + 1, ";."), method_name, descriptor,
                               code_bytes, location, makes);
}

jlocation code_place_of(jmethodID method, jlocation location, bool makes)
{
    JNIEnv *jni = jvm_jni();
    jclass owner = jni != NULL ? method_owner(method) : NULL;
    char *signature = owner != NULL ? class_signature(owner) : NULL, *name = NULL,
         *descriptor = NULL;
    jlocation first, last, place = -1;
    if (signature != NULL &&
        (*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, &descriptor, NULL) ==
            JVMTI_ERROR_NONE &&
        (*tracer.jvmti)->GetMethodLocation(tracer.jvmti, method, &first, &last) == JVMTI_ERROR_NONE)
        place = place_by_names(signature, name, descriptor, (uint32_t) last + 1, location, makes);
    jvm_free(signature);
    jvm_free(name);
    jvm_free(descriptor);
    if (owner != NULL)
        (*jni)->DeleteLocalRef(jni, owner);
    return place;
}
