/* SPDX-License-Identifier: Apache-2.0 */
/* Which classes' fields the trace has, the records that name them, and sizes of arrays without the
 * bytes after their elements. */
#include "agent/records/layouts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/patience.h"
#include "agent/hotspot/headers.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"
#include "capture/log.h"
#include "format/core/grow.h"

#define TEXT_LIMIT 131072u /* fits into a chunk */

static struct session_dictionary layouts = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- arrays ---- */

void layouts_begin(struct session *session, JNIEnv *jni)
{
    if (!session->options.layout)
        return;
    if (headers_find_sizes(jni) && header_layout.alignment <= 1u << (32 - STEP_LIVE_CLASS_BITS))
        session->padding_mask = header_layout.alignment - 1;
    else
        log_message("option layout: the array sizes of this JVM follow no known rule: the trace "
                    "has no layouts");
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

/* The descriptors of a class's own instance fields. */
struct fields {
    char *text;
    size_t length, capacity;
};

static bool layouts_add_field(void *context, jclass class, struct class_field *field)
{
    struct fields *fields = context;
    size_t length = strlen(field->descriptor), need = fields->length + length + 1;
    (void) class;
    if (field->is_static)
        return true;
    if (need > TEXT_LIMIT || !STEP_MAKE_ROOM(fields->text, fields->capacity, need))
        return false;
    memcpy(fields->text + fields->length, field->descriptor, length + 1);
    fields->length += length;
    return true;
}

/* Writes a class. The caller holds the table's lock. Returns a reference to the superclass, whose
 * number is `*super`, or NULL: none, or it was written before. */
static jclass define_one(struct session *session, JNIEnv *jni, jclass mirror, uint64_t class,
                         uint64_t *super)
{
    if (!dictionary_add_class(&layouts, session, class))
        return NULL;
    jclass above = (*jni)->GetSuperclass(jni, mirror);
    *super = above != NULL ? class_number(session, above) : 0;
    struct fields fields = {.text = NULL};
    if (class_each_field(mirror, layouts_add_field, &fields) && (above == NULL || *super != 0))
        global_define(session, &layouts.count, class, STEP_LIVE_IS_LAYOUT | *super,
                      fields.text != NULL ? fields.text : "", "");
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
    exception_restore(jni, of_program, false, THROWN_BY_NOTHING);
    pthread_mutex_unlock(&layouts.lock);
}

void layout_of_loaded(struct session *session, JNIEnv *jni, jclass mirror)
{
    uint64_t class = class_number_of_tag(session, jvm_tag(mirror));
    if (class != 0 && (class_status(mirror) & JVMTI_CLASS_STATUS_PREPARED) != 0)
        layout_define(session, jni, mirror, class);
}
