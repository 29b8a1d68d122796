/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace, builds its graph at a moment, and prints retained sizes or paths. */
#include "converter/graph/keepers_of_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/table_text.h"
#include "converter/containers/id_table.h"
#include "converter/containers/no_memory.h"
#include "converter/graph/graph_source.h"
#include "converter/graph/paths.h"
#include "converter/graph/retained.h"
#include "converter/numbers/quantity.h"
#include "converter/records/record_dump.h"
#include "converter/trace/unmatched.h"
#include "format/json/json_output.h"

struct keeper_report {
    const char *path; /* path of the trace */
    const struct graph_moment *graph;
    const struct keepers_options *options;
};

static const char *const axis_names[] = {"class", "site", "object"};
static const char *const axis_plurals[] = {"classes", "sites", "objects"};

/* ---- head ---- */

static void keepers_print_head(const struct keeper_report *report, const char *what,
                               uint64_t objects, uint64_t bytes)
{
    char moment[64];
    const struct graph_moment *graph = report->graph;
    heap_moment_print(&graph->moment, graph->source.java.unit, moment, sizeof moment);
    printf("%s at %s (%s, %s): %s object%s, %s\n", what, moment,
           quantity_of_time((double) graph->time_ns, graph->source.java.unit).text,
           graph->has_stores ? "replayed from stores" : "as a snapshot has it",
           quantity_of_count(objects).text, plural(objects),
           quantity_of_bytes((double) bytes).text);
}

static void json_head(struct json_output *json, const struct keeper_report *report,
                      const char *what)
{
    char moment[64];
    const struct graph_moment *graph = report->graph;
    heap_moment_print(&graph->moment, graph->source.java.unit, moment, sizeof moment);
    json_open(json, stdout);
    json_text(json, "trace", report->path);
    json_text(json, "what", what);
    json_begin_object(json, "moment");
    json_text(json, "at", moment);
    json_number(json, "time_ns", graph->time_ns);
    json_number(json, "collections", graph->collections);
    json_text(json, "graph", graph->has_stores ? "stores" : "snapshot");
    json_end_object(json);
}

/* ---- retained ---- */

static void keepers_name_of(const struct keeper_report *report, const struct retained *retained,
                            const struct retained_row *row, struct keeper_name *name)
{
    if (retained->by == RETAINED_BY_SITE)
        keeper_name_site(&report->graph->source, row->site, report->options->depth, name);
    else
        keeper_name_class(&report->graph->source, row->class_id, name);
}

static void keepers_print_row(const struct keeper_report *report, const struct retained *retained,
                              const struct retained_row *row)
{
    struct keeper_name name;
    printf("%12s %12s %12s  ", quantity_of_bytes((double) row->retained_bytes).text,
           quantity_of_bytes((double) row->bytes).text, quantity_of_count(row->objects).text);
    if (retained->by == RETAINED_BY_OBJECT)
        printf("%" PRIu64 " ", row->object);
    keepers_name_of(report, retained, row, &name);
    print_shown_text(name.text, stdout);
    if (retained->by == RETAINED_BY_OBJECT && row->site != 0) {
        keeper_name_site(&report->graph->source, row->site, 1, &name);
        printf("  ");
        print_shown_text(name.text, stdout);
    }
    printf("\n");
}

static bool lacks_existing(const struct step_reader *reader)
{
    return trace_lacks_existing(step_reader_property(reader, "existing"));
}

/* Begins the line of what no root reaches: objects that the trace lacks may hold it. */
static void print_unreached(const struct keeper_report *report)
{
    printf("not reached from any root%s: ", lacks_existing(report->graph->source.java.reader)
                                                ? " that the trace has"
                                                : ", not collected yet");
}

static void print_retained(const struct keeper_report *report, const struct retained *retained)
{
    keepers_print_head(report, "retained", retained->objects, retained->bytes);
    if (retained->unreached_objects > 0) {
        print_unreached(report);
        printf("%s object%s, %s\n", quantity_of_count(retained->unreached_objects).text,
               plural(retained->unreached_objects),
               quantity_of_bytes((double) retained->unreached_bytes).text);
    }
    printf("%12s %12s %12s  %s\n", "retained", "own", "objects", axis_names[retained->by]);
    for (size_t i = 0; i < retained->count; i++)
        keepers_print_row(report, retained, &retained->rows[i]);
    table_print_rest(retained->count, retained->count + retained->left, axis_plurals[retained->by]);
}

