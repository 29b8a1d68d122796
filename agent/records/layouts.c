/* SPDX-License-Identifier: Apache-2.0 */
/* Which classes' fields the trace has, the records that name them, and sizes of arrays without the
 * bytes after their elements. */
#include "agent/records/layouts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/hash_numbers.h"
#include "agent/base/patience.h"
#include "agent/hotspot/headers.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"
#include "capture/log.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

#define DEFINE_WORDS 4u
#define TEXT_LIMIT 131072u /* fits into a chunk */
#define ACC_STATIC 0x0008

static struct {
    pthread_mutex_t lock;
    uint64_t session; /* the session that the table belongs to */
    uint64_t count;
    struct hash_numbers classes; /* those that were asked for */
} layouts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- arrays ---- */

void layouts_begin(struct session *session, JNIEnv *jni)
{
    if (!session->options.layout)
        return;
    if (headers_find_sizes(jni) && header_layout.alignment <= 1u << (32 - STEP_LIVE_CLASS_BITS))
        session->padding_mask = header_layout.alignment - 1;
    else
        log_message("option layout: this JVM's sizes of arrays follow no known rule: the trace has "
                    "no layouts");
}

void layouts_describe(char text[LAYOUT_TEXT])
{
    const uint8_t *at = header_layout.elements_at;
    snprintf(text, LAYOUT_TEXT, "alignment=%" PRIu32 ",reference=%u,elements=%u/%u/%u/%u",
             header_layout.alignment, 1u << header_layout.references_shift, at[0], at[1], at[2],
             at[3]);
}

static uint64_t used_bytes(int shift, jint length, uint64_t size)
{
    return shift >= 0 && length >= 0 ? header_array_end((uint32_t) length, (unsigned) shift) : size;
}

uint64_t layout_used_bytes(JNIEnv *jni, jclass class, jobject object, uint64_t size)
{
    int shift = class_element_shift(class, header_layout.references_shift);
    return shift < 0 ? size : used_bytes(shift, (*jni)->GetArrayLength(jni, object), size);
}

uint64_t layout_used_of_tag(jlong class_tag, jint length, uint64_t size)
{
    return length < 0
               ? size
               : used_bytes(class_element_shift_of_tag(class_tag, header_layout.references_shift),
                            length, size);
}

/* ---- fields ---- */

/* The caller holds the table's lock. Returns true if the class is new. */
static bool class_is_new(struct session *session, uint64_t class)
{
    if (layouts.session != session->number) {
        layouts.session = session->number;
        layouts.count = 0;
        hash_numbers_clear(&layouts.classes);
    }
    struct hash_number *place = hash_numbers_place(&layouts.classes, step_hash(class));
    if (place == NULL || place->hash != 0)
        return false;
    hash_numbers_put(&layouts.classes, place, step_hash(class), 1);
    return true;
}

/* The descriptors of a class's own instance fields. */
struct fields {
    char *text;
    size_t length, capacity;
    bool failed;
};

static void add_descriptor(struct fields *fields, const char *descriptor)
{
    size_t length = strlen(descriptor);
    if (fields->length + length + 1 > fields->capacity) {
        size_t need = fields->length + length + 1;
        char *grown =
            need <= TEXT_LIMIT ? step_grown(fields->text, &fields->capacity, need, 1) : NULL;
        if (grown == NULL) {
            fields->failed = true;
            return;
        }
        fields->text = grown;
    }
    memcpy(fields->text + fields->length, descriptor, length + 1);
    fields->length += length;
}

static void add_field(struct fields *fields, jclass mirror, jfieldID field)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jint modifiers = 0;
    char *name = NULL, *descriptor = NULL;
    if ((*jvmti)->GetFieldModifiers(jvmti, mirror, field, &modifiers) != JVMTI_ERROR_NONE) {
        fields->failed = true;
        return;
    }
    if ((modifiers & ACC_STATIC) != 0)
        return;
    if ((*jvmti)->GetFieldName(jvmti, mirror, field, &name, &descriptor, NULL) == JVMTI_ERROR_NONE)
        add_descriptor(fields, descriptor);
    else
        fields->failed = true;
    (*jvmti)->Deallocate(jvmti, (unsigned char *) name);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) descriptor);
}

static struct fields fields_of(jclass mirror)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    struct fields fields = {.text = NULL};
    jint count = 0;
    jfieldID *ids = NULL;
    fields.failed = (*jvmti)->GetClassFields(jvmti, mirror, &count, &ids) != JVMTI_ERROR_NONE;
    for (jint i = 0; i < count && !fields.failed; i++)
        add_field(&fields, mirror, ids[i]);
    (*jvmti)->Deallocate(jvmti, (unsigned char *) ids);
    fields.failed |= fields.length > TEXT_LIMIT;
    return fields;
}

/* The caller holds the table's lock. */
static void write_layout(struct session *session, uint64_t class, uint64_t super,
                         const struct fields *fields)
{
    uint64_t *words = calloc(DEFINE_WORDS + (fields->length + 7) / 8, sizeof *words);
    if (words == NULL)
        return;
    size_t length =
        fields->length > 0 ? utf8_of_modified(fields->text, (char *) &words[DEFINE_WORDS]) : 0;
    words[0] = live_word(STEP_LIVE_DEFINE_METHOD, ++layouts.count);
    words[1] = class;
    words[2] = STEP_LIVE_IS_LAYOUT | super;
    words[3] = length;
    pthread_mutex_lock(&session->global_lock);
    global_write(session, words, DEFINE_WORDS + (length + 7) / 8, 0);
    pthread_mutex_unlock(&session->global_lock);
    free(words);
}

/* Writes a class. The caller holds the table's lock. Returns a reference to the superclass, whose
 * number is `*super`, or NULL: none, or it was written before. */
static jclass define_one(struct session *session, JNIEnv *jni, jclass mirror, uint64_t class,
                         uint64_t *super)
{
    if (!class_is_new(session, class))
        return NULL;
    jclass above = (*jni)->GetSuperclass(jni, mirror);
    *super = above != NULL ? class_number(session, above) : 0;
    struct fields fields = fields_of(mirror);
    if (!fields.failed && (above == NULL || *super != 0))
        write_layout(session, class, *super, &fields);
    free(fields.text);
    return above;
}

void layout_define(struct session *session, JNIEnv *jni, jclass mirror, uint64_t class)
{
    jboolean is_array = JNI_TRUE;
    if ((*tracer.jvmti)->IsArrayClass(tracer.jvmti, mirror, &is_array) != JVMTI_ERROR_NONE ||
        is_array || !session_lock(session, &layouts.lock))
        return;
    jthrowable of_program = exception_set_aside(jni);
    jclass above = define_one(session, jni, mirror, class, &class);
    while (above != NULL) {
        jclass next = class != 0 ? define_one(session, jni, above, class, &class) : NULL;
        (*jni)->DeleteLocalRef(jni, above);
        above = next;
    }
    exception_restore(jni, of_program);
    pthread_mutex_unlock(&layouts.lock);
}

void layout_of_loaded(struct session *session, JNIEnv *jni, jclass mirror)
{
    jint status = 0;
    jlong tag = 0;
    if ((*tracer.jvmti)->GetClassStatus(tracer.jvmti, mirror, &status) != JVMTI_ERROR_NONE ||
        (status & JVMTI_CLASS_STATUS_PREPARED) == 0 ||
        (*tracer.jvmti)->GetTag(tracer.jvmti, mirror, &tag) != JVMTI_ERROR_NONE)
        return;
    uint64_t class = class_number_of_tag(session, tag);
    if (class != 0)
        layout_define(session, jni, mirror, class);
}
