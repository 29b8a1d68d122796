/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace in the text format of Elephant Tracks (docs/formats/elephant-tracks.md): a line
 * for each allocation, death, change of a reference, and method entry and exit.  A replay of the
 * object graph knows what each reference was before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/cli/utf8_text.h"
#include "converter/containers/id_table.h"
#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/graph/keepers_of_trace.h"
#include "converter/layout/object_layout.h"
#include "converter/numbers/quantity.h"
#include "converter/output/output_directory.h"
#include "converter/output/output_file.h"
#include "converter/output/output_stream.h"
#include "converter/step/java_records.h"
#include "converter/trace/trace_format.h"
#include "format/core/bytes.h"
#include "format/core/grow.h"

enum { ACCESS_STATIC = 0x8, ACCESS_NATIVE = 0x100 };

struct call {
    uint64_t method, object;
};

struct call_stack {
    struct call *items;
    size_t count, capacity;
};

/* One of the two files. */
struct text_file {
    struct output_file file;
    struct output_stream stream;
    bool is_open;
};

struct tracking {
    struct opened_graph opened; /* its replay is that of the events written */
    struct output_directory directory;
    struct text_file trace, names_file;
    struct id_table sites;           /* uint8_t: has its line in `names_file` */
    struct step_buffer text;         /* scratch */
    struct id_table stacks;          /* struct call_stack, by thread */
    const struct graph_event *event; /* the one that is written */
    struct object_layout layout;
    bool has_layout;
    uint64_t estimated; /* lengths of arrays */
    bool is_start_snapshot;
    bool no_memory;
};

static struct graph_replay *replay_of(struct tracking *tracking)
{
    return &tracking->opened.graph.replay;
}

static FILE *out_of(struct tracking *tracking)
{
    return tracking->trace.stream.file;
}

static const struct java_records *java_of(const struct tracking *tracking)
{
    return &tracking->opened.graph.source.java;
}

/* ---- names ---- */

/* Blanks end a word: they, controls and `\` become \u00XX, invalid UTF-8 U+FFFD. */
static void print_word(struct tracking *tracking, struct step_bytes word, FILE *out)
{
    tracking->text.length = 0;
    if (!utf8_append(&tracking->text, word))
        tracking->no_memory = true;
    for (size_t i = 0; i < tracking->text.length; i++) {
        uint8_t byte = tracking->text.data[i];
        if (byte <= ' ' || byte == 0x7f || byte == '\\')
            fprintf(out, "\\u%04x", byte);
        else
            putc(byte, out);
    }
}

/* Prints a class as a type, "Ljava/lang/String;" or "[I". */
static void elephant_print_type(struct tracking *tracking, struct step_bytes name, FILE *out)
{
    bool is_array = name.length > 0 && name.data[0] == '[';
    if (!is_array)
        putc('L', out);
    print_word(tracking, name, out);
    if (!is_array)
        putc(';', out);
}

static void elephant_print_class(struct tracking *tracking, uint64_t class_id)
{
    FILE *out = tracking->names_file.stream.file;
    fprintf(out, " 0x%" PRIx64 " ", class_id);
    print_word(tracking, java_class_name(java_of(tracking), class_id), out);
}

static void write_field(struct tracking *tracking, uint64_t id)
{
    FILE *out = tracking->names_file.stream.file;
    struct step_java_field entry;
    if (!java_field(java_of(tracking), id, &entry))
        return;
    fprintf(out, "F %c 0x%" PRIx64 " ", (entry.modifiers & ACCESS_STATIC) != 0 ? 'S' : 'I', id);
    print_word(tracking, entry.name, out);
    elephant_print_class(tracking, entry.class_);
    putc(' ', out);
    print_word(tracking, entry.descriptor, out);
    putc('\n', out);
}

static void elephant_write_method(struct tracking *tracking, uint64_t id)
{
    FILE *out = tracking->names_file.stream.file;
    struct step_java_method entry;
    if (!java_method(java_of(tracking), id, &entry))
        return;
    fprintf(out, "N 0x%" PRIx64, id);
    elephant_print_class(tracking, entry.class_);
    putc(' ', out);
    print_word(tracking, entry.name, out);
    putc(' ', out);
    print_word(tracking, entry.descriptor, out);
    fprintf(out, " %c%s\n", (entry.modifiers & ACCESS_STATIC) != 0 ? 'S' : 'I',
            (entry.modifiers & ACCESS_NATIVE) != 0 ? "N" : "");
}

