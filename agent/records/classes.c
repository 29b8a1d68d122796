/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and loaders: their names, and their numbers in a session's dictionary. */
#include "agent/records/classes.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/hash_numbers.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/hotspot/hash_state.h"
#include "agent/hotspot/slots.h"
#include "agent/records/global_stream.h"
#include "agent/records/named_table.h"
#include "agent/records/redaction.h"
#include "agent/records/threads.h"
#include "format/core/hash.h"
#include "format/core/hash_index.h"

#define NAME_LIMIT 65536u
#define NUMBER_BITS 40u

/* Classes that have been reported but not tagged yet, by the hash of their signatures. JDKs after
 * 17 draw an identity hash for a tagged object. If linking a class draws one for its mirror, an
 * earlier tag takes that draw away from the thread that links it. If the mirror has none yet
 * (JAVA_LINKS_WITH_HASH), any tag takes it away from the thread that asks for it. */
static struct step_index untagged;

static void set_tagged(struct named_object *class, uint64_t index)
{
    if (class->is_untagged)
        step_index_remove(&untagged, class->untagged_hash, (uint32_t) index);
    class->is_untagged = false;
}

/* Empties the entries of classes that were unloaded. Call with the class lock held, while no thread
 * is in a probe. */
static void empty_gone(struct named_table *table, JNIEnv *jni)
{
    for (uint64_t index = 1; index < table->count; index++) {
        struct named_object *named = named_at(table, index);
        jweak mirror = named != NULL ? atomic_load(&named->mirror) : NULL;
        if (mirror == NULL || !(*jni)->IsSameObject(jni, mirror, NULL))
            continue;
        (*jni)->DeleteWeakGlobalRef(jni, atomic_exchange(&named->mirror, NULL));
        set_tagged(named, index);
        free(named->name);
        named->name = NULL;
        named->name_length = 0;
        atomic_store(&named->object, 0);
        atomic_store(&named->session_number, 0);
        named->loader = table->empty;
        table->empty = index;
    }
}

void classes_forget_unloaded(JNIEnv *jni, uint64_t last_session)
{
    static uint64_t emptied_after;
    if (!lock_within(&class_lock, PATIENCE_NS))
        return;
    if (last_session != emptied_after)
        named_reuse(&named_classes);
    emptied_after = last_session;
    empty_gone(&named_classes, jni);
    pthread_mutex_unlock(&class_lock);
}

bool class_is_filler(jlong tag)
{
    static const char *const fillers[] = {"[Ljdk/internal/vm/FillerElement;",
                                          "jdk/internal/vm/FillerObject"};
    const struct named_object *class = (tag & TAG_CLASS) != 0 ? named_of_tag(tag) : NULL;
    for (size_t i = 0; class != NULL && i < sizeof fillers / sizeof fillers[0]; i++)
        if (class->name_length == strlen(fillers[i]) &&
            memcmp(class->name, fillers[i], class->name_length) == 0)
            return true;
    return false;
}

/* Returns the number in the session's dictionary, or 0. */
static uint64_t number_in(const struct session *session, const struct named_object *class)
{
    uint64_t packed = atomic_load_explicit(&class->session_number, memory_order_acquire);
    return packed >> NUMBER_BITS == session->number ? packed & ((UINT64_C(1) << NUMBER_BITS) - 1)
                                                    : 0;
}

uint64_t class_number_of_tag(const struct session *session, jlong tag)
{
    const struct named_object *class = (tag & TAG_CLASS) != 0 ? named_of_tag(tag) : NULL;
    return class != NULL ? number_in(session, class) : 0;
}

/* Converts "Lp/Name;" to "p/Name"; arrays stay as they are. */
static bool set_class_name(struct named_object *class, const char *signature)
{
    size_t length = strlen(signature);
    if (length > NAME_LIMIT || (class->name = malloc(length + 1)) == NULL)
        return false;
    class->name_length = (uint32_t) utf8_of_modified(signature, class->name);
    if (class->name_length >= 2 && class->name[0] == 'L') {
        class->name_length -= 2;
        memmove(class->name, class->name + 1, class->name_length);
    }
    class->name[class->name_length] = '\0';
    return true;
}

/* Returns the tag, or 0 if it is only a snapshot's. */
static uint64_t lasting(jlong tag)
{
    return (tag & TAG_PASSING) == TAG_PASSING ? 0 : (uint64_t) tag;
}

/* Returns the loader's number, assigned at first use; 0: out of memory. The caller holds the class
 * lock. */
