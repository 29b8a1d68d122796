/* SPDX-License-Identifier: Apache-2.0 */
/* Finds fields by offset: a table by class and offset, filled at the first lookup. */
#include "agent/references/fields.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/hotspot/peek.h"
#include "agent/records/classes.h"
#include "format/core/hash.h"

#define TABLE_SIZE 4096u

struct known_place {
    uint64_t class, offset, session;
    struct field_place place;
};

static struct {
    bool proven;
    unsigned id_bits; /* low bits of an instance field's id that are not the offset */
    uint64_t elements_at, element_size; /* 0: unknown */
    pthread_mutex_t lock;
    struct known_place known[TABLE_SIZE];
} places = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the offset of an instance field. */
static uint64_t offset_of(jfieldID field)
{
    return (uintptr_t) field >> places.id_bits;
}

/* Returns the offset of a static field: its id is the address of a class, a link, and the
 * offset. */
static uint64_t static_offset_of(jfieldID field)
{
    struct {
        uintptr_t class, next;
        int32_t offset;
    } id;
    return peek((uintptr_t) field, &id, sizeof id) ? (uint64_t) (uint32_t) id.offset : 0;
}

/* Returns NULL if the class has no such field. */
static jfieldID static_field(JNIEnv *jni, jclass class, const char *name, const char *descriptor)
{
    jthrowable of_program = exception_set_aside(jni);
    jfieldID field = (*jni)->GetStaticFieldID(jni, class, name, descriptor);
    exception_restore(jni, of_program, field == NULL, THROWN_BY_LOOKUP);
    return field;
}

static uint64_t static_number(JNIEnv *jni, jclass class, const char *name)
{
    jfieldID field = static_field(jni, class, name, "J");
    if (field != NULL)
        return (uint64_t) (*jni)->GetStaticLongField(jni, class, field);
    field = static_field(jni, class, name, "I");
    return field != NULL ? (uint64_t) (*jni)->GetStaticIntField(jni, class, field) : 0;
}

/* Compares with the offsets that this class keeps of its own fields. ConcurrentHashMap stores them
 * with Unsafe.objectFieldOffset(), so they are the JVM's own answer for four fields of different
 * offsets. If all four follow from the identifiers by one shift, identifiers are made that way in
 * this JVM. */
static bool offsets_follow(JNIEnv *jni)
{
    static const struct {
        const char *offset, *field, *descriptor;
    } rows[] = {{"SIZECTL", "sizeCtl", "I"},
                {"TRANSFERINDEX", "transferIndex", "I"},
                {"BASECOUNT", "baseCount", "J"},
                {"CELLSBUSY", "cellsBusy", "I"}};
    bool so = true;
    jthrowable of_program = exception_set_aside(jni);
    jclass class = (*jni)->FindClass(jni, "java/util/concurrent/ConcurrentHashMap");
    for (size_t i = 0; class != NULL && so && i < sizeof rows / sizeof rows[0]; i++) {
        jfieldID field = (*jni)->GetFieldID(jni, class, rows[i].field, rows[i].descriptor);
        uint64_t wanted = field != NULL ? static_number(jni, class, rows[i].offset) : 0;
        so = wanted != 0 && offset_of(field) == wanted;
    }
    so = so && class != NULL;
    exception_restore(jni, of_program, !so, THROWN_BY_LOOKUP);
    (*jni)->DeleteLocalRef(jni, class);
    return so;
}

/* An id has two bits beside the offset, and three in JVMs that have value classes. */
static bool field_places_prove(JNIEnv *jni)
{
    for (places.id_bits = 2; places.id_bits <= 3; places.id_bits++)
        if (offsets_follow(jni))
            return true;
    return false;
}

void field_places_begin(JNIEnv *jni)
{
    jclass unsafe = class_find(jni, "jdk/internal/misc/Unsafe");
    if (unsafe != NULL) {
        places.elements_at = static_number(jni, unsafe, "ARRAY_OBJECT_BASE_OFFSET");
        places.element_size = static_number(jni, unsafe, "ARRAY_OBJECT_INDEX_SCALE");
        (*jni)->DeleteLocalRef(jni, unsafe);
    }
    places.proven = false;
    if (!internal_is_allowed(INTERNAL_FIELDS))
        return;
    places.proven = field_places_prove(jni);
    internal_settled(INTERNAL_FIELDS,
                     places.proven ? NULL : "identifiers of fields are made in another way");
}

struct field_search {
    uint64_t offset;
    bool of_class; /* a static field is wanted */
    jfieldID found;
};

