/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an HPROF dump: names, classes, roots, objects. */
#include "converter/formats/hprof/hprof_writer.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/heap/heap_writer.h"
#include "converter/numbers/trace_ticks.h"

enum { SEGMENT_BYTES = 1 << 20, ID_BYTES = 8 };
enum { TAG_UTF8 = 1, TAG_LOAD_CLASS = 2, TAG_TRACE = 5, TAG_SEGMENT = 0x1c, TAG_END = 0x2c };
enum { CLASS_DUMP = 0x20, INSTANCE_DUMP = 0x21, OBJECT_ARRAY = 0x22, PRIMITIVE_ARRAY = 0x23 };
enum { TYPE_OBJECT = 2 };
enum { ROOT_JNI_GLOBAL = 1, ROOT_STICKY_CLASS = 5, ROOT_MONITOR = 7, ROOT_UNKNOWN = 0xff };

/* Ids for classes and names, in ranges that traces do not use. */
#define CLASS_ID(class_id) (UINT64_C(1) << 62 | (class_id))
#define CLASS_NAME_ID(class_id) (UINT64_C(2) << 62 | (class_id))
#define FIELD_NAME_ID(field) (UINT64_C(3) << 62 | (field))

struct dumping {
    struct hprof_classes *found;
    FILE *out;
    uint8_t *bytes; /* sub-records, for a segment */
    size_t used;
};

/* ---- bytes ---- */

static void hprof_writer_set_number(uint8_t *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t) (value >> (8 * (bytes - 1 - i)));
}

static void hprof_writer_put(struct dumping *dumping, uint64_t value, unsigned bytes)
{
    hprof_writer_set_number(dumping->bytes + dumping->used, value, bytes);
    dumping->used += bytes;
}

static void hprof_writer_write_bytes(struct dumping *dumping)
{
    fwrite(dumping->bytes, 1, dumping->used, dumping->out);
    dumping->used = 0;
}

/* A record begins with its tag, a time and the length of what follows. */
static void begin_record(struct dumping *dumping, uint8_t tag, uint64_t length)
{
    hprof_writer_put(dumping, tag, 1);
    hprof_writer_put(dumping, 0, 4);
    hprof_writer_put(dumping, length, 4);
}

static void flush_segment(struct dumping *dumping)
{
    uint8_t head[9] = {TAG_SEGMENT};
    hprof_writer_set_number(head + 5, dumping->used, 4);
    if (dumping->used > 0)
        fwrite(head, 1, sizeof head, dumping->out);
    hprof_writer_write_bytes(dumping);
}

/* Ensures room for a sub-record of this size. */
static void hprof_writer_begin(struct dumping *dumping, size_t bytes)
{
    if (dumping->used + bytes > SEGMENT_BYTES)
        flush_segment(dumping);
}

/* ---- names and classes ---- */

static void hprof_writer_put_name(struct dumping *dumping, uint64_t id, struct step_bytes name)
{
    begin_record(dumping, TAG_UTF8, ID_BYTES + name.length);
    hprof_writer_put(dumping, id, ID_BYTES);
    hprof_writer_write_bytes(dumping);
    if (name.length > 0)
        fwrite(name.data, 1, name.length, dumping->out);
}

static void hprof_writer_put_names(struct dumping *dumping)
{
    const struct hprof_classes *found = dumping->found;
    const uint8_t *is_named;
    begin_record(dumping, TAG_TRACE, 12);
    hprof_writer_put(dumping, 1, 4);
    hprof_writer_put(dumping, 0, 8); /* of no thread, without frames */
    hprof_writer_write_bytes(dumping);
    for (uint32_t id = 0; (is_named = id_table_next(&found->field_names, &id)) != NULL; id++)
        if (*is_named != 0)
            hprof_writer_put_name(dumping, FIELD_NAME_ID(id), hprof_field_name(found, id));
    for (uint32_t id = 0; hprof_class_next(found, &id) != NULL; id++) {
        hprof_writer_put_name(dumping, CLASS_NAME_ID(id), hprof_class_name(found, id));
        begin_record(dumping, TAG_LOAD_CLASS, 4 + ID_BYTES + 4 + ID_BYTES);
        hprof_writer_put(dumping, id + UINT64_C(1), 4);
        hprof_writer_put(dumping, CLASS_ID(id), ID_BYTES);
        hprof_writer_put(dumping, 1, 4);
        hprof_writer_put(dumping, CLASS_NAME_ID(id), ID_BYTES);
        hprof_writer_write_bytes(dumping);
    }
}

/* Selects the static fields of a class among all its fields. */
static void put_statics(struct dumping *dumping, uint32_t class_id)
{
    size_t count, mine = 0;
    const struct object_graph *graph = hprof_graph(dumping->found);
    const struct edge *edges = edge_list_slots(&graph->nodes[GRAPH_STATICS].edges, &count);
    size_t place = dumping->used;
    hprof_writer_put(dumping, 0, 2);
    for (size_t i = 0; i < count && mine < 4096; i++) {
        struct step_java_field entry = {.class_ = 0};
        if (graph->nodes[edges[i].target].object == 0)
            continue;
        uint32_t field = edge_key_number(edges[i].key);
        java_field(&dumping->found->graph->source.java, field, &entry);
        if (entry.class_ != class_id)
            continue;
        hprof_writer_put(dumping, FIELD_NAME_ID(field), ID_BYTES);
        hprof_writer_put(dumping, TYPE_OBJECT, 1);
        hprof_writer_put(dumping, graph->nodes[edges[i].target].object, ID_BYTES);
        mine++;
    }
    hprof_writer_set_number(dumping->bytes + place, mine, 2);
}