/* Writes the lines of all classes, fields and methods. */
static void write_names(struct tracking *tracking)
{
    FILE *out = tracking->names_file.stream.file;
    uint64_t classes = java_entry_count(java_of(tracking), STEP_JAVA_CLASS);
    uint64_t fields = java_entry_count(java_of(tracking), STEP_JAVA_FIELD);
    uint64_t methods = java_entry_count(java_of(tracking), STEP_JAVA_METHOD);
    fputs("# steptrace convert --to=elephant-tracks\n", out);
    for (uint64_t id = 1; id <= classes && !ferror(out); id++) {
        putc('C', out);
        elephant_print_class(tracking, id);
        putc('\n', out);
    }
    for (uint64_t id = 1; id <= fields && !ferror(out); id++)
        write_field(tracking, id);
    for (uint64_t id = 1; id <= methods && !ferror(out); id++)
        elephant_write_method(tracking, id);
}

/* Writes the line of a site when it first allocates; 0: unknown. */
static void elephant_put_site(struct tracking *tracking, uint32_t site, uint32_t class_id)
{
    FILE *out = tracking->names_file.stream.file;
    struct step_java_frame frame;
    struct step_java_method method = {.class_ = 0};
    if (site == 0)
        return;
    uint8_t *known = id_table_get(&tracking->sites, site);
    tracking->no_memory = tracking->no_memory || known == NULL;
    if (known == NULL || *known != 0)
        return;
    *known = 1;
    if (!java_frame(java_of(tracking), site, &frame))
        return;
    java_method(java_of(tracking), frame.method, &method);
    struct step_bytes type = java_class_name(java_of(tracking), class_id);
    size_t dimensions = 0;
    while (dimensions < type.length && type.data[dimensions] == '[')
        dimensions++;
    fprintf(out, "S 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx32 " ", (uint64_t) frame.method,
            (uint64_t) method.class_, site);
    elephant_print_type(tracking, type, out);
    fprintf(out, " %zu\n", dimensions);
}

/* ---- lines ---- */

/* Returns the length of an array, or 0. */
static uint64_t length_of(struct tracking *tracking, struct step_bytes type,
                          const struct graph_event *event)
{
    uint64_t length = 0;
    if (type.length > 1 && type.data[0] == '[' &&
        !object_layout_array_length(&tracking->layout, (char) type.data[1], event->amount,
                                    event->padding, tracking->has_layout, &length))
        tracking->estimated++;
    return length;
}

static void elephant_put_alloc(struct tracking *tracking, const struct graph_event *event)
{
    struct step_bytes type = java_class_name(java_of(tracking), event->class_id);
    bool is_array = type.length > 0 && type.data[0] == '[';
    FILE *out = out_of(tracking);
    fprintf(out, "%c %" PRIx64 " %" PRIx64 " ",
            event->kind == GRAPH_EXISTING ? 'I'
            : is_array                    ? 'A'
                                          : 'N',
            event->object, event->amount);
    elephant_print_type(tracking, type, out);
    fprintf(out, " %" PRIx32 " %" PRIx64 " %" PRIx32 "\n", event->site,
            length_of(tracking, type, event), event->thread_id);
    elephant_put_site(tracking, event->site, event->class_id);
}

static void elephant_put_death(struct tracking *tracking, const struct graph_event *event)
{
    if (!graph_replay_knows(replay_of(tracking), event->object))
        return;
    graph_replay_free(replay_of(tracking), event->object);
    fprintf(out_of(tracking), "D %" PRIx64 " %" PRIx32 "\n", event->object, event->thread_id);
}

static void put_update(void *user, uint32_t holder, uint32_t key, uint32_t before, uint32_t target)
{
    struct tracking *tracking = user;
    const struct graph_node *nodes = replay_of(tracking)->graph.nodes;
    uint32_t place = edge_key_is_index(key) ? key : edge_key_number(key);
    uint64_t object = holder != GRAPH_STATICS ? nodes[holder].object : 0;
    if (before == 0 && target == 0) /* null over null */
        return;
    fprintf(out_of(tracking), "U %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx32 " %" PRIx32 "\n",
            nodes[before].object, object, nodes[target].object, place, tracking->event->thread_id);
}

/* ---- calls ---- */

