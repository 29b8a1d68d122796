/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of numbers, and an open-addressing table from hashes of names to numbers, which grows and
 * is never emptied. Equal 64-bit hashes count as equal methods. */
#include "agent/records/method_numbers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash_numbers.h"
#include "agent/base/jvm_classes.h"
#include "agent/records/classes.h"
#include "agent/records/methods.h"

_Atomic(struct method_page *) method_pages[METHOD_PAGES];
static _Atomic uint32_t last_number;

/* Pages are never freed, so they are read without a lock, relaxed: a number is a constant in the
 * code of a class, and the JVM's own publication of that class orders the page before the first
 * call. */
uint32_t method_new_number(void)
{
    uint32_t number = atomic_fetch_add(&last_number, 1) + 1;
    if (number >= METHOD_PAGE_NUMBERS * METHOD_PAGES) {
        atomic_store(&last_number, METHOD_PAGE_NUMBERS * METHOD_PAGES);
        return 0;
    }
    _Atomic(struct method_page *) *page = &method_pages[number / METHOD_PAGE_NUMBERS];
    if (atomic_load(page) == NULL) {
        struct method_page *fresh = calloc(1, sizeof *fresh), *none = NULL;
        if (fresh == NULL)
            return 0;
        if (!atomic_compare_exchange_strong(page, &none, fresh))
            free(fresh);
    }
    return number;
}

static uint64_t know(struct session *session, uint32_t number, jmethodID method)
{
    struct method_page *page = method_page_of(number);
    _Atomic uint64_t *known = &page->methods[number % METHOD_PAGE_NUMBERS];
    atomic_store(&page->ids[number % METHOD_PAGE_NUMBERS], method);
    const struct method_entry *entry = method_lookup(session, method);
    uint64_t id = entry != NULL && entry->is_traced ? entry->id : 0;
    atomic_store(known, session->number << METHOD_SESSION_SHIFT | id);
    return id;
}

#define MOST_BETWEEN 16u

static struct {
    jmethodID methods[MOST_BETWEEN];
    size_t count;
} in_between;

void method_called_through(jmethodID probe)
{
    if (in_between.count < MOST_BETWEEN)
        in_between.methods[in_between.count++] = probe;
}

static bool is_in_between(jmethodID method)
{
    for (size_t i = 0; i < in_between.count; i++)
        if (in_between.methods[i] == method)
            return true;
    return false;
}

/* The JVM adds a suffix to a hidden class's name in the class file. */
static uint32_t method_numbers_hash_name(const char *class_name, const char *method_name,
                                         const char *descriptor)
{
    uint64_t hash = text_hash_more(TEXT_HASH_START, class_name, strcspn(class_name, ".+;"));
    hash = text_hash_more(hash, "", 1);
    hash = text_hash_more(hash, method_name, strlen(method_name) + 1);
    hash = text_hash_more(hash, descriptor, strlen(descriptor));
    return (uint32_t) (hash ^ hash >> 32) | 1;
}

void method_name_number(uint32_t number, const char *class_name, const char *method_name,
                        const char *descriptor)
{
    struct method_page *page = method_page_of(number);
    if (page != NULL)
        atomic_store(&page->names[number % METHOD_PAGE_NUMBERS],
                     method_numbers_hash_name(class_name, method_name, descriptor));
}

static char *signature_of_class(jmethodID method)
{
    JNIEnv *jni = jvm_jni();
    jclass class = jni != NULL ? method_owner(method) : NULL;
    if (class == NULL)
        return NULL;
    char *signature = class_signature(class);
    (*jni)->DeleteLocalRef(jni, class);
    return signature;
}

static bool is_called(jmethodID method, uint32_t wanted)
{
    char *class = signature_of_class(method), *name = NULL, *descriptor = NULL;
    bool is_it = class != NULL &&
                 (*tracer.jvmti)->GetMethodName(tracer.jvmti, method, &name, &descriptor, NULL) ==
                     JVMTI_ERROR_NONE &&
                 method_numbers_hash_name(class + 1, name, descriptor) == wanted;
    jvm_free(class);
    jvm_free(name);
    jvm_free(descriptor);
    return is_it;
}

/* Returns the method whose probe calls this: the frame below it. A number is given to a method
 * while its class is being loaded, when there is no jmethodID yet; only a call shows it. The name
 * is compared, because JVMTI hides the frames of a virtual thread that changes its carrier, and
 * another method would be taken for this one for the whole session. */
uint64_t method_find(struct session *session, uint32_t number)
{
    struct method_page *page = method_page_of(number);
    uint32_t wanted = page != NULL ? atomic_load(&page->names[number % METHOD_PAGE_NUMBERS]) : 0;
    jmethodID method = own_frame_method(1);
    if (method != NULL && is_in_between(method))
        method = own_frame_method(2);
    return method != NULL && (wanted == 0 || is_called(method, wanted))
               ? know(session, number, method)
               : 0;
}

jclass method_declaring_class(uint32_t number)
{
    struct method_page *page = method_page_of(number);
    jmethodID method = page != NULL ? atomic_load(&page->ids[number % METHOD_PAGE_NUMBERS]) : NULL;
    return method != NULL ? method_owner(method) : NULL;
}

uint64_t method_class_of(struct session *session, uint32_t number)
{
    struct method_page *page = method_page_of(number);
    if (page == NULL)
        return 0;
    _Atomic uint64_t *known = &page->classes[number % METHOD_PAGE_NUMBERS];
    uint64_t packed = atomic_load_explicit(known, memory_order_relaxed);
    if (__builtin_expect(packed >> METHOD_SESSION_SHIFT == session->number, 1))
        return packed & METHOD_ID_MASK;
    JNIEnv *jni = jvm_jni();
    jclass class = method_declaring_class(number);
    if (class == NULL || jni == NULL)
        return 0;
    uint64_t id = class_number(session, class);
    (*jni)->DeleteLocalRef(jni, class);
    atomic_store(known, session->number << METHOD_SESSION_SHIFT | id);
    return id;
}

bool method_know(struct session *session, uint32_t number, jmethodID method)
{
    _Atomic uint64_t *known = method_known(number);
    if (known == NULL)
        return false;
    uint64_t packed = atomic_load_explicit(known, memory_order_relaxed);
    uint64_t id = packed >> METHOD_SESSION_SHIFT == session->number ? packed & METHOD_ID_MASK
                                                                    : know(session, number, method);
    return id != 0;
}

static struct {
    pthread_mutex_t lock;
    struct hash_numbers numbers;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t method_number_of(uint64_t loader, const char *class_name, const char *method_name,
                          const char *descriptor)
{
    uint64_t hash =
        text_hash_names(loader, (const char *const[]){class_name, method_name, descriptor}, 3);
    uint32_t number = 0;
    pthread_mutex_lock(&table.lock);
    struct hash_number *place = hash_numbers_place(&table.numbers, hash);
    if (place != NULL) {
        if (place->hash == 0 && (number = method_new_number()) != 0)
            hash_numbers_put(&table.numbers, place, hash, number);
        number = (uint32_t) place->number;
    }
    pthread_mutex_unlock(&table.lock);
    return number;
}