/* Limited to what fits into a segment. */
static size_t field_count(const struct hprof_class *class)
{
    size_t most = (SEGMENT_BYTES - 4096 * 17 - 128) / 27;
    return class == NULL ? 0 : class->count < most ? class->count : most;
}

static void hprof_writer_put_classes(struct dumping *dumping)
{
    const struct hprof_class *class;
    uint32_t object = hprof_classes_named(dumping->found, "java/lang/Object");
    for (uint32_t id = 0; (class = hprof_class_next(dumping->found, &id)) != NULL; id++) {
        size_t fields = field_count(class);
        hprof_writer_begin(dumping, fields * 9 + 4096 * 17 + 128);
        hprof_writer_put(dumping, CLASS_DUMP, 1);
        hprof_writer_put(dumping, CLASS_ID(id), ID_BYTES);
        hprof_writer_put(dumping, 1, 4);
        uint32_t above = class->parent != 0 ? class->parent : object;
        hprof_writer_put(dumping, above != UINT32_MAX && above != id ? CLASS_ID(above) : 0,
                         ID_BYTES);
        for (int i = 0; i < 5; i++) /* loader, signers, domain, and two reserved */
            hprof_writer_put(dumping, 0, ID_BYTES);
        hprof_writer_put(dumping, class->kind == 'L' ? class->size : 0, 4);
        hprof_writer_put(dumping, 0, 2); /* of the constant pool */
        put_statics(dumping, id);
        hprof_writer_put(dumping, fields, 2);
        for (size_t i = 0; i < fields; i++) {
            hprof_writer_put(dumping, FIELD_NAME_ID(class->fields[i]), ID_BYTES);
            hprof_writer_put(dumping, TYPE_OBJECT, 1);
        }
    }
}

/* ---- roots ---- */

static void hprof_writer_put_root(struct dumping *dumping, uint8_t tag, uint64_t object)
{
    hprof_writer_begin(dumping, 32);
    hprof_writer_put(dumping, tag, 1);
    hprof_writer_put(dumping, object, ID_BYTES);
    if (tag == ROOT_JNI_GLOBAL)
        hprof_writer_put(dumping, 0, ID_BYTES);
}

/* Locals belong to threads, which the dump does not have. */
static uint8_t tag_of_root(const struct graph_start *root)
{
    return root->kind == GRAPH_ROOT_JNI_GLOBAL     ? ROOT_JNI_GLOBAL
           : root->kind == GRAPH_ROOT_SYSTEM_CLASS ? ROOT_STICKY_CLASS
           : root->kind == GRAPH_ROOT_MONITOR      ? ROOT_MONITOR
                                                   : ROOT_UNKNOWN;
}

/* A static field is part of its class, which is a root. */
static void hprof_writer_put_roots(struct dumping *dumping)
{
    const struct graph_moment *moment = dumping->found->graph;
    for (uint32_t id = 0; hprof_class_next(dumping->found, &id) != NULL; id++)
        hprof_writer_put_root(dumping, ROOT_STICKY_CLASS, CLASS_ID(id));
    for (size_t i = 0; i < moment->root_count; i++) {
        const struct graph_start *root = &moment->roots[i];
        if (root->kind != GRAPH_ROOT_STATIC)
            hprof_writer_put_root(dumping, tag_of_root(root),
                                  hprof_graph(dumping->found)->nodes[root->node].object);
    }
}

/* ---- objects ---- */

/* Writes the list's targets, or zeros, until the array is complete.  The segment may only end in
 * between if the array has its own. */
static void put_elements(struct dumping *dumping, const struct edge_list *list, uint64_t count,
                         unsigned bytes)
{
    const struct object_graph *graph = hprof_graph(dumping->found);
    for (uint64_t i = 0; i < count; i++) {
        if (dumping->used + bytes > SEGMENT_BYTES) {
            hprof_writer_write_bytes(dumping);
            if (ferror(dumping->out))
                return;
        }
        uint32_t target = list != NULL ? edge_list_get(list, (uint32_t) i) : 0;
        hprof_writer_put(dumping, graph->nodes[target].object, bytes);
    }
}

