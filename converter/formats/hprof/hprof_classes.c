/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the classes of a heap dump in one pass over the graph, and writes its file. */
#include "converter/formats/hprof/hprof_writer.h"

#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/graph/keepers_of_trace.h"
#include "converter/heap/heap_writer.h"
#include "converter/numbers/quantity.h"
#include "converter/output/output_file.h"
#include "converter/output/output_stream.h"
#include "format/core/grow.h"

/* Ids for classes and fields that the trace does not have. */
#define MADE_CLASS(i) (UINT32_MAX - 1 - (uint32_t) (i))
#define MADE_REFERENT EDGE_NUMBER_MOST

/* Readers expect all of these classes.  A class that extends any other is treated as a weak
 * reference. */
enum { REFERENCE, WEAK_REFERENCE, FINAL_REFERENCE = 4, REFERENCES };
static const char *const references[REFERENCES] = {
    "java/lang/ref/Reference", "java/lang/ref/WeakReference", "java/lang/ref/SoftReference",
    "java/lang/ref/PhantomReference", "java/lang/ref/FinalReference"};

struct step_bytes hprof_class_name(const struct hprof_classes *found, uint32_t class_id)
{
    for (size_t i = 0; i < REFERENCES; i++)
        if (class_id == MADE_CLASS(i))
            return step_text(references[i]);
    return java_class_name(&found->graph->source.java, class_id);
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

/* Returns the class that has the field: the object's, or its superclass java/lang/ref/Reference.
 * The classes between them are determined later. */
static struct hprof_class *owner_of(struct hprof_classes *found, struct hprof_class *class,
                                    uint32_t field)
{
    struct step_java_field entry;
    const struct graph_source *source = &found->graph->source;
    if (!java_field(&source->java, field, &entry) || entry.class_ == 0 ||
        entry.class_ >= MADE_CLASS(REFERENCES) ||
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
    if (!STEP_MAKE_ROOM(class->fields, class->capacity, class->count + 1))
        return false;
    class->fields[class->count++] = field;
    return true;
}

/* A static field belongs to the class that declares it. */
static bool use_static(struct hprof_classes *found, uint32_t field)
{
    struct step_java_field entry;
    const struct graph_source *source = &found->graph->source;
    bool known = java_field(&source->java, field, &entry) && entry.class_ < UINT32_MAX;
    uint8_t *named = id_table_get(&found->field_names, field);
    if (named == NULL || use_class(found, known ? (uint32_t) entry.class_ : 0) == NULL)
        return false;
    *named = 1;
    return true;
}

/* Uses the fields of an object or, if `class` is NULL, static fields. */
static bool use_fields(struct hprof_classes *found, struct hprof_class *class,
                       const struct edge_list *list)
{
    size_t count;
    const struct edge *edges = edge_list_slots(list, &count);
    for (size_t i = 0; i < count; i++) {
        if (edges[i].target == 0 || !edge_key_is_field(edges[i].key))
            continue;
        uint32_t field = edge_key_number(edges[i].key);
        if (class == NULL && !use_static(found, field))
            return false;
        if (class != NULL && class->kind == 'L' && !use_field(found, class, field))
            return false;
    }
    return true;
}

/* Reads the objects to find classes and their fields. */
static bool find_classes(struct hprof_classes *found)
{
    const struct object_graph *graph = hprof_graph(found);
    if (!use_fields(found, NULL, &graph->nodes[GRAPH_STATICS].edges))
        return false;
    for (uint32_t i = GRAPH_STATICS + 1; i < graph->node_count; i++) {
        if (graph->nodes[i].object == 0)
            continue;
        const struct graph_object *object = &graph->objects[i];
        struct hprof_class *class = use_class(found, object->class_id);
        if (class == NULL)
            return false;
        class->size = object->size < UINT32_MAX ? (uint32_t) object->size : UINT32_MAX;
        if (!use_fields(found, class, &graph->nodes[i].edges))
            return false;
    }
    return true;
}

struct hprof_class *hprof_class_next(const struct hprof_classes *found, uint32_t *id)
{
    struct hprof_class *class;
    while ((class = id_table_next(&found->classes, id)) != NULL && !class->is_used)
        ++*id;
    return class;
}

uint32_t hprof_classes_named(const struct hprof_classes *found, const char *name)
{
    for (uint32_t id = 0; hprof_class_next(found, &id) != NULL; id++)
        if (is_name(hprof_class_name(found, id), name))
            return id;
    return UINT32_MAX;
}

struct step_bytes hprof_field_name(const struct hprof_classes *found, uint32_t field)
{
    struct step_java_field entry;
    const struct graph_source *source = &found->graph->source;
    if (field == MADE_REFERENT)
        return step_text("referent");
    return java_field(&source->java, field, &entry) ? entry.name : step_text("?");
}

static bool make_referent(struct hprof_classes *found, struct hprof_class *reference)
{
    for (size_t i = 0; i < reference->count; i++)
        if (is_name(hprof_field_name(found, reference->fields[i]), "referent"))
            return true;
    return use_field(found, reference, MADE_REFERENT);
}

/* Makes the reference classes superclasses of those that extend them. */
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
    struct hprof_class *class;
    for (uint32_t id = 0; (class = hprof_class_next(found, &id)) != NULL; id++)
        if (class->parent != 0)
            class->parent = is_name(hprof_class_name(found, id), "java/lang/ref/Finalizer")
                                ? ids[FINAL_REFERENCE]
                                : ids[WEAK_REFERENCE];
    for (size_t i = 0; i < REFERENCES; i++)
        classes[i]->parent = i == REFERENCE ? 0 : ids[REFERENCE];
    return make_referent(found, classes[REFERENCE]);
}

bool hprof_field_is_referent(const struct hprof_classes *found, uint32_t field)
{
    struct step_java_field entry;
    const struct java_records *java = &found->graph->source.java;
    return field == MADE_REFERENT ||
           (java_field(java, field, &entry) && is_name(entry.name, "referent") &&
            is_name(java_class_name(java, entry.class_), references[REFERENCE]));
}

/* ---- arrays ---- */

/* Limit for elements: a trace may claim any size. */
#define ELEMENTS_MOST (UINT64_C(1) << 28)

static bool find_length(const struct hprof_classes *found, uint32_t node,
                        const struct hprof_class *class, uint64_t *length)
{
    const struct graph_object *object = &hprof_graph(found)->objects[node];
    return object_layout_array_length(&found->layout, class->kind, object->size, object->padding,
                                      found->has_layout, length);
}

uint64_t hprof_length(const struct hprof_classes *found, uint32_t node,
                      const struct hprof_class *class)
{
    uint64_t length;
    find_length(found, node, class, &length);
    return length < ELEMENTS_MOST ? length : ELEMENTS_MOST;
}

static void count_arrays(struct hprof_classes *found)
{
    const struct object_graph *graph = hprof_graph(found);
    for (uint32_t i = GRAPH_FIRST_NODE; i < graph->node_count; i++) {
        uint64_t length;
        const struct hprof_class *class =
            graph->nodes[i].object != 0 ? hprof_class_of(found, i) : NULL;
        if (class == NULL || class->kind == 'L')
            continue;
        found->estimated += !find_length(found, i, class, &length);
        found->cut += length > ELEMENTS_MOST;
    }
}

/* ---- references ---- */

void hprof_count_lost(struct hprof_classes *found, uint32_t node, const struct hprof_class *class)
{
    size_t count;
    const struct edge *edges = edge_list_slots(&hprof_graph(found)->nodes[node].edges, &count);
    uint64_t length = class->kind == '[' ? hprof_length(found, node, class) : 0;
    for (size_t i = 0; i < count; i++) {
        bool fits = class->kind == 'L' ? edge_key_is_field(edges[i].key) : edges[i].key < length;
        found->lost += edges[i].target != 0 && !fits;
    }
}

static void hprof_classes_report(const char *output, const struct hprof_classes *found)
{
    if (found->lost > 0)
        report_line("%s: %s references cannot be stored in the format", output,
                    quantity_of_count(found->lost).text);
    if (found->cut > 0)
        report_line("%s: %s arrays are cut to %s elements, the most that this dump can have",
                    output, quantity_of_count(found->cut).text,
                    quantity_of_count(ELEMENTS_MOST).text);
    if (found->estimated > 0)
        report_line("%s: the lengths of %s arrays are estimates from their sizes, at %u bytes a "
                    "reference; record exact lengths with the agent's option "
                    "layout=yes",
                    output, quantity_of_count(found->estimated).text, found->layout.reference);
}

/* ---- from start to end ---- */

bool hprof_classes_find(struct hprof_classes *found, const struct graph_moment *graph)
{
    *found = (struct hprof_classes){.graph = graph};
    id_table_init(&found->classes, sizeof(struct hprof_class));
    id_table_init(&found->field_names, sizeof(uint8_t));
    found->has_layout = object_layout_of_trace(graph->source.java.reader, &found->layout);
    if (!find_classes(found) || !make_references(found))
        return false;
    count_arrays(found);
    return true;
}

void hprof_classes_reset(struct hprof_classes *found)
{
    const struct hprof_class *class;
    for (uint32_t id = 0; (class = id_table_next(&found->classes, &id)) != NULL; id++)
        free(class->fields);
    id_table_reset(&found->classes);
    id_table_reset(&found->field_names);
}

static enum step_status hprof_classes_print(struct hprof_classes *found,
                                            const struct format_job *job, struct output_file *file,
                                            graph_write write, struct step_error *error)
{
    const struct step_output output = output_file_as_output(file);
    struct output_stream stream;
    enum step_status status =
        output_stream_open(&stream, &output, trace_format_packing(job->format, job->output),
                           format_settings_level(job->settings), error);
    if (status == STEP_STATUS_OK)
        status = write(found, stream.file, error);
    if (status == STEP_STATUS_OK)
        status = output_stream_close(&stream, error);
    output_stream_reset(&stream);
    return status;
}

enum step_status graph_write_job(const struct format_job *job, graph_write write)
{
    const struct heap_export heap = heap_export_of(job->settings);
    struct hprof_classes found = {.graph = NULL};
    struct opened_graph opened;
    struct output_file file;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = opened_graph_open(&opened, job->input, &heap.at, &error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, job->output, &error);
    if (status == STEP_STATUS_OK) {
        status = hprof_classes_find(&found, &opened.graph)
                     ? hprof_classes_print(&found, job, &file, write, &error)
                     : no_memory(&error);
        status = output_file_end(&file, status, &error);
    }
    if (status == STEP_STATUS_OK) {
        opened_graph_report_unknown(job->input, &opened, 1);
        hprof_classes_report(job->output, &found);
    }
    hprof_classes_reset(&found);
    return opened_graph_close(&opened, job->input, status, &error);
}