static void elephant_put_entry(struct tracking *tracking, const struct graph_event *event)
{
    struct call_stack *stack = id_table_get(&tracking->stacks, event->thread_id);
    fprintf(out_of(tracking), "M %" PRIx64 " %" PRIx64 " %" PRIx32 "\n", event->number,
            event->object, event->thread_id);
    if (stack == NULL || !STEP_MAKE_ROOM(stack->items, stack->capacity, stack->count + 1))
        tracking->no_memory = true;
    else
        stack->items[stack->count++] = (struct call){event->number, event->object};
}

/* The receiver is that of the entry; 0 if the entry is not in the trace. */
static void elephant_put_exit(struct tracking *tracking, const struct graph_event *event)
{
    struct call_stack *stack = id_table_find(&tracking->stacks, event->thread_id);
    uint64_t receiver = 0;
    if (stack != NULL && stack->count > 0 && stack->items[stack->count - 1].method == event->number)
        receiver = stack->items[--stack->count].object;
    fprintf(out_of(tracking), "%c %" PRIx64 " %" PRIx64 "%s %" PRIx32 "\n",
            event->amount != 0 ? 'X' : 'E', event->number, receiver, event->amount != 0 ? " 0" : "",
            event->thread_id);
}

static void reset_stacks(struct id_table *stacks)
{
    const struct call_stack *stack;
    for (uint32_t id = 0; (stack = id_table_next(stacks, &id)) != NULL; id++)
        free(stack->items);
    id_table_reset(stacks);
}

/* ---- events ---- */

static bool replay(struct tracking *tracking, const struct graph_event *event)
{
    return graph_replay_put(replay_of(tracking), event);
}

/* Of snapshots, the one at the start is written: later ones repeat what is known. */
static bool put_snapshot(struct tracking *tracking, const struct graph_event *event)
{
    if (event->kind == GRAPH_SNAPSHOT)
        tracking->is_start_snapshot = event->amount == 1;
    if (!tracking->is_start_snapshot)
        return true;
    if (event->kind == GRAPH_ROOT && event->target != 0)
        fprintf(out_of(tracking), "R %" PRIx64 " %" PRIx64 "\n", event->target, event->from);
    tracking->is_start_snapshot = event->kind != GRAPH_SNAPSHOT_END;
    return replay(tracking, event);
}

static bool elephant_put_event(struct tracking *tracking, const struct graph_event *event)
{
    tracking->event = event;
    switch ((enum graph_event_kind) event->kind) {
    case GRAPH_ALLOC:
    case GRAPH_EXISTING:
        elephant_put_alloc(tracking, event);
        return replay(tracking, event);
    case GRAPH_FREE:
    case GRAPH_DEATH:
        elephant_put_death(tracking, event);
        return true;
    case GRAPH_ENTRY:
        elephant_put_entry(tracking, event);
        return true;
    case GRAPH_EXIT:
        elephant_put_exit(tracking, event);
        return true;
    case GRAPH_FIELD:
    case GRAPH_ELEMENT:
    case GRAPH_RANGE:
    case GRAPH_CLONE:
        return replay(tracking, event);
    default:
        return put_snapshot(tracking, event);
    }
}

