/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, finding, printing. */
#include "converter/verb_parts/keepers_of_trace.h"

#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/base/quantity.h"
#include "converter/keepers/hprof_writer.h"
#include "converter/keepers/keeper_report.h"
#include "converter/open/input.h"
#include "converter/records/record_dump.h"

struct opened_graph {
    struct step_reader *reader;
    struct seekable_path seekable;
    struct graph_moment graph;
};

static void tell_unknown(const char *path, const struct graph_replay *replay)
{
    const struct graph_unknowns *unknown = &replay->unknown;
    uint64_t all = unknown->holders + unknown->targets + unknown->sources;
    if (all > 0 || replay->snapshot_unknown > 0)
        report_line(
            "%s: not in the graph: %s references of objects that the trace has no allocation "
            "of, or that are dead; %s that the snapshot could not tell",
            path, quantity_of_count(all).text, quantity_of_count(replay->snapshot_unknown).text);
    if (replay->is_in_snapshot)
        report_line("%s: snapshot %llu is not complete", path,
                    (unsigned long long) replay->snapshot);
}

/* What the answer would need and the trace does not have. */
static void tell_missing(const char *path, const struct graph_moment *graph)
{
    if (graph->replay.snapshot == 0)
        report_line("%s: has no snapshot by that moment (the agent's option snapshot=start): what "
                    "held objects before it is not known, and what nothing known holds counts as "
                    "held by a frame",
                    path);
}

static void tell_no_sites(const char *path, const struct retained *retained)
{
    for (size_t i = 0; i < retained->count; i++)
        if (retained->rows[i].site != 0)
            return;
    report_line("%s: has no call stacks (the agent's option stack=N)", path);
}

static enum step_status open_graph(struct opened_graph *opened, const char *path,
                                   const struct heap_moment *moment, struct step_error *error)
{
    *opened = (struct opened_graph){0};
    enum step_status status = record_open(path, &opened->reader, &opened->seekable, error);
    if (status == STEP_STATUS_OK)
        status = graph_moment_find(&opened->graph, opened->reader, moment, error);
    if (status == STEP_STATUS_OK) {
        tell_unknown(path, &opened->graph.replay);
        tell_missing(path, &opened->graph);
    }
    return status;
}

static enum step_status close_graph(struct opened_graph *opened, const char *path,
                                    enum step_status status, const struct step_error *error)
{
    if (status == STEP_STATUS_OK)
        status = report_reader_damage(opened->reader, path);
    else
        report_error(error);
    graph_moment_reset(&opened->graph);
    step_reader_destroy(opened->reader);
    seekable_path_close(&opened->seekable);
    return status;
}

enum step_status keepers_print_retained(const char *path, const struct keepers_options *options)
{
    struct opened_graph opened;
    struct retained retained = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_graph(&opened, path, &options->moment, &error);
    if (status == STEP_STATUS_OK &&
        !retained_find(&opened.graph, options->by, options->top, &retained))
        status = no_memory(&error);
    const struct keeper_report report = {
        .path = path, .graph = &opened.graph, .depth = options->depth, .as_json = options->as_json};
    if (status == STEP_STATUS_OK && options->by == RETAINED_BY_SITE)
        tell_no_sites(path, &retained);
    if (status == STEP_STATUS_OK)
        keeper_report_retained(&report, &retained);
    retained_reset(&retained);
    return close_graph(&opened, path, status, &error);
}

enum step_status keepers_print_paths(const char *path, const struct keepers_options *options,
                                     const struct keeper_choice *choice)
{
    struct opened_graph opened;
    struct keeper_paths paths = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_graph(&opened, path, &options->moment, &error);
    if (status == STEP_STATUS_OK && !keeper_paths_find(&opened.graph, choice, &paths))
        status = no_memory(&error);
    if (status == STEP_STATUS_OK && choice->object != 0 && paths.objects == 0)
        status = step_error_set(&error, STEP_STATUS_NOT_FOUND, path, STEP_NO_OFFSET,
                                "object %llu does not live at that moment",
                                (unsigned long long) choice->object);
    const struct keeper_report report = {
        .path = path, .graph = &opened.graph, .top = options->top, .as_json = options->as_json};
    if (status == STEP_STATUS_OK && !keeper_report_paths(&report, &paths))
        status = no_memory(&error);
    keeper_paths_reset(&paths);
    return close_graph(&opened, path, status, &error);
}

enum step_status keepers_write_hprof(const char *path, const struct heap_moment *moment,
                                     const char *output)
{
    struct opened_graph opened;
    struct output_file file;
    uint64_t lost = 0;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_graph(&opened, path, moment, &error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, output, &error);
    if (status == STEP_STATUS_OK) {
        status = hprof_write(&opened.graph, &file, &lost, &error);
        if (status == STEP_STATUS_OK)
            status = output_file_commit(&file, &error);
        output_file_abort(&file);
    }
    if (status == STEP_STATUS_OK && lost > 0)
        report_line("%s: %s references have no place in the format", output,
                    quantity_of_count(lost).text);
    return close_graph(&opened, path, status, &error);
}
