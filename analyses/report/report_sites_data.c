/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tree of sites, and the amounts of each class at each site. */
#include "analyses/report/report_data.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/report/cut_stacks.h"
#include "analyses/report/report_model.h"
#include "converter/statistics/statistics_report.h"
#include "format/json/json_output.h"

/* ---- sums by site, and the sites that are shown ---- */

#define REPORT_SITE_OTHER UINT32_MAX

enum { LIVE_BYTES, LIVE_OBJECTS, ALLOCATED_BYTES, ALLOCATED_OBJECTS, SUMS };

struct report_site_sums {
    uint64_t of[SUMS]; /* those of what lives at the chosen moment */
};

struct report_site {
    uint32_t site;   /* in the tracker's sites; REPORT_SITE_OTHER: the omitted sites */
    uint64_t parent; /* in the report's sites; less than its own number */
    struct report_site_sums own;
};

/* A line that allocates objects of a class, independent of its callers. */
struct report_place {
    uint32_t leaf; /* in `leaves` */
    uint32_t class_id;
    struct report_site_sums sums;
};

struct report_sites {
    struct report_site *items; /* the first is the root */
    size_t count;
    uint32_t *numbers; /* by site of the tracker: the report's site that includes it */
    struct heap_sites leaves;
    struct report_place *places; /* the largest first */
    size_t place_count;
};

static void sites_data_add(struct report_site_sums *to, const struct report_site_sums *from)
{
    for (size_t i = 0; i < SUMS; i++)
        to->of[i] += from->of[i];
}

static struct report_site_sums sites_data_sums_of(const struct heap_row *row, bool is_moment)
{
    if (is_moment)
        return (struct report_site_sums){
            {[LIVE_BYTES] = row->live.bytes, [LIVE_OBJECTS] = row->live.objects}};
    return (struct report_site_sums){
        {[ALLOCATED_BYTES] = row->allocated.bytes, [ALLOCATED_OBJECTS] = row->allocated.objects}};
}

/* Returns the sums of each site of the trace, without its children. */
static struct report_site_sums *own_sums(const struct report_model *model)
{
    struct report_site_sums *sums = calloc(model->heap.sites.count, sizeof *sums);
    for (int is_moment = 0; sums != NULL && is_moment < 2; is_moment++) {
        const struct heap_snapshot *snapshot = is_moment ? report_moment(model) : report_end(model);
        for (size_t i = 0; i < snapshot->count; i++) {
            const struct report_site_sums own = sites_data_sums_of(&snapshot->rows[i], is_moment);
            sites_data_add(&sums[snapshot->rows[i].key.site], &own);
        }
    }
    return sums;
}

/* ---- the tree ---- */

/* Returns the site's share of the whole, in units of 2^-20, by the measure with the largest
 * share. */
static uint64_t weight(const struct report_site_sums *sums, const struct report_site_sums *whole)
{
    double most = 0;
    for (size_t i = 0; i < SUMS; i++)
        if (whole->of[i] != 0 && (double) sums->of[i] / (double) whole->of[i] > most)
            most = (double) sums->of[i] / (double) whole->of[i];
    return (uint64_t) ((most < 1 ? most : 1) * (1 << 20)); /* sums may have wrapped */
}

/* Returns the lowest weight limit that keeps at most `limit` sites. */
static uint64_t find_cut(const struct report_site_sums *cumulative, size_t count, size_t limit)
{
    uint64_t cut = 16; /* 1/65536 would not be visible */
    for (;; cut *= 2) {
        size_t kept = 0;
        for (size_t i = 1; i < count; i++)
            kept += weight(&cumulative[i], &cumulative[0]) >= cut;
        if (kept <= limit)
            return cut;
    }
}

/* Adds the sites that are kept; each of them has at most one child for all omitted ones. */
static bool make_tree(const struct report_model *model, const struct report_site_sums *own,
                      const struct report_site_sums *cumulative, size_t limit,
                      struct report_sites *sites)
{
    const struct heap_sites *all = &model->heap.sites;
    uint64_t cut = find_cut(cumulative, all->count, limit);
    uint32_t *number = calloc(all->count, sizeof *number); /* of kept sites */
    uint32_t *other = calloc(all->count, sizeof *other);   /* the child for omitted sites; 0:
                                                              none */
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
                continue; /* included in an omitted ancestor */
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
            sites_data_add(&sites->items[other[above]].own, &cumulative[i]);
        }
    }
    free(number);
    free(other);
    return ok;
}

/* ---- places ---- */

static int sites_by_place(const void *left, const void *right)
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
    return a != b ? (a > b ? -1 : 1) : sites_by_place(left, right);
}

