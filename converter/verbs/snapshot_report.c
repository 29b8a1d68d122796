/* SPDX-License-Identifier: Apache-2.0 */
/* Reports where stores and snapshots differ, by field and by class of array, the largest difference
 * first. */
#include "converter/verbs/snapshot_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"
#include "converter/graph/keeper_names.h"

struct snapshot_printer {
    const char *path;
    uint64_t limit;
    struct json_output *json;
    uint64_t count; /* of snapshots */
    bool lost;      /* memory ran out, and the places were lost */
};

struct place {
    const struct edge_counts *counts;
    uint32_t id;
    bool is_field;
};

static uint64_t differences(const struct edge_counts *counts)
{
    return counts->missing + counts->other + counts->surplus;
}

static int by_differences(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    uint64_t of_a = differences(a->counts), of_b = differences(b->counts);
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    if (a->is_field != b->is_field)
        return a->is_field ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Collects the places that differ; with `places` NULL, only counts them. */
static size_t gather(const struct id_table *table, bool is_field, struct place *places)
{
    size_t count = 0;
    for (uint32_t id = 0; id_table_next(table, &id); id++) {
        const struct edge_counts *counts = id_table_find(table, id);
        if (counts == NULL || differences(counts) == 0)
            continue;
        if (places != NULL)
            places[count] = (struct place){counts, id, is_field};
        count++;
    }
    return count;
}

static struct place *sorted_places(const struct snapshot_result *result, size_t *count)
{
    size_t fields = gather(&result->fields, true, NULL);
    *count = fields + gather(&result->elements, false, NULL);
    struct place *places = malloc((*count + 1) * sizeof *places);
    if (places == NULL)
        return NULL;
    gather(&result->fields, true, places);
    gather(&result->elements, false, places + fields);
    qsort(places, *count, sizeof *places, by_differences);
    return places;
}

static void name_place(const struct graph_source *source, const struct place *place,
                       struct keeper_name *name)
{
    if (place->is_field)
        keeper_name_field(source, place->id, name);
    else
        keeper_name_class(source, place->id, name);
}

static void put_counts(struct json_output *json, const struct edge_counts *counts)
{
    json_number(json, "references", counts->found);
    json_number(json, "missing", counts->missing);
    json_number(json, "other", counts->other);
    json_number(json, "surplus", counts->surplus);
}

static void put_result(const struct snapshot_printer *printer, const struct graph_source *source,
                       const struct snapshot_result *result, const struct place *places,
                       size_t count)
{
    struct keeper_name name;
    struct json_output *json = printer->json;
    json_begin_object(json, NULL);
    json_number(json, "number", result->number);
    json_number(json, "time_ns", result->time_ns);
    json_bool(json, "complete", result->is_complete);
    put_counts(json, &result->all);
    json_number(json, "constants", result->constants);
    json_number(json, "unknown", result->unknown);
    json_begin_array(json, "places");
    for (size_t i = 0; i < count && i < printer->limit; i++) {
        json_begin_object(json, NULL);
        name_place(source, &places[i], &name);
        json_text(json, places[i].is_field ? "field" : "elements_of", name.text);
        put_counts(json, places[i].counts);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static double share(const struct edge_counts *counts)
{
    uint64_t same = counts->found - counts->missing - counts->other;
    return counts->found > 0 ? 100.0 * (double) same / (double) counts->found : 100.0;
}

static void print_result(const struct snapshot_printer *printer, const struct graph_source *source,
                         const struct snapshot_result *result, const struct place *places,
                         size_t count)
{
    struct keeper_name name;
    const struct edge_counts *all = &result->all;
    printf("snapshot %" PRIu64 " at %s%s: %s references, %.4f %% as the stores have them",
           result->number, quantity_of_ns((double) result->time_ns).text,
           result->is_complete ? "" : ", which is not complete", quantity_of_count(all->found).text,
           share(all));
    printf("; %s missing (%s of them constants of classes), %s other, %s surplus, %s not known\n",
           quantity_of_count(all->missing).text, quantity_of_count(result->constants).text,
           quantity_of_count(all->other).text, quantity_of_count(all->surplus).text,
           quantity_of_count(result->unknown).text);
    if (count > 0)
        printf("%10s %10s %10s %10s  %s\n", "references", "missing", "other", "surplus",
               "field, or elements of");
    for (size_t i = 0; i < count && i < printer->limit; i++) {
        const struct edge_counts *counts = places[i].counts;
        printf("%10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "  ", counts->found,
               counts->missing, counts->other, counts->surplus);
        name_place(source, &places[i], &name);
        print_shown_text(name.text, stdout);
        putchar('\n');
    }
    if (count > printer->limit)
        printf("... and %zu more (--limit=N prints more)\n", count - (size_t) printer->limit);
}

static void print(void *user, const struct graph_source *source,
                  const struct snapshot_result *result)
{
    struct snapshot_printer *printer = user;
    size_t count;
    struct place *places = sorted_places(result, &count);
    if (printer->count == 0 && !graph_source_has_stores(source))
        report_line("%s: has no stores of references (the agent's option events=reference) that a "
                    "snapshot could be compared with: all is missing",
                    printer->path);
    printer->count++;
    if (places == NULL)
        printer->lost = true;
    else if (printer->json != NULL)
        put_result(printer, source, result, places, count);
    else
        print_result(printer, source, result, places, count);
    free(places);
}

enum step_status snapshots_print(const char *path, uint64_t limit, struct json_output *json)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct snapshot_printer printer = {.path = path, .limit = limit, .json = json};
    if (json != NULL)
        json_begin_array(json, "snapshots");
    enum step_status status = snapshots_check(path, print, &printer, &error);
    if (json != NULL)
        json_end_array(json);
    if (status == STEP_STATUS_OK && printer.lost)
        status = STEP_STATUS_NO_MEMORY;
    if (status == STEP_STATUS_OK && printer.count == 0 && json == NULL)
        puts("no snapshot after that of the start (snapshot=start+end makes one)");
    return status;
}
