/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of java.lang.Class, the values that they hold, and the local frames that hold these.
 */
#include "agent/references/mirror_fields.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/jvm_classes.h"
#include "agent/records/classes.h"
#include "agent/references/fields.h"
#include "format/core/grow.h"

#define CLASS "Ljava/lang/Class;"
#define FIELDS_MOST 64u
/* Local references per frame. -Xcheck:jni counts them, and the JVM refuses larger frames. */
#define FRAME_REFERENCES 4096u

struct held_field {
    jfieldID id;
    uint64_t number;
    char *descriptor; /* allocated by the JVM */
};

struct held_value {
    jobject holder, value;
    const struct held_field *field;
};

struct mirror_fields {
    struct session *session;
    JNIEnv *jni;
    bool failed; /* out of memory */
    struct held_field fields[FIELDS_MOST];
    size_t field_count;
    struct held_value *values;
    size_t count, capacity;
    size_t frames, frame_used;
};

static bool mirror_fields_is_class(const char *signature)
{
    return strcmp(signature, CLASS) == 0;
}

bool class_field_has(JNIEnv *jni, const char *descriptor, jobject value)
{
    if (!mirror_fields_is_class(descriptor))
        return true;
    jclass class = (*jni)->GetObjectClass(jni, value);
    bool has = class_passes(class, mirror_fields_is_class);
    (*jni)->DeleteLocalRef(jni, class);
    return has;
}

/* ---- the fields of Class ---- */

static bool mirror_fields_add(void *context, jclass class, struct class_field *field)
{
    struct mirror_fields *held = context;
    if (held->field_count == FIELDS_MOST)
        return false;
    struct held_field added = {.id = field->id, .descriptor = field->descriptor};
    if (field->is_reference && !field->is_static)
        added.number = field_number_of_id(held->session, held->jni, class, field->id);
    if (added.number != 0) {
        held->fields[held->field_count++] = added;
        field->descriptor = NULL;
    }
    return true;
}

/* ---- their values ---- */

/* Makes room for the references of one more class. PushLocalFrame() fails only if there is no
 * memory, and throws nothing. A frame must not have more references than it was made for: the JVM
 * would allow it, but -Xcheck:jni warns. */
static bool mirror_fields_make_room(struct mirror_fields *held)
{
    if (held->frames > 0 && held->frame_used + 2 * FIELDS_MOST < FRAME_REFERENCES)
        return true;
    if ((*held->jni)->PushLocalFrame(held->jni, FRAME_REFERENCES) != JNI_OK)
        return false;
    held->frames++;
    held->frame_used = 0;
    return true;
}

static bool mirror_fields_keep(struct mirror_fields *held, jobject holder,
                               const struct held_field *field, jobject value)
{
    if (!STEP_MAKE_ROOM(held->values, held->capacity, held->count + 1))
        return false;
    held->values[held->count++] = (struct held_value){holder, value, field};
    held->frame_used++;
    return true;
}

static jobject mirror_fields_value_of(JNIEnv *jni, jobject holder, const struct held_field *field)
{
    jobject value = (*jni)->GetObjectField(jni, holder, field->id);
    if (value == NULL || class_field_has(jni, field->descriptor, value))
        return value;
    (*jni)->DeleteLocalRef(jni, value);
    return NULL;
}

static bool hold_class(struct mirror_fields *held, jobject class)
{
    jobject holder =
        mirror_fields_make_room(held) ? (*held->jni)->NewLocalRef(held->jni, class) : NULL;
    if (holder == NULL)
        return false;
    held->frame_used++;
    for (size_t i = 0; i < held->field_count; i++) {
        jobject value = mirror_fields_value_of(held->jni, holder, &held->fields[i]);
        if (value != NULL && !mirror_fields_keep(held, holder, &held->fields[i], value))
            return false;
    }
    return true;
}

/* int.class and the like are not loaded classes: the static fields of their wrappers hold them. */
static bool is_wrapper(jclass class)
{
    static const char *const names[] = {"Boolean", "Byte", "Character", "Double", "Float",
                                        "Integer", "Long", "Short",     "Void"};
    static const char package[] = "java/lang/";
    const char *name = class_name_of_tag(jvm_tag(class));
    if (name == NULL || strncmp(name, package, sizeof package - 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name + sizeof package - 1, names[i]) == 0)
            return true;
    return false;
}

/* Reads the static field TYPE, which does not initialise the class. */
static bool hold_primitive(void *context, jclass wrapper, struct class_field *field)
{
    struct mirror_fields *held = context;
    if (strcmp(field->name, "TYPE") != 0 || !mirror_fields_is_class(field->descriptor))
        return true;
    jobject class = (*held->jni)->GetStaticObjectField(held->jni, wrapper, field->id);
    held->failed = held->failed || (class != NULL && !hold_class(held, class));
    (*held->jni)->DeleteLocalRef(held->jni, class);
    return !held->failed;
}

static void hold_loaded(void *context, JNIEnv *jni, jclass class)
{
    struct mirror_fields *held = context;
    if (held->field_count == 0) {
        jclass of_class = (*jni)->GetObjectClass(jni, class);
        class_each_field(of_class, mirror_fields_add, held);
        (*jni)->DeleteLocalRef(jni, of_class);
    }
    held->failed = held->failed || !hold_class(held, class);
    if (!held->failed && is_wrapper(class))
        class_each_field(class, hold_primitive, held);
}

struct mirror_fields *mirror_fields_hold(struct session *session, JNIEnv *jni)
{
    struct mirror_fields *held = calloc(1, sizeof *held);
    if (held == NULL)
        return NULL;
    held->session = session;
    held->jni = jni;
    if (class_each_loaded(jni, hold_loaded, held) && !held->failed)
        return held;
    mirror_fields_release(held);
    return NULL;
}

/* The values were read before the walk and are read again after it. One that has changed in between
 * is recorded as it is now, and counted: the moment of the walk had one of the two. */
uint64_t mirror_fields_each(const struct mirror_fields *held, mirror_field_taker *take,
                            void *context)
{
    JNIEnv *jni = held->jni;
    uint64_t changed = 0;
    for (size_t i = 0; i < held->count; i++) {
        const struct held_value *at = &held->values[i];
        jobject now = mirror_fields_value_of(jni, at->holder, at->field);
        changed += !(*jni)->IsSameObject(jni, at->value, now);
        if (now != NULL)
            take(context, at->holder, at->field->number, now);
        (*jni)->DeleteLocalRef(jni, now);
    }
    return changed;
}

void mirror_fields_release(struct mirror_fields *held)
{
    if (held == NULL)
        return;
    for (size_t i = 0; i < held->frames; i++)
        (*held->jni)->PopLocalFrame(held->jni, NULL);
    for (size_t i = 0; i < held->field_count; i++)
        jvm_free(held->fields[i].descriptor);
    free(held->values);
    free(held);
}
