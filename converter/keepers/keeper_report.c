/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and JSON. */
#include "converter/keepers/keeper_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/keepers/keeper_names.h"
#include "format/json/json_output.h"

static const char *const axis_names[] = {"class", "site", "object"};

/* ---- where and when ---- */

static void print_head(const struct keeper_report *report, const char *what, uint64_t objects,
                       uint64_t bytes)
{
    char moment[64];
    const struct graph_moment *graph = report->graph;
    heap_moment_print(&graph->moment, moment, sizeof moment);
    printf("%s at %s (%s, %s): %s objects, %s\n", what, moment,
           quantity_of_ns((double) graph->time_ns).text,
           graph->has_stores ? "replayed from stores" : "as a snapshot has it",
           quantity_of_count(objects).text, quantity_of_bytes((double) bytes).text);
}

static void json_head(struct json_output *json, const struct keeper_report *report,
                      const char *what)
{
    char moment[64];
    const struct graph_moment *graph = report->graph;
    heap_moment_print(&graph->moment, moment, sizeof moment);
    json_init(json, stdout);
    json_begin_object(json, NULL);
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

static void name_of(const struct keeper_report *report, const struct retained *retained,
                    const struct retained_row *row, struct keeper_name *name)
{
    if (retained->by == RETAINED_BY_SITE)
        keeper_name_site(&report->graph->source, row->site, report->depth, name);
    else
        keeper_name_class(&report->graph->source, row->class_id, name);
}

static void print_row(const struct keeper_report *report, const struct retained *retained,
                      const struct retained_row *row)
{
    struct keeper_name name;
    printf("%12s %12s %12s  ", quantity_of_bytes((double) row->retained_bytes).text,
           quantity_of_bytes((double) row->bytes).text, quantity_of_count(row->objects).text);
    if (retained->by == RETAINED_BY_OBJECT)
        printf("%" PRIu64 " ", row->object);
    name_of(report, retained, row, &name);
    print_shown_text(name.text, stdout);
    if (retained->by == RETAINED_BY_OBJECT && row->site != 0) {
        keeper_name_site(&report->graph->source, row->site, 1, &name);
        printf("  ");
        print_shown_text(name.text, stdout);
    }
    printf("\n");
}

static void print_retained(const struct keeper_report *report, const struct retained *retained)
{
    print_head(report, "retained", retained->objects, retained->bytes);
    if (retained->unreached_objects > 0)
        printf("not reached from any root: %s objects, %s\n",
               quantity_of_count(retained->unreached_objects).text,
               quantity_of_bytes((double) retained->unreached_bytes).text);
    printf("%12s %12s %12s  %s\n", "retained", "own", "objects", axis_names[retained->by]);
    for (size_t i = 0; i < retained->count; i++)
        print_row(report, retained, &retained->rows[i]);
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
        if (retained->by != RETAINED_BY_CLASS) {
            keeper_name_site(&report->graph->source, row->site, report->depth, &name);
            json_text(&json, "site", name.text);
        }
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    json_finish(&json);
}

void keeper_report_retained(const struct keeper_report *report, const struct retained *retained)
{
    if (report->as_json)
        json_retained(report, retained);
    else
        print_retained(report, retained);
}

/* ---- paths ---- */

static size_t count_of(const struct keeper_report *report, const struct keeper_paths *paths)
{
    return report->top > 0 && report->top < paths->target_count ? (size_t) report->top
                                                                : paths->target_count;
}

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
    print_head(report, "paths", paths->objects, paths->bytes);
    if (paths->unreached > 0)
        printf("not reached from any root: %s\n", quantity_of_count(paths->unreached).text);
    for (size_t i = 0; ok && i < count_of(report, paths); i++) {
        const struct keeper_step *end = &paths->steps[paths->targets[i]];
        printf("\n%s objects, %s; the way to %" PRIu64 " has %" PRIu32 " steps\n",
               quantity_of_count(end->objects).text, quantity_of_bytes((double) end->bytes).text,
               end->example, end->length);
        ok = print_way(report, paths, paths->targets[i]);
    }
    if (count_of(report, paths) < paths->target_count)
        printf("\n%zu more (--top=0: all)\n", paths->target_count - count_of(report, paths));
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
    struct json_output json;
    json_head(&json, report, "paths");
    json_number(&json, "objects", paths->objects);
    json_number(&json, "bytes", paths->bytes);
    json_number(&json, "unreached_objects", paths->unreached);
    json_begin_array(&json, "paths");
    for (size_t i = 0; ok && i < count_of(report, paths); i++) {
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
    json_end_object(&json);
    json_finish(&json);
    return ok;
}

bool keeper_report_paths(const struct keeper_report *report, const struct keeper_paths *paths)
{
    return report->as_json ? json_paths(report, paths) : print_paths(report, paths);
}
