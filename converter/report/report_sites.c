/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by site, and which sites are worth a place in a page. */
#include "converter/report/report_sites.h"

#include <stdlib.h>
#include <string.h>

static void add(struct report_site_sums *to, const struct report_site_sums *from)
{
    to->live_bytes += from->live_bytes;
    to->live_objects += from->live_objects;
    to->allocated_bytes += from->allocated_bytes;
    to->allocated_objects += from->allocated_objects;
}

/* What each site of the trace holds itself. */
static struct report_site_sums *own_sums(const struct report_model *model)
{
    struct report_site_sums *sums = calloc(model->heap.sites.count, sizeof *sums);
    if (sums == NULL)
        return NULL;
    const struct heap_snapshot *moment = report_moment(model);
    for (size_t i = 0; i < moment->count; i++) {
        sums[moment->rows[i].key.site].live_bytes += moment->rows[i].live.bytes;
        sums[moment->rows[i].key.site].live_objects += moment->rows[i].live.objects;
    }
    const struct heap_snapshot *end = report_end(model);
    for (size_t i = 0; i < end->count; i++) {
        sums[end->rows[i].key.site].allocated_bytes += end->rows[i].allocated.bytes;
        sums[end->rows[i].key.site].allocated_objects += end->rows[i].allocated.objects;
    }
    return sums;
}

/* ---- the tree ---- */

/* How much of a whole, in parts of 2^20, the site holds by the measure that suits it best. */
static uint64_t weight(const struct report_site_sums *sums, const struct report_site_sums *whole)
{
    const uint64_t part_of[][2] = {{sums->live_bytes, whole->live_bytes},
                                   {sums->live_objects, whole->live_objects},
                                   {sums->allocated_bytes, whole->allocated_bytes},
                                   {sums->allocated_objects, whole->allocated_objects}};
    double most = 0;
    for (size_t i = 0; i < sizeof part_of / sizeof part_of[0]; i++)
        if (part_of[i][1] != 0 && (double) part_of[i][0] / (double) part_of[i][1] > most)
            most = (double) part_of[i][0] / (double) part_of[i][1];
    return (uint64_t) (most * (1 << 20));
}

/* The least weight with which no more than `limit` sites stay. */
static uint64_t find_cut(const struct report_site_sums *cumulative, size_t count, size_t limit)
{
    uint64_t cut = 16; /* a 65,536th is nothing to see */
    for (;; cut *= 2) {
        size_t kept = 0;
        for (size_t i = 1; i < count; i++)
            kept += weight(&cumulative[i], &cumulative[0]) >= cut;
        if (kept <= limit)
            return cut;
    }
}

/* Sites stay, and what is cut goes to one child of its parent. */
static bool make_tree(const struct report_model *model, const struct report_site_sums *own,
                      const struct report_site_sums *cumulative, size_t limit,
                      struct report_sites *sites)
{
    const struct heap_sites *all = &model->heap.sites;
    uint64_t cut = find_cut(cumulative, all->count, limit);
    uint32_t *number = calloc(all->count, sizeof *number); /* of sites that stay */
    uint32_t *other = calloc(all->count, sizeof *other);   /* the child for what is cut; 0: none */
    sites->items = calloc(2 * limit + 2, sizeof *sites->items);
    sites->numbers = calloc(all->count, sizeof *sites->numbers);
    bool ok = number != NULL && other != NULL && sites->items != NULL && sites->numbers != NULL;
    if (ok) {
        sites->items[sites->count++] = (struct report_site){.own = own[0]};
        for (uint32_t i = 1; i < all->count; i++) {
            uint32_t above = all->items[i].parent;
            number[i] = UINT32_MAX;
            if (number[above] == UINT32_MAX) {
                sites->numbers[i] = sites->numbers[above];
                continue; /* its sums are in a cut ancestor's */
            }
            if (weight(&cumulative[i], &cumulative[0]) >= cut) {
                number[i] = sites->numbers[i] = (uint32_t) sites->count;
                sites->items[sites->count++] =
                    (struct report_site){.site = i, .parent = number[above], .own = own[i]};
                continue;
            }
            if (other[above] == 0) {
                other[above] = (uint32_t) sites->count;
                sites->items[sites->count++] =
                    (struct report_site){.site = REPORT_SITE_OTHER, .parent = number[above]};
            }
            sites->numbers[i] = other[above];
            add(&sites->items[other[above]].own, &cumulative[i]);
        }
    }
    free(number);
    free(other);
    return ok;
}