/* Makes one place per row; site 0 is the leaf 0. */
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
                                       .sums = sites_data_sums_of(row, is_moment)};
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
    qsort(sites->places, sites->place_count, sizeof *sites->places, sites_by_place);
    for (size_t i = 1; i < sites->place_count; i++) {
        if (sites_by_place(&sites->places[kept], &sites->places[i]) == 0)
            sites_data_add(&sites->places[kept].sums, &sites->places[i].sums);
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

/* Makes at most about `node_limit` nodes and `place_limit` places.  Returns false if memory runs
 * out; reset is allowed then. */
static bool report_sites_make(const struct report_model *model, size_t node_limit,
                              size_t place_limit, struct report_sites *sites)
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
            sites_data_add(&cumulative[model->heap.sites.items[i].parent], &cumulative[i]);
        ok = make_tree(model, own, cumulative, node_limit, sites) &&
             make_places(model, &cumulative[0], place_limit, sites);
    }
    free(own);
    free(cumulative);
    return ok;
}

static void report_sites_reset(struct report_sites *sites)
{
    free(sites->items);
    free(sites->places);
    free(sites->numbers);
    heap_sites_reset(&sites->leaves);
    *sites = (struct report_sites){0};
}

/* ---- the tracker's cells as sites and classes of the page, of which the largest are kept ---- */

#define ENTRIES_MOST ((size_t) 90000)

struct entry {
    uint32_t bin, site, class_number; /* class: 1 + its row; 0: none */
    uint64_t objects, bytes;
    uint64_t grown_objects, grown_bytes; /* modulo 2^64 */
};

struct entries {
    struct entry *items;
    size_t count;
};

static int sites_data_by_place(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->bin != b->bin)
        return a->bin < b->bin ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->class_number < b->class_number ? -1 : a->class_number > b->class_number;
}

static void sites_data_merge(struct entries *entries)
{
    size_t last = 0;
    if (entries->count == 0)
        return;
    qsort(entries->items, entries->count, sizeof *entries->items, sites_data_by_place);
    for (size_t i = 1; i < entries->count; i++) {
        struct entry *to = &entries->items[last];
        if (sites_data_by_place(to, &entries->items[i]) != 0) {
            entries->items[++last] = entries->items[i];
            continue;
        }
        to->objects += entries->items[i].objects;
        to->bytes += entries->items[i].bytes;
        to->grown_objects += entries->items[i].grown_objects;
        to->grown_bytes += entries->items[i].grown_bytes;
    }
    entries->count = last + 1;
}

/* by class: 1 + its row in the page's table */
static bool number_classes(const struct statistics_report *report, struct id_table *numbers)
{
    struct ranking ranking;
    bool ok = statistics_rank(report, AXIS_CLASS, &ranking);
    for (size_t i = 0; ok && i < ranking.shown; i++) {
        uint32_t *number = id_table_get(numbers, ranking.rows[i].id);
        ok = number != NULL;
        if (ok)
            *number = (uint32_t) i + 1;
    }
    free(ranking.rows);
    return ok;
}

static bool sites_data_gather(const struct report_model *model, const struct report_sites *sites,
                              const struct id_table *numbers, struct entries *entries)
{
    const struct report_bins *bins = &model->bins;
    size_t count = 0;
    for (size_t i = 0; i < bins->count; i++)
        count += bins->bins[i].count;
    entries->items = malloc((count + 1) * sizeof *entries->items);
    for (size_t i = 0; entries->items != NULL && i < bins->count; i++)
        for (size_t k = 0; k < bins->bins[i].count; k++) {
            const struct bin_change *change = &bins->bins[i].changes[k];
            const struct heap_key *key = &model->heap.cells.items[change->cell].key;
            const uint32_t *number = id_table_find(numbers, key->class_id);
            entries->items[entries->count++] = (struct entry){(uint32_t) i,
                                                              sites->numbers[key->site],
                                                              number != NULL ? *number : 0,
                                                              change->objects,
                                                              change->bytes,
                                                              change->grown_objects,
                                                              change->grown_bytes};
        }
    if (entries->items != NULL)
        sites_data_merge(entries);
    return entries->items != NULL;
}

/* A pair of site and class, with its entries. */
struct pair {
    size_t first, count;
    uint64_t bytes;
};

static int by_pair(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->class_number != b->class_number)
        return a->class_number < b->class_number ? -1 : 1;
    return (a->bin > b->bin) - (a->bin < b->bin);
}

static int sites_data_by_size(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

static size_t find_pairs(const struct entries *entries, struct pair *pairs)
{
    size_t count = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        if (i == 0 || entry[-1].site != entry->site ||
            entry[-1].class_number != entry->class_number)
            pairs[count++] = (struct pair){.first = i};
        pairs[count - 1].count++;
        pairs[count - 1].bytes += entry->bytes;
    }
    return count;
}

