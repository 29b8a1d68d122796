/* SPDX-License-Identifier: Apache-2.0 */
/* Goes over the graph once. */
#include "converter/keepers/hprof_classes.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

/* Numbers of what the trace does not have. */
#define MADE_CLASS(i) (UINT32_MAX - 1 - (uint32_t) (i))
#define MADE_REFERENT EDGE_NUMBER_MOST

/* Readers want all of them.  What extends another than these is taken for a weak one. */
enum { REFERENCE, WEAK_REFERENCE, FINAL_REFERENCE = 4, REFERENCES };
static const char *const references[REFERENCES] = {
    "java/lang/ref/Reference", "java/lang/ref/WeakReference", "java/lang/ref/SoftReference",
    "java/lang/ref/PhantomReference", "java/lang/ref/FinalReference"};

struct step_bytes hprof_class_name(const struct hprof_classes *found, uint32_t class_id)
{
    struct step_java_class class;
    const struct graph_source *source = &found->graph->source;
    for (size_t i = 0; i < REFERENCES; i++)
        if (class_id == MADE_CLASS(i))
            return step_text(references[i]);
    if (!step_java_class_look_up(&source->binding, source->reader, class_id, &class))
        return (struct step_bytes){(const uint8_t *) "?", 1};
    return class.name;
}

static struct hprof_class *use_class(struct hprof_classes *found, uint32_t class_id)
{
    struct hprof_class *class = id_table_get(&found->classes, class_id);
    if (class == NULL || class->is_used)
        return class;
    struct step_bytes name = hprof_class_name(found, class_id);
    class->is_used = true;
    class->kind = 'L';
    if (name.length > 1 && name.data[0] == '[')
        class->kind = name.data[1] == 'L' || name.data[1] == '[' ? '[' : (char) name.data[1];
    if (class->kind != 'L' && class->kind != '[' && strchr("ZCFDBSIJ", class->kind) == NULL)
        class->kind = '[';
    return class;
}

static bool is_name(struct step_bytes name, const char *wanted)
{
    return name.length == strlen(wanted) && memcmp(name.data, wanted, name.length) == 0;
}

static bool has_field(const struct hprof_class *class, uint32_t field)
{
    for (size_t i = 0; class != NULL && i < class->count; i++)
        if (class->fields[i] == field)
            return true;
    return false;
}

struct hprof_class *hprof_class_parent(const struct hprof_classes *found,
                                       const struct hprof_class *class)
{
    return class->parent != 0 ? id_table_find(&found->classes, class->parent) : NULL;
}

/* The class that has the field: that of the object, or java/lang/ref/Reference above it.  What lies
 * between them is known later. */
static struct hprof_class *owner_of(struct hprof_classes *found, struct hprof_class *class,
                                    uint32_t field)
{
    struct step_java_field entry;
    const struct graph_source *source = &found->graph->source;
    if (!step_java_field_look_up(&source->binding, source->reader, field, &entry) ||
        entry.class_ == 0 || entry.class_ >= MADE_CLASS(REFERENCES) ||
        !is_name(hprof_class_name(found, (uint32_t) entry.class_), references[REFERENCE]))
        return class;
    struct hprof_class *reference = use_class(found, (uint32_t) entry.class_);
    if (reference != NULL && reference != class)
        class->parent = (uint32_t) entry.class_;
    return reference;
}

static bool use_field(struct hprof_classes *found, struct hprof_class *class, uint32_t field)
{
    uint8_t *named = id_table_get(&found->field_names, field);
    if (named == NULL)
        return false;
    *named = 1;
    if (has_field(class, field) || has_field(hprof_class_parent(found, class), field))
        return true;
    if ((class = owner_of(found, class, field)) == NULL)
        return false;
    if (has_field(class, field) || class->count == UINT16_MAX)
        return true;
    if (class->count == class->capacity) {
        uint32_t *grown =
            step_grown(class->fields, &class->capacity, class->count + 1, sizeof *grown);
        if (grown == NULL)
            return false;
        class->fields = grown;
    }
    class->fields[class->count++] = field;
    return true;
}

