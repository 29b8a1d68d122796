/* SPDX-License-Identifier: Apache-2.0 */
/* Field indexes of heap walks: a list of each class's own fields; an index counts through the
 * superclasses' lists. */
#include "agent/references/mirror_fields.h"

#include <stdlib.h>

#include "agent/base/jvm_classes.h"
#include "agent/records/classes.h"
#include "agent/references/fields.h"
#include "format/core/grow.h"

struct declared_field {
    char *name, *descriptor; /* allocated by the JVM */
    uint64_t modifiers, number;
};

struct graph_class {
    bool known;
    uint64_t super;            /* its number; 0: none */
    uint32_t interface_fields; /* of all its interfaces */
    uint32_t first, count;     /* its own, in `fields` */
};

struct graph_fields {
    struct session *session;
    struct graph_class *classes; /* indexed by number */
    size_t class_capacity;
    struct declared_field *fields;
    size_t count, capacity;
    bool failed; /* out of memory */
};

static struct graph_class *class_at(struct graph_fields *all, uint64_t number)
{
    size_t before = all->class_capacity;
    if (number >= before) {
        struct graph_class *grown =
            step_grown(all->classes, &all->class_capacity, (size_t) number + 1, sizeof *grown);
        if (grown == NULL)
            return NULL;
        for (size_t i = before; i < all->class_capacity; i++)
            grown[i] = (struct graph_class){.known = false};
        all->classes = grown;
    }
    return &all->classes[number];
}

static bool graph_fields_add(void *context, jclass class, struct class_field *field)
{
    struct graph_fields *all = context;
    (void) class;
    all->failed = !STEP_MAKE_ROOM(all->fields, all->capacity, all->count + 1);
    if (all->failed)
        return false;
    all->fields[all->count++] =
        (struct declared_field){.name = field->name,
                                .descriptor = field->descriptor,
                                .modifiers = (uint32_t) field->modifiers & FIELD_MODIFIERS};
    field->name = field->descriptor = NULL;
    return true;
}

/* Counts the fields of the class's interfaces and of those that they extend, each interface
 * once. */
static uint32_t count_interface_fields(JNIEnv *jni, jclass class, jclass *seen, size_t *seen_count,
                                       size_t most)
{
    jvmtiEnv *jvmti = tracer.jvmti;
    jint count = 0, field_count = 0;
    jclass *interfaces = NULL;
    uint32_t total = 0;
    if ((*jvmti)->GetImplementedInterfaces(jvmti, class, &count, &interfaces) != JVMTI_ERROR_NONE)
        return 0;
    for (jint i = 0; i < count; i++) {
        bool known = *seen_count == most;
        for (size_t j = 0; j < *seen_count && !known; j++)
            known = (*jni)->IsSameObject(jni, seen[j], interfaces[i]);
        if (known) {
            (*jni)->DeleteLocalRef(jni, interfaces[i]);
            continue;
        }
        seen[(*seen_count)++] = interfaces[i];
        jfieldID *fields = NULL;
        if ((*jvmti)->GetClassFields(jvmti, interfaces[i], &field_count, &fields) ==
            JVMTI_ERROR_NONE) {
            total += (uint32_t) field_count;
            jvm_free(fields);
        }
        total += count_interface_fields(jni, interfaces[i], seen, seen_count, most);
    }
    jvm_free(interfaces);
    return total;
}

#define INTERFACES_MOST 512u

/* Counts the interface fields of the class and its superclasses. */
static uint32_t interface_fields(JNIEnv *jni, jclass class)
{
    jclass *seen = calloc(INTERFACES_MOST, sizeof *seen);
    size_t seen_count = 0;
    uint32_t total = 0;
    if (seen == NULL)
        return 0;
    jclass at = (*jni)->NewLocalRef(jni, class);
    while (at != NULL) {
        total += count_interface_fields(jni, at, seen, &seen_count, INTERFACES_MOST);
        at = class_go_up(jni, at);
    }
    for (size_t i = 0; i < seen_count; i++)
        (*jni)->DeleteLocalRef(jni, seen[i]);
    free(seen);
    return total;
}

/* A class that is not linked has no objects. */
static void graph_fields_add_class(void *context, JNIEnv *jni, jclass class)
{
    struct graph_fields *all = context;
    jint status = class_status(class);
    const jint usable = JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ARRAY;
    if (all->failed || (status & usable) == 0)
        return;
    uint64_t number = class_number(all->session, class);
    if (number == 0 || (status & JVMTI_CLASS_STATUS_ARRAY) != 0)
        return;
    jclass super = (*jni)->GetSuperclass(jni, class);
    struct graph_class found = {.known = true,
                                .super = super != NULL ? class_number(all->session, super) : 0,
                                .interface_fields = interface_fields(jni, class),
                                .first = (uint32_t) all->count};
    (*jni)->DeleteLocalRef(jni, super);
    if (!class_each_field(class, graph_fields_add, all))
        return;
    found.count = (uint32_t) all->count - found.first;
    struct graph_class *place = class_at(all, number);
    if (place != NULL)
        *place = found;
    all->failed = place == NULL;
}

struct graph_fields *graph_fields_create(struct session *session, JNIEnv *jni)
{
    struct graph_fields *all = calloc(1, sizeof *all);
    if (all == NULL)
        return NULL;
    all->session = session;
    if (class_each_loaded(jni, graph_fields_add_class, all) && !all->failed)
        return all;
    graph_fields_destroy(all);
    return NULL;
}

void graph_fields_destroy(struct graph_fields *fields)
{
    if (fields == NULL)
        return;
    for (size_t i = 0; i < fields->count; i++) {
        jvm_free(fields->fields[i].name);
        jvm_free(fields->fields[i].descriptor);
    }
    free(fields->fields);
    free(fields->classes);
    free(fields);
}

static const struct graph_class *known_class(const struct graph_fields *all, uint64_t number)
{
    return number < all->class_capacity && all->classes[number].known ? &all->classes[number]
                                                                      : NULL;
}

/* JVMTI numbers the fields of an object from 0: first those of all interfaces of its class and its
 * superclasses, each interface once, then those of the classes from Object down to the class
 * itself. So the index is reduced by the interfaces' fields, then by whole classes from the top;
 * what is left counts within one class. Only tables that were filled before the walk are read here:
 * this runs in its callback, which must not ask the JVM. */
uint64_t graph_field(struct graph_fields *all, uint64_t class, jint index)
{
    const struct graph_class *at = known_class(all, class);
    if (at == NULL || index < 0 || (uint32_t) index < at->interface_fields)
        return 0;
    uint32_t left = (uint32_t) index - at->interface_fields, above = 0;
    for (const struct graph_class *super = known_class(all, at->super); super != NULL;
         super = known_class(all, super->super))
        above += super->count;
    while (at != NULL && left < above) {
        class = at->super;
        at = known_class(all, class);
        above -= at != NULL ? at->count : 0;
    }
    if (at == NULL || left - above >= at->count)
        return 0;
    struct declared_field *field = &all->fields[at->first + (left - above)];
    if (field->number == 0)
        field->number =
            field_number(all->session, class, field->name, field->descriptor, field->modifiers);
    return field->number;
}
