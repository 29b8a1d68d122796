/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an HPROF dump: names, classes, roots, objects. */
#include "converter/formats/hprof/hprof_writer.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/base/trace_ticks.h"
#include "converter/graph/keepers_of_trace.h"
#include "converter/heap/heap_writer.h"

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
    const struct graph_moment *graph;
    struct output_file *output;
    struct step_error *error;
    enum step_status status; /* the first failure */
    uint8_t *segment;
    size_t used;
    struct hprof_classes found;
    uint64_t lost; /* references */
};

/* ---- bytes ---- */

static void write_bytes(struct dumping *dumping, const void *data, size_t length)
{
    if (dumping->status == STEP_STATUS_OK && length > 0)
        dumping->status = output_file_write(dumping->output, data, length, dumping->error);
}

static void set_id(uint8_t *out, uint64_t id, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t) (id >> (8 * (bytes - 1 - i)));
}

/* A record begins with its tag, a time and the length of what follows. */
static void begin_record(struct dumping *dumping, uint8_t tag, uint64_t length)
{
    uint8_t start[9] = {tag};
    set_id(start + 5, length, 4);
    write_bytes(dumping, start, sizeof start);
}

static void write_segment(struct dumping *dumping)
{
    write_bytes(dumping, dumping->segment, dumping->used);
    dumping->used = 0;
}

static void flush_segment(struct dumping *dumping)
{
    if (dumping->used > 0)
        begin_record(dumping, TAG_SEGMENT, dumping->used);
    write_segment(dumping);
}

/* Writes to the segment. */
static void put(struct dumping *dumping, uint64_t value, unsigned bytes)
{
    set_id(dumping->segment + dumping->used, value, bytes);
    dumping->used += bytes;
}

/* Ensures room for a sub-record of this size. */
static void begin(struct dumping *dumping, size_t bytes)
{
    if (dumping->used + bytes > SEGMENT_BYTES)
        flush_segment(dumping);
}

static void put_record(struct dumping *dumping, uint8_t tag, const uint8_t *head, size_t head_bytes,
                       struct step_bytes body)
{
    begin_record(dumping, tag, head_bytes + body.length);
    write_bytes(dumping, head, head_bytes);
    write_bytes(dumping, body.data, body.length);
}

/* ---- names and classes ---- */

static void put_name(struct dumping *dumping, uint64_t id, struct step_bytes name)
{
    uint8_t head[ID_BYTES];
    set_id(head, id, ID_BYTES);
    put_record(dumping, TAG_UTF8, head, sizeof head, name);
}

static void put_names(struct dumping *dumping)
{
    static const uint8_t no_frames[12] = {0, 0, 0, 1};
    const struct step_bytes nothing = {no_frames, 0};
    put_record(dumping, TAG_TRACE, no_frames, sizeof no_frames, nothing);
    for (uint32_t id = 0; id_table_next(&dumping->found.field_names, &id); id++) {
        const uint8_t *is_named = id_table_find(&dumping->found.field_names, id);
        if (*is_named != 0)
            put_name(dumping, FIELD_NAME_ID(id), hprof_field_name(&dumping->found, id));
    }
    for (uint32_t id = 0; id_table_next(&dumping->found.classes, &id); id++) {
        const struct hprof_class *class = id_table_find(&dumping->found.classes, id);
        uint8_t load[4 + ID_BYTES + 4 + ID_BYTES];
        if (!class->is_used)
            continue;
        put_name(dumping, CLASS_NAME_ID(id), hprof_class_name(&dumping->found, id));
        set_id(load, id + UINT64_C(1), 4);
        set_id(load + 4, CLASS_ID(id), ID_BYTES);
        set_id(load + 4 + ID_BYTES, 1, 4);
        set_id(load + 8 + ID_BYTES, CLASS_NAME_ID(id), ID_BYTES);
        put_record(dumping, TAG_LOAD_CLASS, load, sizeof load, nothing);
    }
}

/* Selects the static fields of a class among all its fields. */
static void put_statics(struct dumping *dumping, uint32_t class_id)
{
    size_t count, mine = 0;
    const struct object_graph *graph = &dumping->graph->replay.graph;
    const struct graph_source *source = &dumping->graph->source;
    const struct edge *edges = edge_list_slots(&graph->nodes[GRAPH_STATICS].edges, &count);
    size_t place = dumping->used;
    put(dumping, 0, 2);
    for (size_t i = 0; i < count && mine < 4096; i++) {
        struct step_java_field entry = {.class_ = 0};
        if (graph->nodes[edges[i].target].object == 0)
            continue;
        uint32_t field = edge_key_number(edges[i].key);
        java_field(&source->java, field, &entry);
        if (entry.class_ != class_id)
            continue;
        put(dumping, FIELD_NAME_ID(field), ID_BYTES);
        put(dumping, TYPE_OBJECT, 1);
        put(dumping, graph->nodes[edges[i].target].object, ID_BYTES);
        mine++;
    }
    set_id(dumping->segment + place, mine, 2);
}

