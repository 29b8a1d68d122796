/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a session's fields, by the hash of class, name and descriptor.
 *
 * A probe of a store passes a number for its field, but the rewriter cannot say which field that
 * is. It sees a name, a descriptor and the class that the instruction names; the field may be
 * declared in a superclass of it. To find that out, classes would have to be loaded while another
 * one is being loaded, before the program asks for them and in another order than its own. So the
 * number stands for the name alone (struct field_site). The first store of a session looks the
 * field up (field_of_number()): from the class of the object that is stored into upwards or, for a
 * static field, among the classes that the calling class sees. The probe comes after the store, so
 * by then the JVM has resolved the field itself, and its class is loaded.
 *
 * Sites outlive sessions, as rewritten classes do: their numbers are in the code. What a site was
 * found to be is of one session, whose number stands with it, so nothing need be reset. Pages of
 * sites are never moved or freed; a probe reads one without the lock. */
#include "agent/references/fields.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/hash_numbers.h"
#include "agent/base/jvm_classes.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"

static struct session_dictionary table = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t field_number(struct session *session, uint64_t class, const char *name,
                      const char *descriptor, uint64_t modifiers)
{
    uint64_t hash = text_hash_names(class, (const char *const[]){name, descriptor}, 2);
    pthread_mutex_lock(&table.lock);
    uint64_t number =
        dictionary_number(&table, session, hash, class,
                          (modifiers & UINT32_MAX) | STEP_LIVE_IS_FIELD, name, descriptor);
    pthread_mutex_unlock(&table.lock);
    return number;
}

uint64_t field_number_of_id(struct session *session, JNIEnv *jni, jclass class, jfieldID field)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jclass declaring = NULL;
    char *name = NULL, *descriptor = NULL;
    jint modifiers = 0;
    uint64_t number = 0;
    if ((*jvmti)->GetFieldDeclaringClass(jvmti, class, field, &declaring) != JVMTI_ERROR_NONE)
        return 0;
    uint64_t declared_in = class_number(session, declaring);
    if (declared_in != 0 &&
        (*jvmti)->GetFieldName(jvmti, class, field, &name, &descriptor, NULL) == JVMTI_ERROR_NONE &&
        (*jvmti)->GetFieldModifiers(jvmti, class, field, &modifiers) == JVMTI_ERROR_NONE)
        number = field_number(session, declared_in, name, descriptor,
                              (uint32_t) modifiers & FIELD_MODIFIERS);
    jvm_free(name);
    jvm_free(descriptor);
    (*jni)->DeleteLocalRef(jni, declaring);
    return number;
}

#define PAGE_SITES 1024u
#define PAGES 16384u
/* Limit of failed lookups of a field in each session. A lookup goes through classes and may set an
 * exception. A field that is not found now may be found from another caller, but after eight
 * attempts that is not worth a lookup at each store. */
#define TRIES 8u

struct field_site {
    char *owner, *name, *descriptor; /* one allocation */
    bool is_static;
    _Atomic uint64_t known; /* session << 40 | the dictionary's number */
    _Atomic uint64_t tries; /* session << 40 | number of failed lookups */
};

static _Atomic(struct field_site *) pages[PAGES];
static struct {
    pthread_mutex_t lock;
    struct hash_numbers numbers;
    uint32_t last;
} sites = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct field_site *site_at(uint32_t number)
{
    struct field_site *page =
        number < PAGES * PAGE_SITES
            ? atomic_load_explicit(&pages[number / PAGE_SITES], memory_order_acquire)
            : NULL;
    return page != NULL ? &page[number % PAGE_SITES] : NULL;
}

static bool name_site(struct field_site *site, const char *owner, const char *name,
                      const char *descriptor, bool is_static)
{
    size_t a = strlen(owner) + 1, b = strlen(name) + 1, c = strlen(descriptor) + 1;
    char *text = malloc(a + b + c);
    if (text == NULL)
        return false;
    memcpy(text, owner, a);
    memcpy(text + a, name, b);
    memcpy(text + a + b, descriptor, c);
    site->name = text + a;
    site->descriptor = text + a + b;
    site->is_static = is_static;
    site->owner = text;
    return true;
}

/* The caller holds the lock. */
static uint32_t new_site(const char *owner, const char *name, const char *descriptor,
                         bool is_static)
{
    uint32_t number = sites.last + 1;
    if (number >= PAGES * PAGE_SITES)
        return 0;
    if (site_at(number) == NULL) {
        struct field_site *page = calloc(PAGE_SITES, sizeof *page);
        if (page == NULL)
            return 0;
        atomic_store_explicit(&pages[number / PAGE_SITES], page, memory_order_release);
    }
    if (!name_site(site_at(number), owner, name, descriptor, is_static))
        return 0;
    sites.last = number;
    return number;
}

