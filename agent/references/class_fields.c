/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of java.lang.Class, the values that they hold, and the local frames that hold these.
 */
#include "agent/references/class_fields.h"

#include <stdlib.h>
#include <string.h>

#include "agent/records/classes.h"
#include "agent/references/fields.h"
#include "format/core/grow.h"

#define ACCESS_STATIC 0x0008
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

struct class_fields {
    JNIEnv *jni;
    struct held_field fields[FIELDS_MOST];
    size_t field_count;
    struct held_value *values;
    size_t count, capacity;
    size_t frames, frame_used;
};

bool class_field_has(JNIEnv *jni, const char *descriptor, jobject value)
{
    char *signature = NULL;
    if (strcmp(descriptor, CLASS) != 0)
        return true;
    jclass class = (*jni)->GetObjectClass(jni, value);
    bool is_class = (*tracer.jvmti)->GetClassSignature(tracer.jvmti, class, &signature, NULL) ==
                        JVMTI_ERROR_NONE &&
                    strcmp(signature, CLASS) == 0;
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) signature);
    (*jni)->DeleteLocalRef(jni, class);
    return is_class;
}

/* ---- the fields of Class ---- */

static void add_field(struct class_fields *held, struct session *session, jclass of_class,
                      jfieldID id)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    struct held_field field = {.id = id};
    jint modifiers = ACCESS_STATIC;
    if (held->field_count == FIELDS_MOST ||
        (*jvmti)->GetFieldName(jvmti, of_class, id, NULL, &field.descriptor, NULL) !=
            JVMTI_ERROR_NONE)
        return;
    (*jvmti)->GetFieldModifiers(jvmti, of_class, id, &modifiers);
    bool is_reference = field.descriptor[0] == 'L' || field.descriptor[0] == '[';
    if (is_reference && (modifiers & ACCESS_STATIC) == 0)
        field.number = field_number_of_id(session, held->jni, of_class, id);
    if (field.number != 0)
        held->fields[held->field_count++] = field;
    else
        (*jvmti)->Deallocate(jvmti, (unsigned char *) field.descriptor);
}

static void find_fields(struct class_fields *held, struct session *session, jclass of_class)
{
    jint count = 0;
    jfieldID *fields = NULL;
    if ((*tracer.jvmti)->GetClassFields(tracer.jvmti, of_class, &count, &fields) !=
        JVMTI_ERROR_NONE)
        return;
    for (jint i = 0; i < count; i++)
        add_field(held, session, of_class, fields[i]);
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) fields);
}

/* ---- their values ---- */

/* Makes room for the references of one more class. PushLocalFrame() fails only if there is no
 * memory, and throws nothing. */
static bool make_room(struct class_fields *held)
{
    if (held->frames > 0 && held->frame_used + 2 * FIELDS_MOST < FRAME_REFERENCES)
        return true;
    if ((*held->jni)->PushLocalFrame(held->jni, FRAME_REFERENCES) != JNI_OK)
        return false;
    held->frames++;
    held->frame_used = 0;
    return true;
}

static bool keep(struct class_fields *held, jobject holder, const struct held_field *field,
                 jobject value)
{
    if (held->count == held->capacity) {
        struct held_value *grown =
            step_grown(held->values, &held->capacity, held->count + 1, sizeof *grown);
        if (grown == NULL)
            return false;
        held->values = grown;
    }
    held->values[held->count++] = (struct held_value){holder, value, field};
    held->frame_used++;
    return true;
}

static jobject value_of(JNIEnv *jni, jobject holder, const struct held_field *field)
{
    jobject value = (*jni)->GetObjectField(jni, holder, field->id);
    if (value == NULL || class_field_has(jni, field->descriptor, value))
        return value;
    (*jni)->DeleteLocalRef(jni, value);
    return NULL;
}

