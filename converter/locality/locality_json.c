/* SPDX-License-Identifier: Apache-2.0 */
/* Writes distances as JSON. */
#include <string.h>

#include "converter/locality/reference_distances.h"
#include "format/json/json_output.h"

static void put_counts(const struct reference_row *row, struct json_output *json)
{
    json_number(json, "references", row->references);
    json_number(json, "one_thread", reference_row_known(row) - row->between);
    json_number(json, "two_threads", row->between);
    json_number(json, "unknown", row->unknown);
    json_number(json, "neighbours", row->neighbours);
}

/* `field`: null for the elements of an array. */
static void put_names(const struct graph_source *source, const struct reference_row *row,
                      struct json_output *json)
{
    struct keeper_name name;
    if (row->field != 0)
        keeper_name_field(source, row->field, &name);
    else
        keeper_name_class(source, row->array_class, &name);
    char *dot = row->field != 0 ? strrchr(name.text, '.') : NULL;
    if (dot != NULL)
        *dot = '\0';
    json_text(json, "holder", name.text);
    if (dot != NULL)
        json_text(json, "field", dot + 1);
    else
        json_null(json, "field");
    keeper_name_class(source, row->target_class, &name);
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

static void put_row(const struct graph_source *source, const struct reference_row *row,
                    struct json_output *json)
{
    json_begin_object(json, NULL);
    put_names(source, row, json);
    put_counts(row, json);
    json_number(json, "neighbour_bytes", row->neighbour_bytes);
    json_bool(json, "is_candidate", is_candidate(row));
    put_distance(&row->distance, json);
    json_end_object(json);
}

void locality_print_json(const struct reference_distances *distances, FILE *out)
{
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "trace", distances->path);
    json_number(&json, "objects", distances->objects);
    json_number(&json, "existing", distances->existing);
    json_text(&json, "graph", distances->is_snapshot ? "snapshot" : "stores");
    put_counts(&distances->all, &json);
    json_begin_array(&json, "fields");
    for (size_t i = 0; i < distances->count; i++)
        put_row(&distances->opened.graph.source, &distances->rows[i], &json);
    json_end_array(&json);
    json_close(&json);
}
