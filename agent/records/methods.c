/* SPDX-License-Identifier: Apache-2.0 */
/* An open-addressing table of methods. */
#include "agent/records/methods.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"
#include "format/core/hash.h"

/* Read without a lock, which step_index does not support. A table that became too small is kept, as
 * readers may still use it until the session ends. */
struct method_table {
    struct method_table *smaller; /* the one before */
    size_t mask;
    size_t count;
    _Atomic(struct method_entry *) entries[];
};

static _Atomic(struct method_table *) methods;
static pthread_mutex_t method_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t method_hash(const void *key)
{
    return (size_t) (step_hash((uintptr_t) key) >> 20);
}

static struct method_entry *methods_find_entry(struct method_table *table, const void *key)
{
    if (table == NULL)
        return NULL;
    for (size_t i = method_hash(key) & table->mask;; i = (i + 1) & table->mask) {
        struct method_entry *entry = atomic_load_explicit(&table->entries[i], memory_order_acquire);
        if (entry == NULL || entry->key == key)
            return entry;
    }
}

static void method_insert(struct method_table *table, struct method_entry *entry)
{
    size_t i = method_hash(entry->key) & table->mask;
    while (atomic_load(&table->entries[i]) != NULL)
        i = (i + 1) & table->mask;
    atomic_store_explicit(&table->entries[i], entry, memory_order_release);
    table->count++;
}

/* Makes room for one more. The caller holds the method lock. */
static struct method_table *method_table_grown(void)
{
    struct method_table *old = atomic_load(&methods);
    if (old != NULL && old->count < old->mask / 2)
        return old;
    size_t size = old != NULL ? (old->mask + 1) * 2 : 4096;
    struct method_table *table =
        memory_counted(MEMORY_TABLES, calloc(1, sizeof *table + size * sizeof table->entries[0]));
    if (table == NULL)
        return NULL;
    table->mask = size - 1;
    table->smaller = old;
    for (size_t i = 0; old != NULL && i <= old->mask; i++)
        if (atomic_load(&old->entries[i]) != NULL)
            method_insert(table, atomic_load(&old->entries[i]));
    atomic_store_explicit(&methods, table, memory_order_release);
    return table;
}

/* ---- source files of classes ---- */

#define TEXT_LIMIT 65536u /* a longer map is left out */

static struct session_dictionary sources = {.lock = PTHREAD_MUTEX_INITIALIZER};

void source_files_prepare(void)
{
    jvmtiCapabilities wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_source_file_name = 1;
    jvm_add_capabilities(&wanted);
    memset(&wanted, 0, sizeof wanted);
    wanted.can_get_source_debug_extension = 1;
    jvm_add_capabilities(&wanted);
}

/* Writes the source file of a class with this number in the trace, once in a session; nothing for a
 * class that names none. The caller holds no lock. */
static void source_file_define(struct session *session, jclass mirror, uint64_t class)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    char *file = NULL, *map = NULL;
    if (!session_lock(session, &sources.lock))
        return;
    if (dictionary_add_class(&sources, session, class)) {
        if ((*jvmti)->GetSourceFileName(jvmti, mirror, &file) != JVMTI_ERROR_NONE)
            file = NULL;
        if ((*jvmti)->GetSourceDebugExtension(jvmti, mirror, &map) != JVMTI_ERROR_NONE)
            map = NULL;
        if (map != NULL && strlen(map) > TEXT_LIMIT)
            map[0] = '\0';
        if (file != NULL || map != NULL)
            global_define(session, &sources.count, class, STEP_LIVE_IS_SOURCE,
                          file != NULL ? file : "", map != NULL ? map : "");
        jvm_free(file);
        jvm_free(map);
    }
    pthread_mutex_unlock(&sources.lock);
}

/* ---- methods ---- */