uint32_t field_site_number(uint64_t loader, bool unique, const char *owner, const char *name,
                           const char *descriptor, bool is_static)
{
    uint64_t hash =
        text_hash_names(loader << 1 | is_static, (const char *const[]){owner, name, descriptor}, 3);
    uint32_t number = 0;
    struct hash_number *place;
    pthread_mutex_lock(&sites.lock);
    if (unique) {
        number = new_site(owner, name, descriptor, is_static);
    } else if ((place = hash_numbers_place(&sites.numbers, hash)) != NULL) {
        if (place->hash == 0 && (number = new_site(owner, name, descriptor, is_static)) != 0)
            hash_numbers_put(&sites.numbers, place, hash, number);
        number = (uint32_t) place->number;
    }
    pthread_mutex_unlock(&sites.lock);
    return number;
}

static bool is_called(jclass class, const char *owner)
{
    char *signature = class_signature(class);
    size_t length = strlen(owner);
    /* "Lp/Name;", or "Lp/Name.0x...;" for a hidden class */
    bool is_it = signature != NULL && signature[0] == 'L' &&
                 strncmp(signature + 1, owner, length) == 0 &&
                 (signature[length + 1] == ';' || signature[length + 1] == '.');
    jvm_free(signature);
    return is_it;
}

/* Returns the holder's class, or the superclass of it that has this name. */
static jclass class_above(JNIEnv *jni, jobject holder, const char *owner)
{
    jclass class = (*jni)->GetObjectClass(jni, holder);
    while (class != NULL && !is_called(class, owner))
        class = class_go_up(jni, class);
    return class;
}

static jclass class_of_loader(JNIEnv *jni, jobject loader, const char *owner)
{
    jint count = 0;
    jclass *classes = NULL, found = NULL;
    if (!references_begin(jni, MOST_REFERENCES))
        return NULL;
    if ((*tracer.jvmti)->GetClassLoaderClasses(tracer.jvmti, loader, &count, &classes) !=
        JVMTI_ERROR_NONE)
        count = 0;
    for (jint i = 0; i < count && found == NULL; i++)
        if (is_called(classes[i], owner))
            found = classes[i];
    jvm_free(classes);
    return (*jni)->PopLocalFrame(jni, found);
}

/* Returns the calling class if it has this name, or a class of that name that it sees. */
static jclass class_seen(JNIEnv *jni, const char *owner)
{
    jmethodID method = own_frame_method(1);
    jclass caller = method != NULL ? method_owner(method) : NULL, found = caller;
    jobject loader = NULL;
    if (caller == NULL || is_called(caller, owner))
        return caller;
    if ((*tracer.jvmti)->GetClassLoader(tracer.jvmti, caller, &loader) == JVMTI_ERROR_NONE)
        found = class_of_loader(jni, loader, owner);
    (*jni)->DeleteLocalRef(jni, loader);
    (*jni)->DeleteLocalRef(jni, caller);
    return found == caller ? NULL : found;
}

static uint64_t fields_look_up(struct session *session, JNIEnv *jni, const struct field_site *site,
                               jobject holder)
{
    uint64_t number = 0;
    jclass class =
        site->is_static ? class_seen(jni, site->owner) : class_above(jni, holder, site->owner);
    if (class == NULL)
        return 0;
    jthrowable of_program = exception_set_aside(jni);
    jfieldID field = site->is_static
                         ? (*jni)->GetStaticFieldID(jni, class, site->name, site->descriptor)
                         : (*jni)->GetFieldID(jni, class, site->name, site->descriptor);
    exception_restore(jni, of_program, field == NULL, THROWN_BY_LOOKUP);
    if (field != NULL)
        number = field_number_of_id(session, jni, class, field);
    (*jni)->DeleteLocalRef(jni, class);
    return number;
}

static uint64_t fields_find(struct session *session, JNIEnv *jni, struct field_site *site,
                            jobject holder)
{
    uint64_t tries = atomic_load(&site->tries), mine = session->number << FIELD_SESSION_SHIFT;
    if (tries - mine >= TRIES && tries >> FIELD_SESSION_SHIFT == session->number)
        return 0;
    uint64_t number = fields_look_up(session, jni, site, holder);
    if (number != 0)
        atomic_store(&site->known, mine | number);
    else
        atomic_store(&site->tries,
                     tries >> FIELD_SESSION_SHIFT == session->number ? tries + 1 : mine + 1);
    return number;
}

uint64_t field_of_number(struct session *session, JNIEnv *jni, uint32_t number, jobject holder)
{
    struct field_site *site = site_at(number);
    if (site == NULL || site->owner == NULL)
        return 0;
    uint64_t known = atomic_load_explicit(&site->known, memory_order_relaxed);
    if (__builtin_expect(known >> FIELD_SESSION_SHIFT == session->number, 1))
        return known & ((UINT64_C(1) << FIELD_SESSION_SHIFT) - 1);
    return fields_find(session, jni, site, holder);
}