static bool is_elsewhere(void *context, jclass class, struct class_field *field)
{
    struct field_search *search = context;
    (void) class;
    if (field->is_reference && field->is_static == search->of_class &&
        (field->is_static ? static_offset_of(field->id) : offset_of(field->id)) == search->offset)
        search->found = field->id;
    return search->found == NULL;
}

/* Returns the reference field that this class declares at the offset, or NULL. */
static jfieldID declared_at(jclass class, uint64_t offset, bool of_class)
{
    struct field_search search = {.offset = offset, .of_class = of_class};
    class_each_field(class, is_elsewhere, &search);
    return search.found;
}

static uint64_t instance_field_at(struct session *session, JNIEnv *jni, jobject holder,
                                  uint64_t offset)
{
    uint64_t number = 0;
    jclass class = (*jni)->GetObjectClass(jni, holder);
    while (class != NULL && number == 0) {
        jfieldID field = declared_at(class, offset, false);
        if (field != NULL)
            number = field_number_of_id(session, jni, class, field);
        class = class_go_up(jni, class);
    }
    (*jni)->DeleteLocalRef(jni, class);
    return number;
}

/* Returns the static field at the offset, or 0. The field must hold what was just stored there. A
 * static field's identifier is read as a structure of the JVM, which no self-test covers; the value
 * is the check. Another thread may have stored a third value meanwhile: then the field is unknown
 * rather than wrong. */
static uint64_t static_field_at(struct session *session, JNIEnv *jni, jclass class, uint64_t offset,
                                jobject value)
{
    jfieldID field = declared_at(class, offset, true);
    if (field == NULL)
        return 0;
    jobject there = (*jni)->GetStaticObjectField(jni, class, field);
    bool same = (*jni)->IsSameObject(jni, there, value);
    (*jni)->DeleteLocalRef(jni, there);
    return same ? field_number_of_id(session, jni, class, field) : 0;
}

static bool field_places_is_class(JNIEnv *jni, jobject object)
{
    jclass class = (*jni)->GetObjectClass(jni, object);
    const char *name = class_name_of_tag(jvm_tag(class));
    (*jni)->DeleteLocalRef(jni, class);
    return name != NULL && strcmp(name, "java/lang/Class") == 0;
}

static struct field_place field_places_find(struct session *session, JNIEnv *jni, jobject holder,
                                            uint64_t offset, jobject value)
{
    struct field_place place = {PLACE_FIELD, instance_field_at(session, jni, holder, offset)};
    if (place.number == 0 && field_places_is_class(jni, holder)) {
        place.kind = PLACE_STATIC;
        place.number = static_field_at(session, jni, holder, offset, value);
    }
    if (place.number == 0)
        place.kind = PLACE_UNKNOWN;
    return place;
}

static struct field_place element_at(uint64_t offset)
{
    uint64_t base = places.elements_at, size = places.element_size;
    if (size == 0 || offset < base || (offset - base) % size != 0)
        return (struct field_place){PLACE_UNKNOWN, 0};
    return (struct field_place){PLACE_ELEMENT, (offset - base) / size};
}

static struct known_place *known_at(uint64_t class, uint64_t offset)
{
    return &places.known[step_hash(class << 20 ^ offset) >> (64 - 12)];
}

static bool recall(const struct session *session, uint64_t class, uint64_t offset,
                   struct field_place *place)
{
    pthread_mutex_lock(&places.lock);
    const struct known_place *known = known_at(class, offset);
    bool found =
        known->class == class && known->offset == offset && known->session == session->number;
    *place = known->place;
    pthread_mutex_unlock(&places.lock);
    return found;
}

static void field_places_keep(const struct session *session, uint64_t class, uint64_t offset,
                              struct field_place place)
{
    pthread_mutex_lock(&places.lock);
    *known_at(class, offset) = (struct known_place){class, offset, session->number, place};
    pthread_mutex_unlock(&places.lock);
}

struct field_place field_at(struct session *session, struct os_thread *os, JNIEnv *jni,
                            jobject holder, jlong offset, jobject value)
{
    struct field_place place = {PLACE_UNKNOWN, 0};
    jclass mirror = (*jni)->GetObjectClass(jni, holder);
    struct class_cache_entry *class = class_cached(session, os, jni, mirror);
    if (!class->is_array && class->size_bytes == 0)
        class->is_array = class_element_shift(mirror, 0) >= 0;
    (*jni)->DeleteLocalRef(jni, mirror);
    if (class->is_array)
        return element_at((uint64_t) offset);
    if (!places.proven || class->number == 0 ||
        recall(session, class->number, (uint64_t) offset, &place))
        return place;
    uint64_t number = class->number;
    place = field_places_find(session, jni, holder, (uint64_t) offset, value);
    if (place.kind == PLACE_FIELD)
        field_places_keep(session, number, (uint64_t) offset, place);
    return place;
}