static uint64_t number_loader(jobject loader)
{
    jlong tag = 0;
    if ((*tracer.jvmti)->GetTag(tracer.jvmti, loader, &tag) != JVMTI_ERROR_NONE)
        return 0;
    if ((tag & TAG_LOADER) != 0)
        return (uint64_t) (tag & ~TAG_MARKS);
    uint64_t number = named_add(&named_loaders);
    if (number != 0) {
        atomic_store(&named_at(&named_loaders, number)->object, lasting(tag));
        (*tracer.jvmti)->SetTag(tracer.jvmti, loader, TAG_LOADER | (jlong) number);
    }
    return number;
}

uint64_t loader_number(jobject loader)
{
    if (!lock_within(&class_lock, PATIENCE_NS))
        return 0;
    hash_state_enter();
    uint64_t number = number_loader(loader);
    hash_state_leave();
    pthread_mutex_unlock(&class_lock);
    return number;
}

/* Returns 0 for the boot loader. The caller holds the class lock. */
static uint64_t loader_of_class(jclass mirror)
{
    jobject loader = NULL;
    if ((*tracer.jvmti)->GetClassLoader(tracer.jvmti, mirror, &loader) != JVMTI_ERROR_NONE ||
        loader == NULL)
        return 0;
    uint64_t number = number_loader(loader);
    JNIEnv *jni = jvm_jni();
    if (jni != NULL)
        (*jni)->DeleteLocalRef(jni, loader);
    return number;
}

/* Returns a new entry for the class; 0: out of memory. The caller holds the class lock. */
static uint64_t classes_add_class(JNIEnv *jni, jclass mirror, const char *signature)
{
    uint64_t index = named_add(&named_classes);
    struct named_object *class = named_at(&named_classes, index);
    if (class == NULL || !set_class_name(class, signature))
        return 0;
    class->loader = loader_of_class(mirror);
    atomic_store(&class->mirror, object_weakly(jni, mirror));
    return index;
}

/* Returns the index of a class of `untagged`; 0: it is not there. */
static uint64_t find_untagged(JNIEnv *jni, uint32_t hash, jclass mirror)
{
    uint32_t index;
    STEP_INDEX_EACH (&untagged, hash, index)
        if ((*jni)->IsSameObject(jni, atomic_load(&named_at(&named_classes, index)->mirror),
                                 mirror))
            return index;
    return 0;
}

static bool set_untagged(struct named_object *class, uint64_t index, uint32_t hash)
{
    class->untagged_hash = hash;
    class->is_untagged = class->is_untagged || step_index_add(&untagged, hash, (uint32_t) index);
    return class->is_untagged;
}

/* Returns the index of a class that has no tag. The caller holds the class lock. */
static uint64_t index_untagged(jclass mirror, bool stays_untagged)
{
    JNIEnv *jni = jvm_jni();
    char *signature = jni != NULL ? class_signature(mirror) : NULL;
    if (signature == NULL)
        return 0;
    uint32_t hash = (uint32_t) text_hash_key(text_hash(signature));
    uint64_t index = find_untagged(jni, hash, mirror);
    if (index == 0)
        index = classes_add_class(jni, mirror, signature);
    jvm_free(signature);
    struct named_object *class = named_at(&named_classes, index);
    if (class != NULL && !stays_untagged)
        set_tagged(class, index);
    return class != NULL && stays_untagged && !set_untagged(class, index, hash) ? 0 : index;
}

/* Returns the class's tag, assigned at first use. The caller holds the class lock. */
static jlong tag_class(jclass mirror)
{
    jlong tag = 0;
    if ((*tracer.jvmti)->GetTag(tracer.jvmti, mirror, &tag) != JVMTI_ERROR_NONE)
        return 0;
    if ((tag & TAG_CLASS) != 0)
        return tag;
    uint64_t index = index_untagged(mirror, false);
    if (index == 0)
        return 0;
    atomic_store(&named_at(&named_classes, index)->object,
                 (tag & TAG_MARKS) == 0 ? lasting(tag) : 0);
    tag = TAG_CLASS | (jlong) index;
    return (*tracer.jvmti)->SetTag(tracer.jvmti, mirror, tag) == JVMTI_ERROR_NONE ? tag : 0;
}

/* Records the class. It existed before only if the clock still stands at the session's start. */
static void classes_put_class(struct session *session, uint64_t number, bool existing)
{
    uint64_t stamp = thread_stamp(session, session->global);
    bool before = existing && stamp == session->stamps.first;
    enum step_live_kind kind = before ? STEP_LIVE_CLASS_EXISTING : STEP_LIVE_CLASS_LOAD;
    const uint64_t record[2] = {live_word(kind, stamp), number};
    global_write(session, record, 2, 1);
}

/* Returns the record of a definition, but for its first word. */
static uint64_t *definition_words(const char *name, size_t length, uint64_t loader, size_t *count)
{
    *count = 3 + (length + 7) / 8;
    uint64_t *words = calloc(*count, sizeof *words);
    if (words != NULL) {
        memcpy(&words[3], name, length);
        words[1] = loader;
        words[2] = length;
    }
    return words;
}