static void json_retained(const struct keeper_report *report, const struct retained *retained)
{
    struct json_output json;
    struct keeper_name name;
    json_head(&json, report, "retained");
    json_number(&json, "objects", retained->objects);
    json_number(&json, "bytes", retained->bytes);
    json_number(&json, "unreached_objects", retained->unreached_objects);
    json_number(&json, "unreached_bytes", retained->unreached_bytes);
    json_text(&json, "by", axis_names[retained->by]);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < retained->count; i++) {
        const struct retained_row *row = &retained->rows[i];
        json_begin_object(&json, NULL);
        json_number(&json, "retained_bytes", row->retained_bytes);
        json_number(&json, "bytes", row->bytes);
        json_number(&json, "objects", row->objects);
        if (retained->by == RETAINED_BY_OBJECT)
            json_number(&json, "object", row->object);
        if (retained->by != RETAINED_BY_SITE) {
            keeper_name_class(&report->graph->source, row->class_id, &name);
            json_text(&json, "class", name.text);
        }
        if (retained->by != RETAINED_BY_CLASS)
            stack_put_json(keeper_site_stack(&report->graph->source, row->site, 0), &json, "site");
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}

/* ---- paths ---- */

/* Steps are stored from the end to the root (`parent`); keeper_way() turns them round. */
static bool print_way(const struct keeper_report *report, const struct keeper_paths *paths,
                      uint32_t target)
{
    size_t count;
    struct keeper_name name;
    uint32_t *way = keeper_way(paths, target, &count);
    for (size_t i = 0; way != NULL && i < count; i++) {
        keeper_step_name(report->graph, &paths->steps[way[i]], &name);
        printf("    ");
        print_shown_text(name.text, stdout);
        printf("\n");
    }
    free(way);
    return way != NULL;
}

static bool print_paths(const struct keeper_report *report, const struct keeper_paths *paths)
{
    bool ok = true;
    size_t shown = table_shown(report->options->top, paths->target_count);
    keepers_print_head(report, "paths", paths->objects, paths->bytes);
    if (paths->unreached > 0) {
        print_unreached(report);
        puts(quantity_of_count(paths->unreached).text);
    }
    for (size_t i = 0; ok && i < shown; i++) {
        const struct keeper_step *end = &paths->steps[paths->targets[i]];
        printf("\n%s object%s, %s; path to object %" PRIu64 " (%" PRIu32 " step%s)\n",
               quantity_of_count(end->objects).text, plural(end->objects),
               quantity_of_bytes((double) end->bytes).text, end->example, end->length,
               plural(end->length));
        ok = print_way(report, paths, paths->targets[i]);
    }
    table_print_rest(shown, paths->target_count, "paths");
    return ok;
}

static bool json_way(const struct keeper_report *report, const struct keeper_paths *paths,
                     uint32_t target, struct json_output *json)
{
    size_t count;
    struct keeper_name name;
    uint32_t *way = keeper_way(paths, target, &count);
    json_begin_array(json, "path");
    for (size_t i = 0; way != NULL && i < count; i++) {
        keeper_step_name(report->graph, &paths->steps[way[i]], &name);
        json_text(json, NULL, name.text);
    }
    json_end_array(json);
    free(way);
    return way != NULL;
}

