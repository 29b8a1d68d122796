/* SPDX-License-Identifier: Apache-2.0 */
/* Prints lifetimes by site, as text and as JSON. */
#include <math.h>

#include "analyses/sites/site_report.h"
#include "converter/cli/table_text.h"
#include "converter/numbers/quantity.h"

static const char *const marks[] = {
    [LIFETIMES_EXACT] = "", [LIFETIMES_AT_MOST] = "<=", [LIFETIMES_ESTIMATED] = "~"};

static void lives_print_put(const char *mark, const char *text)
{
    char marked[48];
    snprintf(marked, sizeof marked, "%s%s", mark, text);
    printf(" %12s", marked);
}

static void lives_print_put_bytes(const struct site_life *life, double share)
{
    if (life->in_bytes.count == 0)
        lives_print_put("", "-");
    else
        lives_print_put(marks[site_meaning(life)],
                        quantity_of_bytes(lifetimes_percentile(&life->in_bytes, share)).text);
}

static void put_time(const struct site_report *report, const struct site_life *life, double share)
{
    if (life->in_time.count == 0 || report->unit == TIME_STEPS)
        lives_print_put("", "-");
    else
        lives_print_put(marks[site_meaning(life)],
                        quantity_of_ns(lifetimes_percentile(&life->in_time, share)).text);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100 * (double) part / (double) whole;
}

/* Prints the shares of objects by lifetime in powers of two. */
static void put_histogram(const struct site_life *life)
{
    uint64_t alive = life->born.objects - life->dead.objects;
    const char *between = "";
    fputs("             ", stdout);
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint64_t count = lifetimes_of_bits(&life->in_bytes, bits);
        if (count == 0)
            continue;
        printf("%s%.1f %% < %s", between, percent(count, life->born.objects),
               quantity_of_bytes(ldexp(1, (int) bits)).text);
        between = ", ";
    }
    if (alive > 0)
        printf("%s%.1f %% alive", between, percent(alive, life->born.objects));
    putchar('\n');
}

static void lives_print_put_row(const struct site_report *report, uint32_t site)
{
    const struct site_life *life = &report->lives->items[site];
    uint64_t alive = life->born.objects - life->dead.objects;
    uint8_t cluster = report->clusters->of_site[site];
    printf("%12s %12s %6.1f%%", quantity_of_bytes((double) life->born.bytes).text,
           quantity_of_count(life->born.objects).text, percent(alive, life->born.objects));
    lives_print_put_bytes(life, 0.1);
    lives_print_put_bytes(life, 0.5);
    lives_print_put_bytes(life, 0.9);
    lives_print_put_bytes(life, 0.99);
    put_time(report, life, 0.5);
    put_time(report, life, 0.9);
    printf("   %c     ", cluster == SITE_NO_CLUSTER ? '-' : 'A' + cluster);
    site_report_put_names(report, site);
    putchar('\n');
    if (report->has_histograms)
        put_histogram(life);
}

static void put_clusters(const struct site_report *report)
{
    const struct site_clusters *clusters = report->clusters;
    if (clusters->count == 0)
        return;
    printf("\nclusters: sites of %u objects or more, whose lifetimes have a Kolmogorov-Smirnov\n"
           "distance of at most %.1f from the cluster's first site\n"
           "%7s %12s %12s %12s  %s\n",
           SITE_CLUSTER_OBJECTS, SITE_CLUSTER_DISTANCE, "cluster", "sites", "objects", "bytes",
           "first site");
    for (size_t i = 0; i < clusters->count; i++) {
        const struct site_cluster *cluster = &clusters->items[i];
        printf("%7c %12s", 'A' + (int) i, quantity_of_count(cluster->sites).text);
        printf(" %12s", quantity_of_count(cluster->objects).text);
        printf(" %12s  ", quantity_of_bytes((double) cluster->bytes).text);
        site_report_put_names(report, cluster->first);
        putchar('\n');
    }
}

void lives_print_text(const struct site_report *report)
{
    size_t shown = table_shown(report->top, report->lives->count);
    site_report_put_head(report);
    printf("Percentiles of the objects that died, within %.1f %%, in bytes allocated meanwhile\n"
           "and in time.\n\n"
           "%12s %12s %7s %12s %12s %12s %12s %12s %12s %s %s\n",
           LIFETIME_ERROR_PERCENT, "bytes", "objects", "alive", "10 %", "half", "90 %", "99 %",
           "half", "90 %", "cluster", "site");
    for (size_t i = 0; i < shown; i++)
        lives_print_put_row(report, report->order[i]);
    table_print_rest(shown, report->lives->count, "sites");
    put_clusters(report);
}

/* Each class of the histogram is [end, count]: so many objects lived less than `end`, and at least
 * half of it. */
static void json_histogram(const struct lifetimes *lifetimes, struct json_output *json)
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

static void lives_print_put_lifetimes(const char *key, const struct lifetimes *lifetimes,
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
    json_histogram(lifetimes, json);
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

static void json_row(const struct site_report *report, uint32_t site, struct json_output *json)
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
    json_text(json, "lifetimes", lifetime_words[site_meaning(life)]);
    put_cluster_name(report->clusters->of_site[site], "cluster", json);
    lives_print_put_lifetimes("lifetime_bytes", &life->in_bytes, json);
    lives_print_put_lifetimes("lifetime_ns", report->unit == TIME_NS ? &life->in_time : &none,
                              json);
    json_end_object(json);
}

static void json_clusters(const struct site_report *report, struct json_output *json)
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

void lives_print_json(const struct site_report *report)
{
    struct json_output json;
    size_t shown = table_shown(report->top, report->lives->count);
    json_init(&json, stdout);
    site_report_begin_json(report, &json);
    json_real(&json, "error_percent", LIFETIME_ERROR_PERCENT);
    json_number(&json, "site_count", report->lives->count);
    json_begin_array(&json, "sites");
    for (size_t i = 0; i < shown; i++)
        json_row(report, report->order[i], &json);
    json_end_array(&json);
    json_clusters(report, &json);
    json_close(&json);
}