/* ---- places ---- */

static struct report_site_sums sums_of(const struct heap_row *row, bool is_moment)
{
    if (is_moment)
        return (struct report_site_sums){.live_bytes = row->live.bytes,
                                         .live_objects = row->live.objects};
    return (struct report_site_sums){.allocated_bytes = row->allocated.bytes,
                                     .allocated_objects = row->allocated.objects};
}

static int by_place(const void *left, const void *right)
{
    const struct report_place *a = left;
    const struct report_place *b = right;
    if (a->leaf != b->leaf)
        return a->leaf < b->leaf ? -1 : 1;
    return a->class_id < b->class_id ? -1 : a->class_id > b->class_id;
}

static int by_weight(const void *left, const void *right, void *whole)
{
    uint64_t a = weight(&((const struct report_place *) left)->sums, whole);
    uint64_t b = weight(&((const struct report_place *) right)->sums, whole);
    return a != b ? (a > b ? -1 : 1) : by_place(left, right);
}

/* One place a row; site 0 is the leaf 0. */
static bool list_places(const struct report_model *model, bool is_moment,
                        struct report_sites *sites)
{
    const struct heap_snapshot *snapshot = is_moment ? report_moment(model) : report_end(model);
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        if (row->key.site == 0)
            continue;
        struct heap_site leaf = model->heap.sites.items[row->key.site];
        leaf.parent = 0;
        struct report_place *place = &sites->places[sites->place_count++];
        *place = (struct report_place){.leaf = heap_sites_put(&sites->leaves, &leaf),
                                       .class_id = row->key.class_id,
                                       .sums = sums_of(row, is_moment)};
        if (place->leaf == 0)
            return false;
    }
    return true;
}

static void merge_places(struct report_sites *sites)
{
    size_t kept = 0;
    if (sites->place_count == 0)
        return;
    qsort(sites->places, sites->place_count, sizeof *sites->places, by_place);
    for (size_t i = 1; i < sites->place_count; i++) {
        if (by_place(&sites->places[kept], &sites->places[i]) == 0)
            add(&sites->places[kept].sums, &sites->places[i].sums);
        else
            sites->places[++kept] = sites->places[i];
    }
    sites->place_count = kept + 1;
}

static bool make_places(const struct report_model *model, struct report_site_sums *whole,
                        size_t limit, struct report_sites *sites)
{
    size_t rows = report_moment(model)->count + report_end(model)->count;
    sites->places = calloc(rows + 1, sizeof *sites->places);
    if (sites->places == NULL || !list_places(model, true, sites) ||
        !list_places(model, false, sites))
        return false;
    merge_places(sites);
    if (sites->place_count > 0)
        qsort_r(sites->places, sites->place_count, sizeof *sites->places, by_weight, whole);
    if (sites->place_count > limit)
        sites->place_count = limit;
    return true;
}

bool report_sites_make(const struct report_model *model, size_t node_limit, size_t place_limit,
                       struct report_sites *sites)
{
    *sites = (struct report_sites){0};
    if (!heap_sites_init(&sites->leaves, &model->source->names))
        return false;
    struct report_site_sums *own = own_sums(model);
    size_t count = model->heap.sites.count;
    struct report_site_sums *cumulative = calloc(count, sizeof *cumulative);
    bool ok = own != NULL && cumulative != NULL;
    if (ok) {
        memcpy(cumulative, own, count * sizeof *own);
        for (size_t i = count; i-- > 1;)
            add(&cumulative[model->heap.sites.items[i].parent], &cumulative[i]);
        ok = make_tree(model, own, cumulative, node_limit, sites) &&
             make_places(model, &cumulative[0], place_limit, sites);
    }
    free(own);
    free(cumulative);
    return ok;
}

void report_sites_reset(struct report_sites *sites)
{
    free(sites->items);
    free(sites->places);
    free(sites->numbers);
    heap_sites_reset(&sites->leaves);
    *sites = (struct report_sites){0};
}