static bool hold_class(struct class_fields *held, jobject class)
{
    jobject holder = make_room(held) ? (*held->jni)->NewLocalRef(held->jni, class) : NULL;
    if (holder == NULL)
        return false;
    held->frame_used++;
    for (size_t i = 0; i < held->field_count; i++) {
        jobject value = value_of(held->jni, holder, &held->fields[i]);
        if (value != NULL && !keep(held, holder, &held->fields[i], value))
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
    jlong tag = 0;
    (*tracer.jvmti)->GetTag(tracer.jvmti, class, &tag);
    const char *name = class_name_of_tag(tag);
    if (name == NULL || strncmp(name, package, sizeof package - 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name + sizeof package - 1, names[i]) == 0)
            return true;
    return false;
}

/* Reads the static field TYPE, which does not initialise the class. */
static bool hold_primitive(struct class_fields *held, jclass wrapper)
{
    jint count = 0;
    jfieldID *fields = NULL;
    bool ok = true;
    if ((*tracer.jvmti)->GetClassFields(tracer.jvmti, wrapper, &count, &fields) != JVMTI_ERROR_NONE)
        return true;
    for (jint i = 0; i < count && ok; i++) {
        char *name = NULL, *descriptor = NULL;
        (*tracer.jvmti)->GetFieldName(tracer.jvmti, wrapper, fields[i], &name, &descriptor, NULL);
        jobject class = name != NULL && strcmp(name, "TYPE") == 0 && strcmp(descriptor, CLASS) == 0
                            ? (*held->jni)->GetStaticObjectField(held->jni, wrapper, fields[i])
                            : NULL;
        ok = class == NULL || hold_class(held, class);
        (*held->jni)->DeleteLocalRef(held->jni, class);
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) name);
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) descriptor);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) fields);
    return ok;
}

static bool hold_classes(struct class_fields *held, struct session *session)
{
    jint count = 0;
    jclass *classes = NULL;
    bool ok = true;
    if ((*tracer.jvmti)->GetLoadedClasses(tracer.jvmti, &count, &classes) != JVMTI_ERROR_NONE)
        return false;
    if (count > 0) {
        jclass of_class = (*held->jni)->GetObjectClass(held->jni, classes[0]);
        find_fields(held, session, of_class);
        (*held->jni)->DeleteLocalRef(held->jni, of_class);
    }
    for (jint i = 0; i < count; i++) {
        ok = ok && hold_class(held, classes[i]) &&
             (!is_wrapper(classes[i]) || hold_primitive(held, classes[i]));
        (*held->jni)->DeleteLocalRef(held->jni, classes[i]);
    }
    (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) classes);
    return ok;
}

struct class_fields *class_fields_hold(struct session *session, JNIEnv *jni)
{
    struct class_fields *held = calloc(1, sizeof *held);
    if (held == NULL)
        return NULL;
    held->jni = jni;
    if (hold_classes(held, session))
        return held;
    class_fields_release(held);
    return NULL;
}

uint64_t class_fields_each(const struct class_fields *held, class_field_taker *take, void *context)
{
    JNIEnv *jni = held->jni;
    uint64_t changed = 0;
    for (size_t i = 0; i < held->count; i++) {
        const struct held_value *at = &held->values[i];
        jobject now = value_of(jni, at->holder, at->field);
        changed += !(*jni)->IsSameObject(jni, at->value, now);
        if (now != NULL)
            take(context, at->holder, at->field->number, now);
        (*jni)->DeleteLocalRef(jni, now);
    }
    return changed;
}

void class_fields_release(struct class_fields *held)
{
    if (held == NULL)
        return;
    for (size_t i = 0; i < held->frames; i++)
        (*held->jni)->PopLocalFrame(held->jni, NULL);
    for (size_t i = 0; i < held->field_count; i++)
        (*tracer.jvmti)->Deallocate(tracer.jvmti, (unsigned char *) held->fields[i].descriptor);
    free(held->values);
    free(held);
}