static bool json_paths(const struct keeper_report *report, const struct keeper_paths *paths)
{
    bool ok = true;
    size_t shown = table_shown(report->options->top, paths->target_count);
    struct json_output json;
    json_head(&json, report, "paths");
    json_number(&json, "objects", paths->objects);
    json_number(&json, "bytes", paths->bytes);
    json_number(&json, "unreached_objects", paths->unreached);
    json_begin_array(&json, "paths");
    for (size_t i = 0; ok && i < shown; i++) {
        const struct keeper_step *end = &paths->steps[paths->targets[i]];
        json_begin_object(&json, NULL);
        json_number(&json, "objects", end->objects);
        json_number(&json, "bytes", end->bytes);
        json_number(&json, "example", end->example);
        json_number(&json, "steps", end->length);
        ok = json_way(report, paths, paths->targets[i], &json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
    return ok;
}

/* Relevant only if stores are missing, or if a live object was not reached. */
void opened_graph_report_unknown(const char *path, const struct opened_graph *opened,
                                 uint64_t unreached)
{
    const struct graph_replay *replay = &opened->graph.replay;
    const struct graph_unknowns *unknown = &replay->unknown;
    uint64_t all = unknown->holders + unknown->targets + unknown->sources;
    if (all > 0 || (replay->snapshot_unknown > 0 && unreached > 0))
        report_line("%s: %s references were skipped: their objects are not in the trace", path,
                    quantity_of_count(all + replay->snapshot_unknown).text);
    if (unreached > 0 && lacks_existing(opened->reader))
        report_line("%s: what no root reaches may be held by objects that the trace "
                    "lacks: " TRACE_LACKS_EXISTING,
                    path);
    if (replay->is_in_snapshot)
        report_line("%s: snapshot %llu is not complete", path,
                    (unsigned long long) replay->snapshot);
}

/* Reports that the trace lacks a snapshot. */
static void report_missing(const char *path, const struct graph_moment *graph)
{
    if (graph->replay.snapshot == 0)
        report_line("%s: has no snapshot by that moment (the agent's option snapshot=start): "
                    "references from before it are unknown, and objects without a known holder "
                    "count as held by a frame",
                    path);
}

static void report_no_sites(const char *path, const struct retained *retained)
{
    for (size_t i = 0; i < retained->count; i++)
        if (retained->rows[i].site != 0)
            return;
    report_no_stacks(path);
}

enum step_status opened_graph_open(struct opened_graph *opened, const char *path,
                                   const struct heap_moment *moment, struct step_error *error)
{
    *opened = (struct opened_graph){0};
    enum step_status status =
        stepfile_open(path, "the graph of references", &opened->reader, &opened->seekable, error);
    if (status == STEP_STATUS_OK)
        status = graph_moment_find(&opened->graph, opened->reader, moment, error);
    if (status == STEP_STATUS_OK)
        report_missing(path, &opened->graph);
    return status;
}

enum step_status opened_graph_close(struct opened_graph *opened, const char *path,
                                    enum step_status status, const struct step_error *error)
{
    graph_moment_reset(&opened->graph);
    return stepfile_close(opened->reader, &opened->seekable, path, status, error);
}

enum step_status keepers_print_retained(const char *path, const struct keepers_options *options)
{
    struct opened_graph opened;
    struct retained retained = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = opened_graph_open(&opened, path, &options->moment, &error);
    if (status == STEP_STATUS_OK)
        status = retained_find(&opened.graph, options->by, options->top, &retained, &error);
    const struct keeper_report report = {path, &opened.graph, options};
    if (status == STEP_STATUS_OK && options->by == RETAINED_BY_SITE)
        report_no_sites(path, &retained);
    if (status == STEP_STATUS_OK) {
        opened_graph_report_unknown(path, &opened, retained.unreached_objects);
        (options->as_json ? json_retained : print_retained)(&report, &retained);
    }
    retained_reset(&retained);
    return opened_graph_close(&opened, path, status, &error);
}

/* Sets the error for patterns that match no live object. */
static enum step_status no_such_class(const char *path, const struct opened_graph *opened,
                                      const struct selected_globs *globs, struct step_error *error)
{
    char text[320] = "";
    const struct object_graph *graph = &opened->graph.replay.graph;
    const struct graph_source *source = &opened->graph.source;
    struct step_bytes *names = malloc((graph->node_count + 1) * sizeof *names);
    struct step_java_class class;
    struct id_table seen;
    size_t count = 0;
    id_table_init(&seen, sizeof(uint8_t));
    for (uint32_t i = GRAPH_FIRST_NODE; names != NULL && i < graph->node_count; i++) {
        uint8_t *is_seen =
            graph->nodes[i].object != 0 ? id_table_get(&seen, graph->objects[i].class_id) : NULL;
        if (is_seen != NULL && !*is_seen &&
            java_class(&source->java, graph->objects[i].class_id, &class))
            names[count++] = class.name;
        if (is_seen != NULL)
            *is_seen = 1;
    }
    if (names != NULL)
        nearest_class(globs->items[0], names, count, text, sizeof text);
    id_table_reset(&seen);
    free(names);
    return step_error_set(error, STEP_STATUS_NOT_FOUND, path, STEP_NO_OFFSET,
                          "no object lives at that moment whose class matches '%s'%s%s",
                          globs->items[0], text,
                          lacks_existing(source->java.reader) ? "; " TRACE_LACKS_EXISTING : "");
}

enum step_status keepers_print_paths(const char *path, const struct keepers_options *options,
                                     const struct keeper_choice *choice)
{
    struct opened_graph opened;
    struct keeper_paths paths = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = opened_graph_open(&opened, path, &options->moment, &error);
    if (status == STEP_STATUS_OK && !keeper_paths_find(&opened.graph, choice, &paths))
        status = no_memory(&error);
    if (status == STEP_STATUS_OK && choice->object != 0 && paths.objects == 0)
        status = step_error_set(&error, STEP_STATUS_NOT_FOUND, path, STEP_NO_OFFSET,
                                "object %llu does not live at that moment",
                                (unsigned long long) choice->object);
    else if (status == STEP_STATUS_OK && paths.objects == 0)
        status = no_such_class(path, &opened, choice->classes, &error);
    const struct keeper_report report = {path, &opened.graph, options};
    if (status == STEP_STATUS_OK)
        opened_graph_report_unknown(path, &opened, paths.unreached);
    if (status == STEP_STATUS_OK && !(options->as_json ? json_paths : print_paths)(&report, &paths))
        status = no_memory(&error);
    keeper_paths_reset(&paths);
    return opened_graph_close(&opened, path, status, &error);
}
