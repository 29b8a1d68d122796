/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an object graph as a heapdump.proto message, for simulators of collectors
 * (docs/formats/heapdump.md): objects at made-up addresses, the slots of their references,
 * and the roots.  Each object is a field of the outermost message and is written at once.
 */
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/formats/hprof/hprof_writer.h"
#include "converter/heap/heap_writer.h"
#include "converter/output/protobuf_output.h"
#include "steptrace/packed.h"

enum dump_field { DUMP_OBJECT = 1, DUMP_ROOT = 2, DUMP_SPACE = 3 };
enum object_field {
    OBJECT_START = 1,
    OBJECT_CLASS = 2,
    OBJECT_SIZE = 3,
    OBJECT_ARRAY_LENGTH = 4,
    OBJECT_EDGE = 7
};
enum edge_field { EDGE_SLOT = 1, EDGE_TARGET = 2 };
enum space_field { SPACE_NAME = 1, SPACE_START = 2, SPACE_END = 3 };

/* Bytes of a 64-bit JVM's object without compressed references. */
enum { HEADER_BYTES = 16, ARRAY_HEADER_BYTES = 24, SLOT_BYTES = 8, PAGE_BYTES = 4096 };
/* MMTk's first space, whose number readers take from the address. */
#define SPACE_BEGIN UINT64_C(0x20000000000)
#define SPACE_LIMIT UINT64_C(0x40000000000)

struct place {
    uint64_t object;
    uint32_t node;
};

struct dumping {
    struct hprof_classes *found;
    uint64_t *addresses; /* by node; 0: not in the dump */
    struct place *order; /* by the objects' numbers */
    size_t count;
    uint64_t end; /* of the space */
    FILE *out;
    struct byte_output head, edge;
};

static const struct object_graph *graph_of(const struct dumping *dumping)
{
    return hprof_graph(dumping->found);
}

/* ---- layout ---- */

static int heapdump_writer_by_number(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return (a->object > b->object) - (a->object < b->object);
}

/* Returns the number of slots of an object, those of its class and of classes above it. */
static uint64_t slot_count(const struct dumping *dumping, uint32_t node,
                           const struct hprof_class *class)
{
    uint64_t slots = 0;
    if (class->kind == '[')
        return hprof_length(dumping->found, node, class);
    for (; class != NULL && class->kind == 'L'; class = hprof_class_parent(dumping->found, class))
        slots += class->count;
    return slots;
}

/* Returns the object's size; slots have 8 bytes here, so it can be larger than the trace's. */
static uint64_t heapdump_writer_size_of(const struct dumping *dumping, uint32_t node,
                                        const struct hprof_class *class)
{
    uint64_t size = graph_of(dumping)->objects[node].size;
    uint64_t slots = slot_count(dumping, node, class) * SLOT_BYTES;
    uint64_t least = class->kind == 'L' ? HEADER_BYTES + slots : ARRAY_HEADER_BYTES + slots;
    if (class->kind == '[' || size < least)
        size = least;
    return size > SPACE_LIMIT ? SPACE_LIMIT : (size + 7) / 8 * 8;
}

/* Gives addresses in the order of the objects' numbers, as an allocator without gaps does. */
static enum step_status lay_out(struct dumping *dumping, struct step_error *error)
{
    const struct object_graph *graph = graph_of(dumping);
    dumping->addresses = calloc(graph->node_count + (size_t) 1, sizeof *dumping->addresses);
    dumping->order = calloc(graph->node_count + (size_t) 1, sizeof *dumping->order);
    if (dumping->addresses == NULL || dumping->order == NULL)
        return no_memory(error);
    for (uint32_t node = GRAPH_FIRST_NODE; node < graph->node_count; node++)
        if (graph->nodes[node].object != 0)
            dumping->order[dumping->count++] = (struct place){graph->nodes[node].object, node};
    if (dumping->count > 1)
        qsort(dumping->order, dumping->count, sizeof *dumping->order, heapdump_writer_by_number);
    dumping->end = SPACE_BEGIN;
    for (size_t i = 0; i < dumping->count; i++) {
        uint32_t node = dumping->order[i].node;
        dumping->addresses[node] = dumping->end;
        dumping->end +=
            heapdump_writer_size_of(dumping, node, hprof_class_of(dumping->found, node));
        if (dumping->end >= SPACE_LIMIT)
            return step_error_set(error, STEP_STATUS_UNSUPPORTED, NULL, STEP_NO_OFFSET,
                                  "the objects take more than the 2 TiB of a space in the format");
    }
    return STEP_STATUS_OK;
}

/* ---- objects ---- */

/* Prepares `dumping->edge`.  A null reference has a slot and no target. */
static void make_edge(struct dumping *dumping, uint64_t slot, uint32_t target)
{
    uint64_t address = dumping->addresses[target];
    bytes_clear(&dumping->edge);
    protobuf_number(&dumping->edge, EDGE_SLOT, slot);
    if (address != 0)
        protobuf_number(&dumping->edge, EDGE_TARGET, address);
}

typedef void (*edge_visit)(struct dumping *dumping, uint64_t *bytes);

