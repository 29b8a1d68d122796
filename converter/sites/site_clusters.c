/* SPDX-License-Identifier: Apache-2.0 */
/* Puts each site, in order of bytes, into the first cluster that is near enough. */
#include "converter/sites/site_clusters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void put(struct site_clusters *clusters, const struct site_lives *lives, uint32_t site)
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
        put(clusters, lives, order[i]);
    return true;
}

void site_clusters_reset(struct site_clusters *clusters)
{
    free(clusters->of_site);
    clusters->of_site = NULL;
}
