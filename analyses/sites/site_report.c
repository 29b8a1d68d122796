/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports of lifetimes and of advice have in common. */
#include "analyses/sites/site_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/numbers/quantity.h"

/* Returns the distance, 0 to 1. */
static double distance_of(const struct site_life *a, const struct site_life *b)
{
    const struct lifetimes *left = &a->in_bytes, *right = &b->in_bytes;
    double left_below = 0, right_below = 0, most = 0;
    for (uint32_t i = 0, k = 0; i < left->used || k < right->used;) {
        unsigned at_left = i < left->used ? lifetimes_bucket_at(left, i) : LIFETIME_BUCKETS;
        unsigned at_right = k < right->used ? lifetimes_bucket_at(right, k) : LIFETIME_BUCKETS;
        if (at_left <= at_right)
            left_below += (double) lifetimes_count_at(left, i++);
        if (at_right <= at_left)
            right_below += (double) lifetimes_count_at(right, k++);
        double distance =
            fabs(left_below / (double) a->born.objects - right_below / (double) b->born.objects);
        most = distance > most ? distance : most;
    }
    return most;
}

static uint8_t nearest(const struct site_clusters *clusters, const struct site_lives *lives,
                       const struct site_life *life)
{
    for (size_t i = 0; i < clusters->count; i++)
        if (distance_of(life, &lives->items[clusters->items[i].first]) <= SITE_CLUSTER_DISTANCE)
            return (uint8_t) i;
    return SITE_NO_CLUSTER;
}

static void site_report_put(struct site_clusters *clusters, const struct site_lives *lives,
                            uint32_t site)
{
    const struct site_life *life = &lives->items[site];
    if (life->born.objects < SITE_CLUSTER_OBJECTS)
        return;
    uint8_t number = nearest(clusters, lives, life);
    if (number == SITE_NO_CLUSTER && clusters->count < SITE_CLUSTERS_MOST) {
        number = (uint8_t) clusters->count++;
        clusters->items[number] = (struct site_cluster){.first = site};
    }
    if (number == SITE_NO_CLUSTER)
        return;
    clusters->of_site[site] = number;
    clusters->items[number].sites++;
    clusters->items[number].objects += life->born.objects;
    clusters->items[number].bytes += life->born.bytes;
}

bool site_clusters_make(struct site_clusters *clusters, const struct site_lives *lives,
                        const uint32_t *order)
{
    *clusters = (struct site_clusters){.count = 0};
    clusters->of_site = malloc(lives->count + 1);
    if (clusters->of_site == NULL)
        return false;
    memset(clusters->of_site, SITE_NO_CLUSTER, lives->count + 1);
    for (size_t i = 0; i < lives->count; i++)
        site_report_put(clusters, lives, order[i]);
    return true;
}

void site_clusters_reset(struct site_clusters *clusters)
{
    free(clusters->of_site);
    clusters->of_site = NULL;
}

static void put_note(enum site_precision precision, bool is_native)
{
    if (precision == SITE_NO_DEATHS)
        printf("The trace has no deaths: lifetimes are unknown%s.\n",
               is_native ? "" : " (the agent's option events=free)");
    else if (precision == SITE_DELAYED)
        fputs("Collections of the traced run found the deaths, later than the objects died:\n"
              "lifetimes, marked <=, are upper bounds. With references in the trace,\n"
              "`steptrace deaths` computes exact deaths.\n",
              stdout);
    else if (precision == SITE_DATED)
        fputs("Not all deaths are exact: lifetimes marked <= are upper bounds, those marked ~ are\n"
              "estimates, as some deaths are lower bounds.\n",
              stdout);
}

static void site_report_put_collections(const struct site_report *report)
{
    const struct site_lives *lives = report->lives;
    uint64_t count = site_lives_collections(lives);
    if (lives->is_native && lives->young_bytes == 0)
        return;
    printf("collected  %s time%s", quantity_of_count(count).text, plural(count));
    if (lives->young_bytes != 0)
        printf(" by a model: after each %s allocated\n",
               quantity_of_bytes((double) lives->young_bytes).text);
    else if (count > 0)
        printf(", after %s allocated on average\n",
               quantity_of_bytes((double) lives->born.bytes / (double) count).text);
    else
        putchar('\n');
}

void site_report_put_head(const struct site_report *report)
{
    const struct site_lives *lives = report->lives;
    char deaths[DEATH_DATES_TEXT];
    printf("trace      %s\n", report->path);
    printf("allocated  %s object%s, %s, at %zu site%s\n",
           quantity_of_count(lives->born.objects).text, plural(lives->born.objects),
           quantity_of_bytes((double) lives->born.bytes).text, lives->count, plural(lives->count));
    struct death_dates dates = lives->deaths;
    dates.are_of_program = lives->is_native;
    death_dates_print(&dates, deaths, sizeof deaths);
    printf("death times: %s\n", *deaths != '\0' ? deaths : "none");
    if (report->stamp_events != 0)
        printf("birth times: those of a thread's last of %s events\n",
               quantity_of_count(report->stamp_events).text);
    site_report_put_collections(report);
    put_note(site_lives_precision(lives), lives->is_native);
    if (!lives->has_stacks && lives->count > 0)
        fputs("The trace has no call stacks: each row is a class.\n", stdout);
}

static struct stack_text site_report_stack_of(const struct site_report *report, uint32_t site,
                                              uint64_t depth)
{
    uint32_t stack_id = report->lives->items[site].key.stack_id;
    return heap_site_stack(report->sites, heap_sites_of_frame(report->sites, stack_id), depth);
}

static struct step_bytes site_report_class_of(const struct site_report *report, uint32_t site)
{
    return trace_class_of(report->sites->names, report->lives->items[site].key.class_id)->name;
}

void site_report_put_names(const struct site_report *report, uint32_t site)
{
    print_shown(class_twins_name(report->twins, report->lives->items[site].key.class_id), stdout);
    if (report->lives->items[site].key.stack_id != 0) {
        fputs("  ", stdout);
        stack_print(site_report_stack_of(report, site, report->depth), stdout);
    }
}

void site_report_begin_json(const struct site_report *report, struct json_output *json)
{
    const struct site_lives *lives = report->lives;
    json_begin_object(json, NULL);
    json_text(json, "trace", report->path);
    json_number(json, "objects", lives->born.objects);
    json_number(json, "bytes", lives->born.bytes);
    json_number(json, "existing_objects", lives->existing.objects);
    json_number(json, "existing_bytes", lives->existing.bytes);
    json_number(json, "collections", site_lives_collections(lives));
    json_number(json, "model_young_bytes", lives->young_bytes);
    json_bool(json, "is_exact", site_lives_precision(lives) == SITE_EXACT);
    json_bool(json, "is_upper_bound", site_lives_precision(lives) == SITE_DELAYED);
    death_dates_put_json(&lives->deaths, report->unit, json);
}

void site_report_json_names(const struct site_report *report, uint32_t site,
                            struct json_output *json)
{
    json_bytes(json, "class", site_report_class_of(report, site));
    json_number(
        json, "loader",
        trace_class_of(report->sites->names, report->lives->items[site].key.class_id)->loader);
    stack_put_json(site_report_stack_of(report, site, 0), json, "site");
}