/* Omitted pairs lose their place, not their bytes. */
static bool sites_data_cut(struct entries *entries)
{
    size_t kept = 0;
    if (entries->count <= ENTRIES_MOST)
        return true;
    struct pair *pairs = malloc(entries->count * sizeof *pairs);
    if (pairs == NULL)
        return false;
    qsort(entries->items, entries->count, sizeof *entries->items, by_pair);
    size_t count = find_pairs(entries, pairs);
    qsort(pairs, count, sizeof *pairs, sites_data_by_size);
    for (size_t i = 0; i < count; i++) {
        kept += pairs[i].count;
        for (size_t k = 0; kept > ENTRIES_MOST && k < pairs[i].count; k++)
            entries->items[pairs[i].first + k].site =
                entries->items[pairs[i].first + k].class_number = 0;
    }
    free(pairs);
    sites_data_merge(entries);
    return true;
}

static void sites_data_put(const struct report_model *model, const struct entries *entries,
                           struct json_output *json)
{
    size_t at = 0;
    json_begin_object(json, "bins");
    json_number(json, "start_ns", model->bins.start_ns);
    json_number(json, "step_ns", model->bins.step_ns);
    json_begin_array(json, "lists");
    for (size_t i = 0; i < model->bins.count; i++) {
        json_begin_array(json, NULL);
        for (; at < entries->count && entries->items[at].bin == i; at++) {
            const struct entry *entry = &entries->items[at];
            json_number(json, NULL, entry->site);
            json_real(json, NULL, (double) entry->class_number - 1);
            json_number(json, NULL, entry->objects);
            json_number(json, NULL, entry->bytes);
            json_real(json, NULL, (double) (int64_t) entry->grown_objects);
            json_real(json, NULL, (double) (int64_t) entry->grown_bytes);
        }
        json_end_array(json);
    }
    json_end_array(json);
    json_end_object(json);
}

/* Writes "bins": start, step, and a list for each, with site, class (their indices in the page; -1:
 * a class that is not in its table), objects and bytes allocated, objects and bytes that live more,
 * site, ... If there are too many, the smallest pairs of site and class are counted in all bins at
 * site 0 without a class, since the live amount of a pair is the sum of its bins.  Returns false if
 * memory runs out. */
static bool report_bins_put_data(const struct report_model *model, const struct report_sites *sites,
                                 const struct statistics_report *report, struct json_output *json)
{
    struct id_table numbers; /* uint32_t */
    struct entries entries = {.items = NULL};
    id_table_init(&numbers, sizeof(uint32_t));
    bool ok = number_classes(report, &numbers) &&
              sites_data_gather(model, sites, &numbers, &entries) && sites_data_cut(&entries);
    if (ok)
        sites_data_put(model, &entries, json);
    free(entries.items);
    id_table_reset(&numbers);
    return ok;
}

#define SITE_NODES ((size_t) 12000)

/* A member of each site. */
static void sites_data_put_column(struct json_output *json, const struct report_sites *sites,
                                  const char *key, const uint64_t *first)
{
    json_numbers(json, key, first, sites->count, sizeof sites->items[0]);
}

/* Returns the leaf of a node: the same method and line without callers; 0: the root or "...". */
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
        for (size_t k = SUMS; k-- > 0;) /* allocated objects first */
            json_number(json, NULL, place->sums.of[k]);
        json_end_array(json);
    }
    json_end_array(json);
}

/* Numbers names by leaf; names that the page does not use are empty. */
static bool sites_data_put_names(const struct report_model *model, struct json_output *json,
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

/* Writes "stack_limit", the number of frames after which stacks are cut (0: unknown), and "cut",
 * the outermost frames of such stacks.  Returns false if memory runs out. */
static bool put_cut_stacks(const struct report_model *model, const struct report_sites *sites,
                           struct json_output *json)
{
    uint64_t limit = event_source_number(model->source, "stack", 0);
    bool *is_cut = cut_stacks_find(&model->heap.sites, report_end(model), limit);
    json_number(json, "stack_limit", limit);
    json_begin_array(json, "cut");
    for (size_t i = 1; is_cut != NULL && i < sites->count; i++)
        if (sites->items[i].site != REPORT_SITE_OTHER && is_cut[sites->items[i].site])
            json_number(json, NULL, i);
    json_end_array(json);
    free(is_cut);
    return is_cut != NULL;
}

bool report_sites_put_data(const struct report_model *model, const struct report_options *options,
                           const struct statistics_report *report, struct json_output *json)
{
    static const char *const sum_names[SUMS] = {"live_bytes", "live_objects", "allocated_bytes",
                                                "allocated_objects"};
    struct report_sites sites;
    bool ok = report_sites_make(model, SITE_NODES, (size_t) options->top, &sites);
    if (ok) {
        json_begin_object(json, "sites");
        sites_data_put_column(json, &sites, "parent", &sites.items->parent);
        for (size_t i = 0; i < SUMS; i++)
            sites_data_put_column(json, &sites, sum_names[i], &sites.items->own.of[i]);
        ok = sites_data_put_names(model, json, &sites) && put_cut_stacks(model, &sites, json);
        json_end_object(json);
        put_places(json, model, &sites);
        ok = ok && report_bins_put_data(model, &sites, report, json);
    }
    report_sites_reset(&sites);
    return ok;
}
