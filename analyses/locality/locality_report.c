/* SPDX-License-Identifier: Apache-2.0 */
/* Prints distances, and candidates for co-allocation: for people, and as JSON. */
#include <string.h>

#include "analyses/locality/reference_distances.h"
#include "converter/cli/error_report.h"
#include "converter/cli/table_text.h"
#include "converter/numbers/quantity.h"
#include "format/json/json_output.h"

#define COUNT(number) quantity_of_count(number).text
#define BYTES(number) quantity_of_bytes((double) (number)).text

static void put_share(uint64_t part, uint64_t whole)
{
    if (whole == 0)
        printf("%12s", "-");
    else
        printf("%10.1f %%", 100.0 * (double) part / (double) whole);
}

static void locality_report_put_head(const struct reference_distances *distances)
{
    const struct reference_row *all = &distances->all;
    uint64_t known = reference_row_known(all);
    printf("trace       %s\n", distances->path);
    printf("objects     %s", COUNT(distances->objects));
    printf(", of which %s existed when tracing began\n", COUNT(distances->existing));
    printf("references  %s %s\n", COUNT(all->references),
           distances->is_snapshot ? "in the last snapshot" : "made by stores and copies");
    printf("            %s between objects of one thread", COUNT(known - all->between));
    printf(", %s of two", COUNT(all->between));
    printf("; %s unknown: of an object\n", COUNT(all->unknown));
    fputs("            that existed before, or that no known thread allocated\n", stdout);
    printf("neighbours  %s", COUNT(all->neighbours));
    if (known > 0)
        printf(" (%.1f %% of the known ones)", 100.0 * (double) all->neighbours / (double) known);
    fputs(": the thread allocated nothing between the two\n", stdout);
}

/* Writes the name of a field, or of the class of arrays. */
static void name_holder(const struct reference_distances *distances,
                        const struct reference_row *row, struct keeper_name *name)
{
    const struct graph_source *source = &distances->opened.graph.source;
    if (row->field != 0)
        keeper_name_field(source, row->field, name);
    else
        keeper_name_class(source, row->array_class, name);
}

static void print_names(const struct reference_distances *distances,
                        const struct reference_row *row)
{
    struct keeper_name name;
    name_holder(distances, row, &name);
    print_shown_text(name.text, stdout);
    fputs(" -> ", stdout);
    keeper_name_class(&distances->opened.graph.source, row->target_class, &name);
    print_shown_text(name.text, stdout);
    putchar('\n');
}

static void print_distance(const struct lifetimes *distance, double share)
{
    printf(" %12s", distance->count > 0 ? BYTES(lifetimes_percentile(distance, share)) : "-");
}

static void locality_report_put_fields(const struct reference_distances *distances, uint64_t top)
{
    size_t shown = table_shown(top, distances->count);
    printf("\n%12s %12s %12s %12s %12s %12s  %s\n", "references", "unknown", "one thread",
           "neighbours", "half", "90 %", "field or array -> class");
    for (size_t i = 0; i < shown; i++) {
        const struct reference_row *row = &distances->rows[i];
        uint64_t known = reference_row_known(row);
        printf("%12s ", COUNT(row->references));
        printf("%12s ", COUNT(row->unknown));
        put_share(known - row->between, known);
        putchar(' ');
        put_share(row->neighbours, known);
        print_distance(&row->distance, 0.5);
        print_distance(&row->distance, 0.9);
        fputs("  ", stdout);
        print_names(distances, row);
    }
    table_print_rest(shown, distances->count, "rows");
}

/* In the order of the references. */
static void put_candidates(const struct reference_distances *distances, uint64_t top)
{
    size_t count = 0;
    for (size_t i = 0; i < distances->count; i++)
        count += is_candidate(&distances->rows[i]);
    size_t shown = table_shown(top, count), put = 0;
    printf("\nCandidates for co-allocation: at least %u references, and %.0f %% of the known "
           "ones,\nare to a neighbour.\n",
           CANDIDATE_LEAST, 100 * CANDIDATE_SHARE);
    if (count > 0)
        printf("%12s %12s  %s\n", "neighbours", "bytes", "field or array -> class");
    for (size_t i = 0; put < shown; i++) {
        const struct reference_row *row = &distances->rows[i];
        if (!is_candidate(row))
            continue;
        put++;
        printf("%12s ", COUNT(row->neighbours));
        printf("%12s  ", BYTES(row->neighbour_bytes));
        print_names(distances, row);
    }
    table_print_rest(shown, count, "candidates");
    if (count == 0)
        fputs("(none)\n", stdout);
}

void locality_print_text(const struct reference_distances *distances, uint64_t top)
{
    locality_report_put_head(distances);
    locality_report_put_fields(distances, top);
    put_candidates(distances, top);
}

/* ---- JSON ---- */

static void put_counts(const struct reference_row *row, struct json_output *json)
{
    json_number(json, "references", row->references);
    json_number(json, "one_thread", reference_row_known(row) - row->between);
    json_number(json, "two_threads", row->between);
    json_number(json, "unknown", row->unknown);
    json_number(json, "neighbours", row->neighbours);
}

/* `field`: null for the elements of an array. */
static void locality_report_put_names(const struct reference_distances *distances,
                                      const struct reference_row *row, struct json_output *json)
{
    struct keeper_name name;
    name_holder(distances, row, &name);
    char *dot = row->field != 0 ? strrchr(name.text, '.') : NULL;
    if (dot != NULL)
        *dot = '\0';
    json_text(json, "holder", name.text);
    if (dot != NULL)
        json_text(json, "field", dot + 1);
    else
        json_null(json, "field");
    keeper_name_class(&distances->opened.graph.source, row->target_class, &name);
    json_text(json, "target", name.text);
}

static void put_distance(const struct lifetimes *distance, struct json_output *json)
{
    if (distance->count == 0) {
        json_null(json, "distance_bytes");
        return;
    }
    json_begin_object(json, "distance_bytes");
    json_real(json, "mean", lifetimes_mean(distance));
    json_real(json, "p50", lifetimes_percentile(distance, 0.5));
    json_real(json, "p90", lifetimes_percentile(distance, 0.9));
    json_real(json, "p99", lifetimes_percentile(distance, 0.99));
    json_number(json, "most", distance->most);
    json_end_object(json);
}

static void locality_report_put_row(const struct reference_distances *distances,
                                    const struct reference_row *row, struct json_output *json)
{
    json_begin_object(json, NULL);
    locality_report_put_names(distances, row, json);
    put_counts(row, json);
    json_number(json, "neighbour_bytes", row->neighbour_bytes);
    json_bool(json, "is_candidate", is_candidate(row));
    put_distance(&row->distance, json);
    json_end_object(json);
}

void locality_print_json(const struct reference_distances *distances)
{
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "trace", distances->path);
    json_number(&json, "objects", distances->objects);
    json_number(&json, "existing", distances->existing);
    json_text(&json, "graph", distances->is_snapshot ? "snapshot" : "stores");
    put_counts(&distances->all, &json);
    json_begin_array(&json, "fields");
    for (size_t i = 0; i < distances->count; i++)
        locality_report_put_row(distances, &distances->rows[i], &json);
    json_end_array(&json);
    json_close(&json);
}