static enum step_status elephant_put_events(struct tracking *tracking, struct step_error *error)
{
    const uint32_t kinds =
        GRAPH_REPLAY_KINDS | GRAPH_EVENT_BIT(GRAPH_ENTRY) | GRAPH_EVENT_BIT(GRAPH_EXIT);
    struct graph_source *source = &tracking->opened.graph.source;
    const struct graph_event *event;
    enum step_status status =
        graph_source_start(source, kinds, graph_replay_knows, replay_of(tracking), error);
    while (status == STEP_STATUS_OK && !ferror(out_of(tracking)) &&
           (status = graph_source_next(source, &event, error)) == STEP_STATUS_OK)
        if (!elephant_put_event(tracking, event) || tracking->no_memory)
            status = no_memory(error);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* ---- the files ---- */

static bool elephant_is_own(int directory, const char *name)
{
    (void) directory;
    return strcmp(name, "trace") == 0 || strcmp(name, "names") == 0;
}

static enum step_status open_text(struct tracking *tracking, struct text_file *text,
                                  const char *name, struct step_error *error)
{
    enum step_status status = output_file_open_in(&text->file, tracking->directory.descriptor, name,
                                                  tracking->directory.path, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_output output = output_file_as_output(&text->file);
    text->is_open = true;
    return output_stream_open(&text->stream, &output, STEP_PACKING_NONE, 0, error);
}

static enum step_status close_text(struct text_file *text, struct step_error *error)
{
    enum step_status status = output_stream_close(&text->stream, error);
    return status == STEP_STATUS_OK ? output_file_commit(&text->file, error) : status;
}

static void abort_text(struct text_file *text)
{
    if (!text->is_open)
        return;
    output_stream_reset(&text->stream);
    output_file_abort(&text->file);
}

static enum step_status write_files(struct tracking *tracking, const char *output,
                                    struct step_error *error)
{
    enum step_status status =
        output_directory_open(&tracking->directory, output, elephant_is_own, error);
    if (status == STEP_STATUS_OK)
        status = open_text(tracking, &tracking->trace, "trace", error);
    if (status == STEP_STATUS_OK)
        status = open_text(tracking, &tracking->names_file, "names", error);
    if (status != STEP_STATUS_OK)
        return status;
    write_names(tracking);
    status = elephant_put_events(tracking, error);
    if (status == STEP_STATUS_OK)
        status = close_text(&tracking->trace, error);
    if (status == STEP_STATUS_OK)
        status = close_text(&tracking->names_file, error);
    return status == STEP_STATUS_OK ? output_directory_commit(&tracking->directory, error) : status;
}

/* Says what the output lacks, and what records it. */
static void report_lacks(const char *path, const struct tracking *tracking)
{
    const struct graph_source *source = &tracking->opened.graph.source;
    const uint64_t *counts = source->inventory.counts;
    if (!graph_source_has_stores(source))
        report_line("%s: no lines U: the trace has no stores of references (the agent's option "
                    "events=reference)",
                    path);
    if (counts[GRAPH_ENTRY] == 0)
        report_line("%s: no lines M, E and X: the trace has no method events (the agent's option "
                    "events=method)",
                    path);
    if (counts[GRAPH_DEATH] == 0 && counts[GRAPH_FREE] > 0)
        report_line("%s: deaths are at the collections that found them; run `steptrace deaths` "
                    "first for exact times",
                    path);
    if (tracking->estimated > 0)
        report_line("%s: the lengths of %s arrays are estimates from their sizes, at %u bytes a "
                    "reference (the agent's option layout=yes records them)",
                    path, quantity_of_count(tracking->estimated).text, tracking->layout.reference);
}

static enum step_status open_graph(struct tracking *tracking, const char *path,
                                   struct step_error *error)
{
    struct opened_graph *opened = &tracking->opened;
    enum step_status status =
        stepfile_open(path, NEEDS_ALL_OBJECTS, &opened->reader, &opened->seekable, error);
    if (status == STEP_STATUS_OK)
        status = graph_source_init(&opened->graph.source, opened->reader, error);
    if (status == STEP_STATUS_OK &&
        !graph_replay_init(&opened->graph.replay, &opened->graph.source, false, false))
        status = no_memory(error);
    if (status == STEP_STATUS_OK)
        tracking->has_layout = object_layout_of_trace(opened->reader, &tracking->layout);
    opened->graph.replay.stored = put_update;
    opened->graph.replay.stored_user = tracking;
    return status;
}

static enum step_status write_elephant(const struct format_job *job)
{
    struct tracking *tracking = calloc(1, sizeof *tracking);
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (tracking == NULL)
        return report_no_memory();
    id_table_init(&tracking->stacks, sizeof(struct call_stack));
    id_table_init(&tracking->sites, sizeof(uint8_t));
    enum step_status status = open_graph(tracking, job->input, &error);
    if (status == STEP_STATUS_OK)
        status = write_files(tracking, job->output, &error);
    if (status == STEP_STATUS_OK) {
        report_lacks(job->input, tracking);
        opened_graph_report_unknown(job->input, &tracking->opened, 0);
    }
    abort_text(&tracking->trace);
    abort_text(&tracking->names_file);
    output_directory_abort(&tracking->directory);
    reset_stacks(&tracking->stacks);
    id_table_reset(&tracking->sites);
    step_buffer_reset(&tracking->text);
    status = opened_graph_close(&tracking->opened, job->input, status, &error);
    free(tracking);
    return status;
}

const struct trace_format format_elephant_tracks = {
    .name = "elephant-tracks",
    .ending = ".et",
    .help = "Elephant Tracks, a directory",
    .needs = FORMAT_NEEDS_GRAPH,
    .is_directory = true,
    .write = write_elephant,
};
