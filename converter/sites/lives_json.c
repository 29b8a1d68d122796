/* SPDX-License-Identifier: Apache-2.0 */
/* Writes lifetimes by site as JSON. */
#include <math.h>

#include "converter/base/table_text.h"
#include "converter/sites/site_report.h"

static const char *const meanings[] = {[LIFETIMES_EXACT] = "exact",
                                       [LIFETIMES_AT_MOST] = "upper_bound",
                                       [LIFETIMES_ESTIMATED] = "estimate"};

/* Each class of the histogram is [end, count]: so many objects lived less than `end`, and at least
 * half of it. */
static void put_histogram(const struct lifetimes *lifetimes, struct json_output *json)
{
    json_begin_array(json, "histogram");
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint64_t count = lifetimes_of_bits(lifetimes, bits);
        if (count == 0)
            continue;
        json_begin_array(json, NULL);
        json_real(json, NULL, ldexp(1, (int) bits));
        json_number(json, NULL, count);
        json_end_array(json);
    }
    json_end_array(json);
}

static void put_lifetimes(const char *key, const struct lifetimes *lifetimes,
                          struct json_output *json)
{
    if (lifetimes->count == 0) {
        json_null(json, key);
        return;
    }
    json_begin_object(json, key);
    json_real(json, "mean", lifetimes_mean(lifetimes));
    json_real(json, "p10", lifetimes_percentile(lifetimes, 0.1));
    json_real(json, "p50", lifetimes_percentile(lifetimes, 0.5));
    json_real(json, "p90", lifetimes_percentile(lifetimes, 0.9));
    json_real(json, "p99", lifetimes_percentile(lifetimes, 0.99));
    json_number(json, "most", lifetimes->most);
    put_histogram(lifetimes, json);
    json_end_object(json);
}

static void put_cluster_name(uint8_t cluster, const char *key, struct json_output *json)
{
    const char name[2] = {(char) ('A' + cluster), '\0'};
    if (cluster == SITE_NO_CLUSTER)
        json_null(json, key);
    else
        json_text(json, key, name);
}

static void put_row(const struct site_report *report, uint32_t site, struct json_output *json)
{
    const struct site_life *life = &report->lives->items[site];
    static const struct lifetimes none = {.count = 0};
    json_begin_object(json, NULL);
    site_report_json_names(report, site, json);
    json_number(json, "objects", life->born.objects);
    json_number(json, "bytes", life->born.bytes);
    json_number(json, "dead_objects", life->dead.objects);
    json_number(json, "dead_bytes", life->dead.bytes);
    json_number(json, "old_objects", life->old.objects);
    json_number(json, "old_bytes", life->old.bytes);
    json_number(json, "most_living", life->most_living);
    json_text(json, "lifetimes", meanings[site_meaning(life)]);
    put_cluster_name(report->clusters->of_site[site], "cluster", json);
    put_lifetimes("lifetime_bytes", &life->in_bytes, json);
    put_lifetimes("lifetime_ns", report->has_times ? &life->in_time : &none, json);
    json_end_object(json);
}

static void put_clusters(const struct site_report *report, struct json_output *json)
{
    json_begin_array(json, "clusters");
    for (size_t i = 0; i < report->clusters->count; i++) {
        const struct site_cluster *cluster = &report->clusters->items[i];
        json_begin_object(json, NULL);
        put_cluster_name((uint8_t) i, "cluster", json);
        json_number(json, "sites", cluster->sites);
        json_number(json, "objects", cluster->objects);
        json_number(json, "bytes", cluster->bytes);
        json_end_object(json);
    }
    json_end_array(json);
}

void lives_print_json(const struct site_report *report, FILE *out)
{
    struct json_output json;
    size_t shown = table_shown(report->top, report->lives->count);
    json_init(&json, out);
    site_report_begin_json(report, &json);
    json_real(&json, "error_percent", LIFETIME_ERROR_PERCENT);
    json_number(&json, "site_count", report->lives->count);
    json_begin_array(&json, "sites");
    for (size_t i = 0; i < shown; i++)
        put_row(report, report->order[i], &json);
    json_end_array(&json);
    put_clusters(report, &json);
    json_close(&json);
}
