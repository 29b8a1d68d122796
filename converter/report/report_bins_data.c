/* SPDX-License-Identifier: Apache-2.0 */
/* Cells by the sites and classes of the page; the largest stay. */
#include "converter/report/report_bins_data.h"

#include <stdlib.h>

#define ENTRIES_MOST ((size_t) 90000)

struct entry {
    uint32_t bin, site, class_number; /* class: 1 + its row; 0: it has none */
    uint64_t objects, bytes, dead_objects, dead_bytes;
};

struct entries {
    struct entry *items;
    size_t count;
};

static int by_place(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->bin != b->bin)
        return a->bin < b->bin ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->class_number < b->class_number ? -1 : a->class_number > b->class_number;
}

static void merge(struct entries *entries)
{
    size_t last = 0;
    if (entries->count == 0)
        return;
    qsort(entries->items, entries->count, sizeof *entries->items, by_place);
    for (size_t i = 1; i < entries->count; i++) {
        struct entry *to = &entries->items[last];
        if (by_place(to, &entries->items[i]) != 0) {
            entries->items[++last] = entries->items[i];
            continue;
        }
        to->objects += entries->items[i].objects;
        to->bytes += entries->items[i].bytes;
        to->dead_objects += entries->items[i].dead_objects;
        to->dead_bytes += entries->items[i].dead_bytes;
    }
    entries->count = last + 1;
}

/* The row of each class in the page's table, and one. */
static bool number_classes(const struct statistics_report *report, struct id_table *numbers)
{
    struct ranking ranking;
    bool ok = rank_classes(report, &ranking);
    for (size_t i = 0; ok && i < ranking.shown; i++) {
        uint32_t *number = id_table_get(numbers, ranking.rows[i].id);
        ok = number != NULL;
        if (ok)
            *number = (uint32_t) i + 1;
    }
    free(ranking.rows);
    return ok;
}

static bool gather(const struct report_model *model, const struct report_sites *sites,
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
                                                              change->dead_objects,
                                                              change->dead_bytes};
        }
    if (entries->items != NULL)
        merge(entries);
    return entries->items != NULL;
}

/* A pair of site and class, and its entries. */
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

static int by_size(const void *left, const void *right)
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

/* What the page has no room for loses its place, not its bytes. */
static bool cut(struct entries *entries)
{
    size_t kept = 0;
    if (entries->count <= ENTRIES_MOST)
        return true;
    struct pair *pairs = malloc(entries->count * sizeof *pairs);
    if (pairs == NULL)
        return false;
    qsort(entries->items, entries->count, sizeof *entries->items, by_pair);
    size_t count = find_pairs(entries, pairs);
    qsort(pairs, count, sizeof *pairs, by_size);
    for (size_t i = 0; i < count; i++) {
        kept += pairs[i].count;
        for (size_t k = 0; kept > ENTRIES_MOST && k < pairs[i].count; k++)
            entries->items[pairs[i].first + k].site =
                entries->items[pairs[i].first + k].class_number = 0;
    }
    free(pairs);
    merge(entries);
    return true;
}

static void put(const struct report_model *model, const struct entries *entries,
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
            json_number(json, NULL, entry->dead_objects);
            json_number(json, NULL, entry->dead_bytes);
        }
        json_end_array(json);
    }
    json_end_array(json);
    json_end_object(json);
}

bool report_bins_put_data(const struct report_model *model, const struct report_sites *sites,
                          const struct statistics_report *report, struct json_output *json)
{
    struct id_table numbers; /* uint32_t */
    struct entries entries = {.items = NULL};
    id_table_init(&numbers, sizeof(uint32_t));
    bool ok = number_classes(report, &numbers) && gather(model, sites, &numbers, &entries) &&
              cut(&entries);
    if (ok)
        put(model, &entries, json);
    free(entries.items);
    id_table_reset(&numbers);
    return ok;
}