/* Limited to what fits into a segment. */
static size_t field_count(const struct hprof_class *class)
{
    size_t most = (SEGMENT_BYTES - 4096 * 17 - 128) / 27;
    return class == NULL ? 0 : class->count < most ? class->count : most;
}

static void put_classes(struct dumping *dumping)
{
    uint32_t object = hprof_classes_named(&dumping->found, "java/lang/Object");
    for (uint32_t id = 0; id_table_next(&dumping->found.classes, &id); id++) {
        const struct hprof_class *class = id_table_find(&dumping->found.classes, id);
        if (!class->is_used)
            continue;
        size_t fields = field_count(class);
        begin(dumping, fields * 9 + 4096 * 17 + 128);
        put(dumping, CLASS_DUMP, 1);
        put(dumping, CLASS_ID(id), ID_BYTES);
        put(dumping, 1, 4);
        uint32_t above = class->parent != 0 ? class->parent : object;
        put(dumping, above != UINT32_MAX && above != id ? CLASS_ID(above) : 0, ID_BYTES);
        for (int i = 0; i < 5; i++) /* loader, signers, domain, and two reserved */
            put(dumping, 0, ID_BYTES);
        put(dumping, class->kind == 'L' ? class->size : 0, 4);
        put(dumping, 0, 2); /* of the constant pool */
        put_statics(dumping, id);
        put(dumping, fields, 2);
        for (size_t i = 0; i < fields; i++) {
            put(dumping, FIELD_NAME_ID(class->fields[i]), ID_BYTES);
            put(dumping, TYPE_OBJECT, 1);
        }
    }
}

/* ---- roots ---- */

static void put_root(struct dumping *dumping, uint8_t tag, uint64_t object)
{
    begin(dumping, 32);
    put(dumping, tag, 1);
    put(dumping, object, ID_BYTES);
    if (tag == ROOT_JNI_GLOBAL)
        put(dumping, 0, ID_BYTES);
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
static void put_roots(struct dumping *dumping)
{
    for (uint32_t id = 0; id_table_next(&dumping->found.classes, &id); id++) {
        const struct hprof_class *class = id_table_find(&dumping->found.classes, id);
        if (class->is_used)
            put_root(dumping, ROOT_STICKY_CLASS, CLASS_ID(id));
    }
    for (size_t i = 0; i < dumping->graph->root_count; i++) {
        const struct graph_start *root = &dumping->graph->roots[i];
        if (root->kind != GRAPH_ROOT_STATIC)
            put_root(dumping, tag_of_root(root),
                     dumping->graph->replay.graph.nodes[root->node].object);
    }
}

/* ---- objects ---- */

/* Writes the list's targets, or zeros, until the array is complete.  The segment may only end in
 * between if the array has its own. */
static void put_elements(struct dumping *dumping, const struct edge_list *list, uint64_t count,
                         unsigned bytes)
{
    const struct object_graph *graph = &dumping->graph->replay.graph;
    for (uint64_t i = 0; i < count && dumping->status == STEP_STATUS_OK; i++) {
        if (dumping->used + bytes > SEGMENT_BYTES)
            write_segment(dumping);
        uint32_t target = list != NULL ? edge_list_get(list, (uint32_t) i) : 0;
        put(dumping, graph->nodes[target].object, bytes);
    }
}

/* An array that does not fit into a shared segment is written directly, in its own. */
static void put_array(struct dumping *dumping, uint32_t node, const struct hprof_class *class)
{
    static const char types[] = "ZCFDBSIJ";
    static const uint8_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8};
    const struct object_graph *graph = &dumping->graph->replay.graph;
    const struct graph_object *object = &graph->objects[node];
    bool is_primitive = class->kind != '[';
    size_t type = is_primitive ? (size_t) (strchr(types, class->kind) - types) : 0;
    unsigned bytes = is_primitive ? sizes[type] : ID_BYTES;
    uint64_t count = hprof_length(&dumping->found, node, class);
    uint64_t head = is_primitive ? 1 + 8 + 4 + 4 + 1 : 1 + 8 + 4 + 4 + 8;
    uint64_t length = head + count * bytes;
    bool is_large = length > SEGMENT_BYTES;
    if (is_large) {
        flush_segment(dumping);
        begin_record(dumping, TAG_SEGMENT, length);
    } else {
        begin(dumping, (size_t) length);
    }
    put(dumping, is_primitive ? PRIMITIVE_ARRAY : OBJECT_ARRAY, 1);
    put(dumping, graph->nodes[node].object, ID_BYTES);
    put(dumping, 1, 4);
    put(dumping, count, 4);
    if (is_primitive)
        put(dumping, 4 + type, 1);
    else
        put(dumping, CLASS_ID(object->class_id), ID_BYTES);
    put_elements(dumping, is_primitive ? NULL : &graph->nodes[node].edges, count, bytes);
    if (is_large)
        write_segment(dumping);
}