/* Returns true if the boot or the platform loader has defined the class. Its name alone does not
 * tell: a loader of the program's may define a class in any package but those of java/. */
static bool class_is_of_jdk(const struct named_object *class)
{
    JNIEnv *jni = jvm_jni();
    jobject loader = NULL, mirror = jni != NULL ? (*jni)->NewLocalRef(jni, class->mirror) : NULL;
    if (mirror == NULL)
        return false;
    bool is = (*tracer.jvmti)->GetClassLoader(tracer.jvmti, mirror, &loader) == JVMTI_ERROR_NONE &&
              !class_is_of_application(jni, loader);
    (*jni)->DeleteLocalRef(jni, loader);
    (*jni)->DeleteLocalRef(jni, mirror);
    return is;
}

/* The same for a class that may have to be redacted. */
static uint64_t *class_words(const struct session *session, const struct named_object *class,
                             bool spared, size_t *count)
{
    if (!redaction_of_names(session) || spared)
        return definition_words(class->name, class->name_length, class->loader, count);
    char *other = redaction_class(class->name);
    uint64_t *words =
        other != NULL ? definition_words(other, strlen(other), class->loader, count) : NULL;
    free(other);
    return words;
}

/* Writes a definition, whose words it frees, and the class's event. Returns its number; 0: out of
 * memory. The number is taken under `global_lock`, so definitions are in the stream in the order of
 * their numbers. */
static uint64_t put_definition(struct session *session, uint64_t *words, size_t count,
                               bool existing, bool spared)
{
    if (words == NULL)
        return 0;
    pthread_mutex_lock(&session->global_lock);
    uint64_t number = atomic_fetch_add(&session->class_count, 1) + 1;
    if (number >> STEP_LIVE_CLASS_BITS != 0) { /* 134 million classes: metaspace ends before */
        pthread_mutex_unlock(&session->global_lock);
        free(words);
        return 0;
    }
    words[0] = live_word(STEP_LIVE_DEFINE_CLASS, number);
    if (redaction_of_names(session))
        redaction_note_class(session, number, spared);
    global_write(session, words, count, 0);
    classes_put_class(session, number, existing);
    pthread_mutex_unlock(&session->global_lock);
    free(words);
    return number;
}

uint64_t class_define(struct session *session, const char *name, size_t length, uint64_t loader)
{
    size_t count = 0;
    uint64_t *words = definition_words(name, length, loader, &count);
    return put_definition(session, words, count, false, false);
}

/* Gives the class its number. The caller holds the class lock, so no other thread numbers this
 * class.
 *
 * The number is published last (release), after the definition is in the global stream; it pairs
 * with the acquire load in number_in(). A thread that reads the number without the lock then writes
 * records with it, and the definition must be committed before them: take_all_full() of
 * session_drain.c relies on that. */
static uint64_t classes_define_class(struct session *session, struct named_object *class,
                                     bool existing)
{
    size_t count = 0;
    bool spared = redaction_of_names(session) && redaction_spares_class(class->name) &&
                  class_is_of_jdk(class);
    uint64_t *words = class_words(session, class, spared, &count);
    uint64_t number = put_definition(session, words, count, existing, spared);
    if (number != 0)
        atomic_store_explicit(&class->session_number, session->number << NUMBER_BITS | number,
                              memory_order_release);
    return number;
}

/* Some JDKs draw a mirror's hash when a class is linked, others when the program asks for it. On
 * the latter, sessions that find no object through its tag do not tag classes. */
static bool tags_classes(const struct session *session)
{
    return tracer.java_major < JAVA_TAGS_BY_HASH || tracer.java_major >= JAVA_LINKS_WITH_HASH ||
           !hash_state_is_known() || (session->options.events & TRACED_ALLOC) != 0;
}

/* Returns true if the mirror has its identity hash, or needs none. */
static bool may_be_tagged(const struct session *session, jclass class)
{
    const jint linked = JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ARRAY |
                        JVMTI_CLASS_STATUS_PRIMITIVE | JVMTI_CLASS_STATUS_ERROR;
    jint status = 0;
    if (tracer.java_major < JAVA_TAGS_BY_HASH || !hash_state_is_known() || !tags_classes(session))
        return tags_classes(session);
    return (*tracer.jvmti)->GetClassStatus(tracer.jvmti, class, &status) != JVMTI_ERROR_NONE ||
           (status & linked) != 0;
}