static void count_edge(struct dumping *dumping, uint64_t *bytes)
{
    *bytes += protobuf_field_size(OBJECT_EDGE, dumping->edge.bytes.length);
}

static void write_edge(struct dumping *dumping, uint64_t *bytes)
{
    (void) bytes;
    protobuf_write_part(dumping->out, OBJECT_EDGE, &dumping->edge);
}

/* The field Reference.referent has its slot, but is no edge: it keeps nothing alive. */
static void visit_fields(struct dumping *dumping, uint32_t node, const struct hprof_class *class,
                         edge_visit visit, uint64_t *bytes)
{
    const struct edge_list *edges = &graph_of(dumping)->nodes[node].edges;
    uint64_t slot = dumping->addresses[node] + HEADER_BYTES;
    for (; class != NULL; class = hprof_class_parent(dumping->found, class))
        for (size_t i = 0; i < class->count; i++, slot += SLOT_BYTES) {
            if (hprof_field_is_referent(dumping->found, class->fields[i]))
                continue;
            make_edge(dumping, slot, edge_list_get(edges, edge_key_of_field(class->fields[i])));
            visit(dumping, bytes);
        }
}

static void visit_edges(struct dumping *dumping, uint32_t node, const struct hprof_class *class,
                        edge_visit visit, uint64_t *bytes)
{
    const struct edge_list *edges = &graph_of(dumping)->nodes[node].edges;
    uint64_t slot = dumping->addresses[node] + ARRAY_HEADER_BYTES;
    if (class->kind == 'L')
        visit_fields(dumping, node, class, visit, bytes);
    else
        for (uint64_t i = 0, count = class->kind == '[' ? slot_count(dumping, node, class) : 0;
             i < count && !ferror(dumping->out); i++, slot += SLOT_BYTES) {
            make_edge(dumping, slot, edge_list_get(edges, (uint32_t) i));
            visit(dumping, bytes);
        }
}

static void write_object(struct dumping *dumping, uint32_t node)
{
    const struct hprof_class *class = hprof_class_of(dumping->found, node);
    struct byte_output *head = &dumping->head;
    uint64_t edges = 0;
    bytes_clear(head);
    protobuf_number(head, OBJECT_START, dumping->addresses[node]);
    protobuf_number(head, OBJECT_CLASS, graph_of(dumping)->objects[node].class_id);
    protobuf_number(head, OBJECT_SIZE, heapdump_writer_size_of(dumping, node, class));
    if (class->kind == '[')
        protobuf_number(head, OBJECT_ARRAY_LENGTH, slot_count(dumping, node, class));
    visit_edges(dumping, node, class, count_edge, &edges);
    protobuf_write_head(dumping->out, DUMP_OBJECT, head->bytes.length + edges);
    fwrite(head->bytes.data, 1, head->bytes.length, dumping->out);
    visit_edges(dumping, node, class, write_edge, &edges);
    hprof_count_lost(dumping->found, node, class);
}

/* ---- the file ---- */

static void write_roots(struct dumping *dumping)
{
    enum { ROOT_TARGET = 1 };
    for (size_t i = 0; i < dumping->found->graph->root_count; i++) {
        uint64_t address = dumping->addresses[dumping->found->graph->roots[i].node];
        bytes_clear(&dumping->head);
        protobuf_number(&dumping->head, ROOT_TARGET, address);
        if (address != 0)
            protobuf_write_part(dumping->out, DUMP_ROOT, &dumping->head);
    }
}

static void write_space(struct dumping *dumping)
{
    uint64_t end = (dumping->end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    bytes_clear(&dumping->head);
    protobuf_text(&dumping->head, SPACE_NAME, step_text("immix"));
    protobuf_number(&dumping->head, SPACE_START, SPACE_BEGIN);
    protobuf_number(&dumping->head, SPACE_END, end);
    protobuf_write_part(dumping->out, DUMP_SPACE, &dumping->head);
}

static enum step_status write_dump(struct hprof_classes *found, FILE *out, struct step_error *error)
{
    struct dumping dumping = {.found = found, .out = out};
    enum step_status status = lay_out(&dumping, error);
    for (size_t i = 0; status == STEP_STATUS_OK && i < dumping.count && !ferror(out); i++)
        write_object(&dumping, dumping.order[i].node);
    if (status == STEP_STATUS_OK) {
        write_roots(&dumping);
        write_space(&dumping);
        status = dumping.head.failed || dumping.edge.failed ? no_memory(error) : STEP_STATUS_OK;
    }
    free(dumping.addresses);
    free(dumping.order);
    bytes_reset(&dumping.head);
    bytes_reset(&dumping.edge);
    return status;
}

static enum step_status write_heapdump(const struct format_job *job)
{
    return graph_write_job(job, write_dump);
}

static const struct format_options *const heapdump_options[] = {&heap_moment_options, NULL};

const struct trace_format format_heapdump = {
    .name = "heapdump",
    .ending = ".binpb",
    .help = "MMTk's heapdump, with references",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_GRAPH,
    .options = heapdump_options,
    .write = write_heapdump,
};