static void put_fields(struct dumping *dumping, const struct edge_list *edges,
                       const struct hprof_class *class)
{
    const struct object_graph *graph = &dumping->graph->replay.graph;
    for (size_t i = 0; i < field_count(class); i++) {
        uint32_t target = edge_list_get(edges, edge_key_of_field(class->fields[i]));
        if (target == 0)
            target = edge_list_get(edges, edge_key_of_weak_field(class->fields[i]));
        put(dumping, graph->nodes[target].object, ID_BYTES);
    }
}

static void put_instance(struct dumping *dumping, uint32_t node, const struct hprof_class *class)
{
    const struct object_graph *graph = &dumping->graph->replay.graph;
    const struct edge_list *edges = &graph->nodes[node].edges;
    size_t fields = 0;
    for (const struct hprof_class *of = class; of != NULL;
         of = hprof_class_parent(&dumping->found, of))
        fields += field_count(of);
    begin(dumping, 32 + fields * ID_BYTES);
    put(dumping, INSTANCE_DUMP, 1);
    put(dumping, graph->nodes[node].object, ID_BYTES);
    put(dumping, 1, 4);
    put(dumping, CLASS_ID(graph->objects[node].class_id), ID_BYTES);
    put(dumping, fields * ID_BYTES, 4);
    for (const struct hprof_class *of = class; of != NULL;
         of = hprof_class_parent(&dumping->found, of))
        put_fields(dumping, edges, of);
}

static void put_objects(struct dumping *dumping)
{
    const struct object_graph *graph = &dumping->graph->replay.graph;
    for (uint32_t i = GRAPH_FIRST_NODE; i < graph->node_count && dumping->status == STEP_STATUS_OK;
         i++) {
        if (graph->nodes[i].object == 0)
            continue;
        const struct hprof_class *class =
            id_table_find(&dumping->found.classes, graph->objects[i].class_id);
        dumping->lost += hprof_count_lost(&dumping->found, i, class);
        if (class->kind == 'L')
            put_instance(dumping, i, class);
        else
            put_array(dumping, i, class);
    }
}

/* ---- all of it ---- */

static void put_head(struct dumping *dumping)
{
    static const char format[] = "JAVA PROFILE 1.0.2"; /* including the final 0 */
    uint8_t rest[12];
    const struct step_reader *reader = dumping->graph->source.java.reader;
    uint64_t ns = trace_number(step_reader_property(reader, "start-time-ns"), 0);
    set_id(rest, ID_BYTES, 4);
    set_id(rest + 4, (ns + dumping->graph->time_ns) / 1000000, 8);
    write_bytes(dumping, format, sizeof format);
    write_bytes(dumping, rest, sizeof rest);
}

enum step_status hprof_write(const struct graph_moment *graph, struct output_file *output,
                             const struct format_job *job, struct hprof_notes *notes,
                             struct step_error *error)
{
    static const uint8_t end[9] = {TAG_END};
    struct dumping dumping = {.graph = graph, .output = output, .error = error};
    (void) job;
    dumping.segment = malloc(SEGMENT_BYTES + 64);
    if (!hprof_classes_find(&dumping.found, graph) || dumping.segment == NULL) {
        dumping.status = no_memory(error);
    } else {
        put_head(&dumping);
        put_names(&dumping);
        put_classes(&dumping);
        put_roots(&dumping);
        put_objects(&dumping);
        flush_segment(&dumping);
        write_bytes(&dumping, end, sizeof end);
    }
    *notes = hprof_notes_of(&dumping.found, dumping.lost);
    hprof_classes_reset(&dumping.found);
    free(dumping.segment);
    return dumping.status;
}

enum step_status graph_write_job(const struct format_job *job, graph_write write)
{
    const char *path = job->input;
    const struct heap_export heap = heap_export_of(job->settings);
    struct opened_graph opened;
    struct output_file file;
    struct hprof_notes notes;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = opened_graph_open(&opened, path, &heap.at, &error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, job->output, &error);
    if (status == STEP_STATUS_OK) {
        status = write(&opened.graph, &file, job, &notes, &error);
        if (status == STEP_STATUS_OK)
            status = output_file_commit(&file, &error);
        output_file_abort(&file);
    }
    if (status == STEP_STATUS_OK)
        opened_graph_report_unknown(path, &opened, 1);
    if (status == STEP_STATUS_OK)
        hprof_report(job->output, &notes);
    return opened_graph_close(&opened, path, status, &error);
}

static enum step_status write_hprof(const struct format_job *job)
{
    return graph_write_job(job, hprof_write);
}

static const struct format_options *const hprof_options[] = {&heap_moment_options, NULL};

const struct trace_format format_hprof = {
    .name = "hprof",
    .ending = ".hprof",
    .help = "Java's own heap dump, with references",
    .needs = FORMAT_NEEDS_GRAPH,
    .options = hprof_options,
    .write = write_hprof,
};
