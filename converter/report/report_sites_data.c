/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of sites, and what each class has at each. */
#include "converter/report/report_sites_data.h"

#include <stdlib.h>

#include "converter/report/report_bins_data.h"
#include "converter/report/report_sites.h"

#define SITE_NODES ((size_t) 12000)

typedef uint64_t (*site_value)(const struct report_sites *sites, size_t i);

static uint64_t parent_of(const struct report_sites *sites, size_t i)
{
    return sites->items[i].parent;
}

static uint64_t live_bytes_in(const struct report_sites *sites, size_t i)
{
    return sites->items[i].own.live_bytes;
}

static uint64_t live_objects_in(const struct report_sites *sites, size_t i)
{
    return sites->items[i].own.live_objects;
}

static uint64_t allocated_bytes_in(const struct report_sites *sites, size_t i)
{
    return sites->items[i].own.allocated_bytes;
}

static uint64_t allocated_objects_in(const struct report_sites *sites, size_t i)
{
    return sites->items[i].own.allocated_objects;
}

static void put_column(struct json_output *json, const struct report_sites *sites, const char *key,
                       site_value value)
{
    json_begin_array(json, key);
    for (size_t i = 0; i < sites->count; i++)
        json_number(json, NULL, value(sites, i));
    json_end_array(json);
}

/* The leaf of a node: the same method and line under no caller; 0: the root or "...". */
static uint32_t leaf_of(const struct report_model *model, struct report_sites *sites, size_t i)
{
    uint32_t site = sites->items[i].site;
    if (site == 0 || site == REPORT_SITE_OTHER)
        return 0;
    struct heap_site leaf = model->heap.sites.items[site];
    leaf.parent = 0;
    return heap_sites_put(&sites->leaves, &leaf);
}

static void put_places(struct json_output *json, const struct report_model *model,
                       const struct report_sites *sites)
{
    json_begin_array(json, "places");
    for (size_t i = 0; i < sites->place_count; i++) {
        const struct report_place *place = &sites->places[i];
        json_begin_array(json, NULL);
        json_number(json, NULL, place->leaf);
        json_bytes(json, NULL, trace_class_of(&model->source->names, place->class_id)->name);
        json_number(json, NULL, place->sums.allocated_objects);
        json_number(json, NULL, place->sums.allocated_bytes);
        json_number(json, NULL, place->sums.live_objects);
        json_number(json, NULL, place->sums.live_bytes);
        json_end_array(json);
    }
    json_end_array(json);
}

/* Names are numbered by leaf; those that the page does not name are empty. */
static bool put_names(const struct report_model *model, struct json_output *json,
                      struct report_sites *sites)
{
    json_begin_array(json, "name");
    for (size_t i = 0; i < sites->count; i++)
        json_number(json, NULL, leaf_of(model, sites, i));
    json_end_array(json);
    bool *is_named = calloc(sites->leaves.count, sizeof *is_named);
    if (is_named == NULL)
        return false;
    for (size_t i = 0; i < sites->count; i++)
        is_named[leaf_of(model, sites, i)] = true;
    for (size_t i = 0; i < sites->place_count; i++)
        is_named[sites->places[i].leaf] = true;
    json_begin_array(json, "names");
    json_text(json, NULL, "...");
    for (uint32_t i = 1; i < sites->leaves.count; i++) {
        char text[HEAP_SITE_TEXT];
        size_t length = is_named[i] ? heap_site_print(&sites->leaves, i, text, sizeof text) : 0;
        json_bytes(json, NULL, (struct step_bytes){(const uint8_t *) text, length});
    }
    json_end_array(json);
    free(is_named);
    return true;
}

bool report_sites_put_data(const struct report_model *model, const struct report_options *options,
                           const struct statistics_report *report, struct json_output *json)
{
    struct report_sites sites;
    bool ok = report_sites_make(model, SITE_NODES, (size_t) options->top, &sites);
    if (ok) {
        json_begin_object(json, "sites");
        put_column(json, &sites, "parent", parent_of);
        put_column(json, &sites, "live_bytes", live_bytes_in);
        put_column(json, &sites, "live_objects", live_objects_in);
        put_column(json, &sites, "allocated_bytes", allocated_bytes_in);
        put_column(json, &sites, "allocated_objects", allocated_objects_in);
        ok = put_names(model, json, &sites);
        json_end_object(json);
        put_places(json, model, &sites);
        ok = ok && report_bins_put_data(model, &sites, report, json);
    }
    report_sites_reset(&sites);
    return ok;
}