/* An array that does not fit into a shared segment is written directly, in its own. */
static void hprof_writer_put_array(struct dumping *dumping, uint32_t node,
                                   const struct hprof_class *class)
{
    static const char types[] = "ZCFDBSIJ";
    static const uint8_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
    const struct object_graph *graph = hprof_graph(dumping->found);
    const struct graph_object *object = &graph->objects[node];
    bool is_primitive = class->kind != '[';
    size_t type = is_primitive ? (size_t) (strchr(types, class->kind) - types) : 0;
    unsigned bytes = is_primitive ? sizes[type] : ID_BYTES;
    uint64_t count = hprof_length(dumping->found, node, class);
    uint64_t head = is_primitive ? 1 + 8 + 4 + 4 + 1 : 1 + 8 + 4 + 4 + 8;
    uint64_t length = head + count * bytes;
    bool is_large = length > SEGMENT_BYTES;
    if (is_large) {
        flush_segment(dumping);
        begin_record(dumping, TAG_SEGMENT, length);
    } else {
        hprof_writer_begin(dumping, (size_t) length);
    }
    hprof_writer_put(dumping, is_primitive ? PRIMITIVE_ARRAY : OBJECT_ARRAY, 1);
    hprof_writer_put(dumping, graph->nodes[node].object, ID_BYTES);
    hprof_writer_put(dumping, 1, 4);
    hprof_writer_put(dumping, count, 4);
    if (is_primitive)
        hprof_writer_put(dumping, 4 + type, 1);
    else
        hprof_writer_put(dumping, CLASS_ID(object->class_id), ID_BYTES);
    put_elements(dumping, is_primitive ? NULL : &graph->nodes[node].edges, count, bytes);
    if (is_large)
        hprof_writer_write_bytes(dumping);
}

static void hprof_writer_put_fields(struct dumping *dumping, const struct edge_list *edges,
                                    const struct hprof_class *class)
{
    const struct object_graph *graph = hprof_graph(dumping->found);
    for (size_t i = 0; i < field_count(class); i++) {
        uint32_t target = edge_list_get(edges, edge_key_of_field(class->fields[i]));
        if (target == 0)
            target = edge_list_get(edges, edge_key_of_weak_field(class->fields[i]));
        hprof_writer_put(dumping, graph->nodes[target].object, ID_BYTES);
    }
}

static void put_instance(struct dumping *dumping, uint32_t node, const struct hprof_class *class)
{
    const struct object_graph *graph = hprof_graph(dumping->found);
    const struct edge_list *edges = &graph->nodes[node].edges;
    size_t fields = 0;
    for (const struct hprof_class *of = class; of != NULL;
         of = hprof_class_parent(dumping->found, of))
        fields += field_count(of);
    hprof_writer_begin(dumping, 32 + fields * ID_BYTES);
    hprof_writer_put(dumping, INSTANCE_DUMP, 1);
    hprof_writer_put(dumping, graph->nodes[node].object, ID_BYTES);
    hprof_writer_put(dumping, 1, 4);
    hprof_writer_put(dumping, CLASS_ID(graph->objects[node].class_id), ID_BYTES);
    hprof_writer_put(dumping, fields * ID_BYTES, 4);
    for (const struct hprof_class *of = class; of != NULL;
         of = hprof_class_parent(dumping->found, of))
        hprof_writer_put_fields(dumping, edges, of);
}

static void put_objects(struct dumping *dumping)
{
    const struct object_graph *graph = hprof_graph(dumping->found);
    for (uint32_t i = GRAPH_FIRST_NODE; i < graph->node_count && !ferror(dumping->out); i++) {
        if (graph->nodes[i].object == 0)
            continue;
        const struct hprof_class *class = hprof_class_of(dumping->found, i);
        hprof_count_lost(dumping->found, i, class);
        if (class->kind == 'L')
            put_instance(dumping, i, class);
        else
            hprof_writer_put_array(dumping, i, class);
    }
}

/* ---- all of it ---- */

static void hprof_writer_put_head(struct dumping *dumping)
{
    static const char format[] = "JAVA PROFILE 1.0.2"; /* including the final 0 */
    const struct graph_moment *graph = dumping->found->graph;
    const struct step_reader *reader = graph->source.java.reader;
    uint64_t ns = trace_number(step_reader_property(reader, "start-time-ns"), 0);
    fwrite(format, 1, sizeof format, dumping->out);
    hprof_writer_put(dumping, ID_BYTES, 4);
    hprof_writer_put(dumping, (ns + graph->time_ns) / 1000000, 8);
}

enum step_status hprof_write(struct hprof_classes *found, FILE *out, struct step_error *error)
{
    struct dumping dumping = {.found = found, .out = out, .bytes = malloc(SEGMENT_BYTES + 64)};
    if (dumping.bytes == NULL)
        return no_memory(error);
    hprof_writer_put_head(&dumping);
    hprof_writer_put_names(&dumping);
    hprof_writer_put_classes(&dumping);
    hprof_writer_put_roots(&dumping);
    put_objects(&dumping);
    flush_segment(&dumping);
    begin_record(&dumping, TAG_END, 0);
    hprof_writer_write_bytes(&dumping);
    free(dumping.bytes);
    return STEP_STATUS_OK;
}

static enum step_status write_hprof(const struct format_job *job)
{
    return graph_write_job(job, hprof_write);
}

static const struct format_options *const hprof_options[] = {&heap_moment_options, NULL};

const struct trace_format format_hprof = {
    .name = "hprof",
    .ending = ".hprof",
    .help = "Java heap dump, with references",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_GRAPH,
    .options = hprof_options,
    .write = write_hprof,
};