/* Goes over the objects: classes, and the fields that they have. */
static bool find_classes(struct hprof_classes *found)
{
    const struct object_graph *graph = &found->graph->replay.graph;
    for (uint32_t i = GRAPH_STATICS; i < graph->node_count; i++) {
        size_t count;
        const struct edge *edges = edge_list_slots(&graph->nodes[i].edges, &count);
        struct hprof_class *class = NULL;
        if (i != GRAPH_STATICS) {
            if (graph->nodes[i].object == 0)
                continue;
            if ((class = use_class(found, graph->objects[i].class_id)) == NULL)
                return false;
            class->size = graph->objects[i].size < UINT32_MAX ? (uint32_t) graph->objects[i].size
                                                              : UINT32_MAX;
        }
        for (size_t k = 0; k < count; k++) {
            if (edges[k].target == 0 || !edge_key_is_field(edges[k].key))
                continue;
            uint32_t field = edge_key_number(edges[k].key);
            struct step_java_field entry;
            const struct graph_source *source = &found->graph->source;
            struct hprof_class *of = class;
            if (of == NULL) { /* static: the class that declares it */
                bool known =
                    step_java_field_look_up(&source->binding, source->reader, field, &entry) &&
                    entry.class_ < UINT32_MAX;
                if ((of = use_class(found, known ? (uint32_t) entry.class_ : 0)) == NULL)
                    return false;
                if (id_table_get(&found->field_names, field) == NULL)
                    return false;
                *(uint8_t *) id_table_find(&found->field_names, field) = 1;
            } else if (of->kind == 'L' && !use_field(found, of, field)) {
                return false;
            }
        }
    }
    return true;
}

uint32_t hprof_classes_named(const struct hprof_classes *found, const char *name)
{
    for (uint32_t id = 0; id_table_next(&found->classes, &id); id++) {
        const struct hprof_class *class = id_table_find(&found->classes, id);
        if (class->is_used && is_name(hprof_class_name(found, id), name))
            return id;
    }
    return UINT32_MAX;
}

struct step_bytes hprof_field_name(const struct hprof_classes *found, uint32_t field)
{
    struct step_java_field entry;
    const struct graph_source *source = &found->graph->source;
    if (field == MADE_REFERENT)
        return step_text("referent");
    return step_java_field_look_up(&source->binding, source->reader, field, &entry)
               ? entry.name
               : step_text("?");
}

static bool make_referent(struct hprof_classes *found, struct hprof_class *reference)
{
    for (size_t i = 0; i < reference->count; i++)
        if (is_name(hprof_field_name(found, reference->fields[i]), "referent"))
            return true;
    return use_field(found, reference, MADE_REFERENT);
}

/* Puts the classes of references above those that extend them. */
static bool make_references(struct hprof_classes *found)
{
    uint32_t ids[REFERENCES];
    struct hprof_class *classes[REFERENCES];
    for (size_t i = 0; i < REFERENCES; i++) {
        uint32_t id = hprof_classes_named(found, references[i]);
        ids[i] = id != UINT32_MAX ? id : MADE_CLASS(i);
        if ((classes[i] = use_class(found, ids[i])) == NULL)
            return false;
    }
    for (uint32_t id = 0; id_table_next(&found->classes, &id); id++) {
        struct hprof_class *class = id_table_find(&found->classes, id);
        if (class->parent != 0)
            class->parent = is_name(hprof_class_name(found, id), "java/lang/ref/Finalizer")
                                ? ids[FINAL_REFERENCE]
                                : ids[WEAK_REFERENCE];
    }
    for (size_t i = 0; i < REFERENCES; i++)
        classes[i]->parent = i == REFERENCE ? 0 : ids[REFERENCE];
    return make_referent(found, classes[REFERENCE]);
}

/* ---- from start to end ---- */

bool hprof_classes_find(struct hprof_classes *found, const struct graph_moment *graph)
{
    *found = (struct hprof_classes){.graph = graph};
    id_table_init(&found->classes, sizeof(struct hprof_class));
    id_table_init(&found->field_names, sizeof(uint8_t));
    return find_classes(found) && make_references(found);
}

void hprof_classes_reset(struct hprof_classes *found)
{
    for (uint32_t id = 0; id_table_next(&found->classes, &id); id++)
        free(((struct hprof_class *) id_table_find(&found->classes, id))->fields);
    id_table_reset(&found->classes);
    id_table_reset(&found->field_names);
}
