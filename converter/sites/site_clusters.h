/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups sites whose objects live equally long.  The distance of two sites is that of Kolmogorov
 * and Smirnov: the largest difference between the shares of objects that live at most so many
 * bytes of allocation.  Objects that are alive at the end live longer than all others.  Shares are
 * compared at the ends of buckets (lifetimes.h), so that the distance is a lower bound.
 */
#ifndef CONVERTER_SITES_SITE_CLUSTERS_H
#define CONVERTER_SITES_SITE_CLUSTERS_H

#include "converter/sites/site_lives.h"

#define SITE_CLUSTERS_MOST 26u    /* named A to Z */
#define SITE_CLUSTER_DISTANCE 0.1 /* of a member to the cluster's first site, at most */
#define SITE_CLUSTER_OBJECTS 100u /* a site with fewer objects is in no cluster */
#define SITE_NO_CLUSTER UINT8_MAX

struct site_cluster {
    uint32_t first; /* the site with most bytes */
    uint64_t sites, objects, bytes;
};

struct site_clusters {
    struct site_cluster items[SITE_CLUSTERS_MOST];
    size_t count;
    uint8_t *of_site; /* by site: its cluster, or SITE_NO_CLUSTER */
};

/* `order` has the numbers of all sites, those with most bytes first.  Returns false if out of
 * memory; reset is allowed then. */
bool site_clusters_make(struct site_clusters *clusters, const struct site_lives *lives,
                        const uint32_t *order);
void site_clusters_reset(struct site_clusters *clusters);

#endif