static bool is_traced(const struct session *session, jclass mirror, const char *name)
{
    JNIEnv *jni = NULL;
    jobject loader = NULL;
    if (!options_trace_class(&session->options, name) || session->options.include.count != 0)
        return options_trace_class(&session->options, name);
    if ((jni = jvm_jni()) == NULL ||
        (*tracer.jvmti)->GetClassLoader(tracer.jvmti, mirror, &loader) != JVMTI_ERROR_NONE)
        return false;
    bool traced = class_is_of_application(jni, loader);
    (*jni)->DeleteLocalRef(jni, loader);
    return traced;
}

static void describe_method(struct session *session, struct method_entry *entry, jmethodID method)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jclass mirror = method_owner(method);
    jint modifiers = 0;
    char *name = NULL, *descriptor = NULL;
    if (mirror == NULL)
        return;
    const char *class_name = NULL;
    uint64_t class = class_number_and_name(session, mirror, &class_name);
    if (class != 0 && class_name != NULL &&
        (*jvmti)->GetMethodName(jvmti, method, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetMethodModifiers(jvmti, method, &modifiers) == JVMTI_ERROR_NONE) {
        entry->is_static = (modifiers & 0x0008) != 0;
        entry->is_traced = is_traced(session, mirror, class_name);
        if (entry->is_traced || session->options.stack != 0 ||
            session->references.snapshot_count != 0) {
            source_file_define(session, mirror, class);
            entry->id = global_define(session, &session->method_count, class, (uint32_t) modifiers,
                                      name, descriptor);
        }
    }
    jvm_free(name);
    jvm_free(descriptor);
    JNIEnv *jni = jvm_jni();
    if (jni != NULL)
        (*jni)->DeleteLocalRef(jni, mirror);
}

/* Other threads read the entry without a lock. */
static void methods_publish(struct method_entry *entry, const struct method_entry *fresh,
                            const struct session *session)
{
    entry->id = fresh->id;
    entry->is_static = fresh->is_static;
    entry->is_traced = fresh->is_traced;
    atomic_store_explicit(&entry->session, session->number, memory_order_release);
}

/* The method is described outside of the lock, as that asks the JVM, which may wait for a
 * safepoint; under the lock the entry may be there already, and then the description is dropped.
 * The dictionary may have two entries for one method in that case, which is allowed: both say the
 * same.
 *
 * A reader follows table, slot and entry without a lock. Each step is a release store in the writer
 * and an acquire load here: the table after it was filled, the slot after the entry's key, the
 * entry's session after its other members. A table that is too small is kept with the new one,
 * since a reader may be in it; an entry added meanwhile is only in the new one, and such a reader
 * comes here with the lock. */
const struct method_entry *method_lookup(struct session *session, jmethodID method)
{
    struct method_entry *entry =
        methods_find_entry(atomic_load_explicit(&methods, memory_order_acquire), method);
    if (entry != NULL && method_is_of(entry, session))
        return entry;
    struct method_entry fresh = {.key = method};
    describe_method(session, &fresh, method);
    pthread_mutex_lock(&method_lock);
    entry = methods_find_entry(atomic_load(&methods), method);
    if (entry == NULL || !method_is_of(entry, session)) {
        struct method_table *table = method_table_grown();
        if (entry == NULL && table != NULL &&
            (entry = memory_counted(MEMORY_TABLES, calloc(1, sizeof *entry))) != NULL) {
            entry->key = method;
            methods_publish(entry, &fresh, session);
            method_insert(table, entry);
        } else if (entry != NULL) {
            methods_publish(entry, &fresh, session);
        }
    }
    pthread_mutex_unlock(&method_lock);
    return entry;
}

/* Called while no thread is in a probe, so no reader is left in any of the tables. */
void methods_forget(void)
{
    pthread_mutex_lock(&method_lock);
    struct method_table *table = atomic_exchange(&methods, NULL);
    for (size_t i = 0; table != NULL && i <= table->mask; i++)
        memory_free(MEMORY_TABLES, atomic_load(&table->entries[i]));
    while (table != NULL) {
        struct method_table *smaller = table->smaller;
        memory_free(MEMORY_TABLES, table);
        table = smaller;
    }
    pthread_mutex_unlock(&method_lock);
}