/* Returns the entry of a class that gets no tag now. The caller holds the class lock. */
static struct named_object *named_untagged(jclass class)
{
    jlong tag = 0;
    uint64_t index = 0;
    hash_state_enter();
    if ((*tracer.jvmti)->GetTag(tracer.jvmti, class, &tag) == JVMTI_ERROR_NONE)
        index =
            (tag & TAG_CLASS) != 0 ? (uint64_t) (tag & ~TAG_MARKS) : index_untagged(class, true);
    hash_state_leave();
    return named_at(&named_classes, index);
}

static struct named_object *named_tagged(jclass class)
{
    hash_state_enter();
    jlong tag = tag_class(class);
    hash_state_leave();
    return named_of_tag(tag);
}

/* The caller holds the class lock. */
static uint64_t number_named(struct session *session, struct named_object *class, bool existing)
{
    uint64_t number = class != NULL ? number_in(session, class) : 0;
    return class != NULL && number == 0 ? classes_define_class(session, class, existing) : number;
}

/* `name`: NULL, or set to the name, valid as long as the class is loaded. */
static uint64_t number_class(struct session *session, jclass mirror, bool may_tag, bool existing,
                             const char **name)
{
    jlong tag = 0;
    if ((*tracer.jvmti)->GetTag(tracer.jvmti, mirror, &tag) != JVMTI_ERROR_NONE)
        return 0;
    uint64_t number = class_number_of_tag(session, tag);
    struct named_object *named = number != 0 ? named_of_tag(tag) : NULL;
    if (number == 0) {
        if (!session_lock(session, &class_lock))
            return 0;
        named = may_tag ? named_tagged(mirror) : named_untagged(mirror);
        number = number_named(session, named, existing);
        pthread_mutex_unlock(&class_lock);
    }
    if (name != NULL)
        *name = named != NULL ? named->name : NULL;
    return number;
}

uint64_t class_number(struct session *session, jclass class)
{
    return class_number_and_name(session, class, NULL);
}

uint64_t class_number_and_name(struct session *session, jclass class, const char **name)
{
    return number_class(session, class, tags_classes(session), tracer_is_starting(session), name);
}

void class_loaded(struct session *session, jclass class, bool existing)
{
    number_class(session, class, may_be_tagged(session, class), existing, NULL);
}

/* Returns the class's entry in the thread's cache, and fills it.
 *
 * A reference is the address of the slot with the object's address. That address is read only as a
 * hint and decides nothing: a collection may have moved the mirror, or put another one at its
 * place. IsSameObject() with the entry's weak reference decides. The cache avoids GetTag(), which
 * takes the one lock of the JVM's tag map. Pairs of entries let two classes share a place, the last
 * one found being first. */
struct class_cache_entry *class_cached(struct session *session, struct os_thread *os, JNIEnv *jni,
                                       jclass class)
{
    uintptr_t hint = slot_word(class);
    size_t slot = (size_t) (step_hash(hint) >> 57);
    struct class_cache_entry *pair = &os->classes[2 * slot % CLASS_CACHE];
    struct class_cache_entry *cached = pair[1].hint == hint ? &pair[1] : pair;
    if (cached->hint == hint && cached->session == session->number &&
        (*jni)->IsSameObject(jni, class, cached->mirror))
        return cached;
    uint64_t number = class_number(session, class);
    jlong tag = number != 0 ? jvm_tag(class) : 0;
    os->uncached = (struct class_cache_entry){.number = number};
    if (number == 0 || class_number_of_tag(session, tag) != number)
        return &os->uncached;
    jweak mirror = atomic_load(&named_of_tag(tag)->mirror);
    if (mirror == NULL)
        return &os->uncached;
    if (cached->hint != hint)
        pair[1] = pair[0];
    *cached = (struct class_cache_entry){
        .hint = hint, .mirror = mirror, .session = session->number, .number = number};
    return cached;
}

const char *class_name_of_tag(jlong tag)
{
    const struct named_object *named = (tag & TAG_CLASS) != 0 ? named_of_tag(tag) : NULL;
    return named != NULL ? named->name : NULL;
}

int class_element_shift(jclass class, int references)
{
    return class_element_shift_of_tag(jvm_tag(class), references);
}

int class_element_shift_of_tag(jlong tag, int references)
{
    static const char primitives[] = "BZCSIFJD"; /* two of each size */
    const char *name = class_name_of_tag(tag);
    if (name == NULL || name[0] != '[')
        return -1;
    const char *found = name[1] != '\0' ? strchr(primitives, name[1]) : NULL;
    return found != NULL ? (int) (found - primitives) / 2 : references;
}

/* Without include=, the application's methods are traced: those not of the boot and platform
 * loaders. */
bool class_is_of_application(JNIEnv *jni, jobject loader)
{
    jobject platform = loader_of_platform(jni);
    return loader != NULL && !(*jni)->IsSameObject(jni, loader, platform);
}
