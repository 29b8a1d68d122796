/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dump algorithm.  A cell (site, type) is dumped if its cumulative size reaches the limit.  As
 * sizes decrease along both axes, all cells that contain it are dumped, too.  Sites are renumbered
 * so that each subtree is contiguous.
 *
 * That renumbering is what makes it fast.  The rows of a subtree are a range of the sorted rows, so
 * its types are summed by one loop over the range, without a walk over the tree.  And a subtree
 * below the limit is passed over by adding its size to the position.
 */
#include "converter/heap/heap_dump.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/id_table.h"
#include "format/core/grow.h"

struct weight {
    uint64_t objects, bytes;
};

/* A site with allocations in its subtree. */
struct ranked_site {
    uint32_t site;
    uint32_t parent;
    uint64_t bytes;
};

struct maker {
    const struct heap_sites *sites;
    const struct heap_snapshot *snapshot;
    const struct heap_dump_options *options;
    struct heap_dump *dump;
    struct weight *sums; /* by site, cumulative */
    uint32_t *sizes;     /* by site: used sites in its subtree, itself included; 0: unused */
    uint32_t *starts;    /* by site: its position in the order */
    uint32_t *order;     /* by position: the site */
    size_t *row_ends; /* by position: end of its rows in `rows`; they begin at the previous end */
    uint32_t *rows;   /* row numbers, ordered by position */
    struct id_table types; /* struct weight, by class; the trace chooses the numbers */
    uint32_t *touched;     /* classes with a weight: one for each row at most */
    size_t used;           /* number of positions */
};

void heap_dump_reset(struct heap_dump *dump)
{
    free(dump->entries);
    *dump = (struct heap_dump){.entries = NULL};
}

bool heap_dump_add(struct heap_dump *dump, const struct heap_dump_entry *entry)
{
    if (!STEP_MAKE_ROOM(dump->entries, dump->capacity, dump->count + 1))
        return false;
    dump->entries[dump->count++] = *entry;
    return true;
}

static struct weight weight_of(const struct maker *maker, size_t row)
{
    const struct heap_row *item = &maker->snapshot->rows[row];
    const struct heap_amount *amount = maker->options->allocated ? &item->allocated : &item->live;
    return (struct weight){amount->objects, amount->bytes};
}

static bool heap_dump_make_room(struct maker *maker)
{
    size_t sites = maker->sites->count, rows = maker->snapshot->count;
    id_table_init(&maker->types, sizeof(struct weight));
    maker->sums = calloc(sites, sizeof *maker->sums);
    maker->sizes = calloc(sites, sizeof *maker->sizes);
    maker->starts = calloc(sites, sizeof *maker->starts);
    maker->order = calloc(sites, sizeof *maker->order);
    maker->row_ends = calloc(sites + 1, sizeof *maker->row_ends);
    maker->rows = calloc(rows + 1, sizeof *maker->rows);
    maker->touched = calloc(rows + 1, sizeof *maker->touched);
    return maker->sums != NULL && maker->sizes != NULL && maker->starts != NULL &&
           maker->order != NULL && maker->row_ends != NULL && maker->rows != NULL &&
           maker->touched != NULL;
}

static void reset(struct maker *maker)
{
    free(maker->sums);
    free(maker->sizes);
    free(maker->starts);
    free(maker->order);
    free(maker->row_ends);
    free(maker->rows);
    id_table_reset(&maker->types);
    free(maker->touched);
}

/* Parents have lower numbers, so one pass from the end adds everything up: when a site is reached,
 * all of its children have been added to it.  No recursion is needed, which a hostile trace could
 * make as deep as it likes.  Sites without allocations below them have size 0 and drop out of all
 * that follows; the root is always there, so that an empty heap has a dump, too. */
static void heap_dump_add_up(struct maker *maker)
{
    for (size_t i = 0; i < maker->snapshot->count; i++) {
        struct weight weight = weight_of(maker, i);
        uint32_t site = maker->snapshot->rows[i].key.site;
        if (weight.objects == 0 && weight.bytes == 0)
            continue;
        maker->sums[site].objects += weight.objects;
        maker->sums[site].bytes += weight.bytes;
        maker->sizes[site] = 1;
    }
    maker->sizes[0] = 1;
    for (size_t i = maker->sites->count; i-- > 1;) {
        if (maker->sizes[i] == 0)
            continue;
        uint32_t parent = maker->sites->items[i].parent;
        maker->sums[parent].objects += maker->sums[i].objects;
        maker->sums[parent].bytes += maker->sums[i].bytes;
        if (maker->sizes[parent] == 0)
            maker->sizes[parent] = 1;
        maker->sizes[parent] += maker->sizes[i];
    }
    maker->used = maker->sizes[0];
}

static int by_parent_and_size(const void *left, const void *right)
{
    const struct ranked_site *a = left;
    const struct ranked_site *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

/* Assigns each used site its position: parents first, subtrees contiguous, largest first.  Siblings
 * are sorted together; `next` has the position for the next child of each site, which moves on by
 * the size of the child's subtree. */
static bool order_sites(struct maker *maker)
{
    struct ranked_site *ranked = malloc((maker->used + 1) * sizeof *ranked);
    uint32_t *next = calloc(maker->sites->count, sizeof *next);
    size_t count = 0;
    if (ranked != NULL && next != NULL) {
        for (uint32_t i = 1; i < maker->sites->count; i++)
            if (maker->sizes[i] != 0)
                ranked[count++] =
                    (struct ranked_site){i, maker->sites->items[i].parent, maker->sums[i].bytes};
        qsort(ranked, count, sizeof *ranked, by_parent_and_size);
        next[0] = 1;
        for (size_t i = 0; i < count; i++) {
            uint32_t site = ranked[i].site, place = next[ranked[i].parent];
            maker->starts[site] = place;
            maker->order[place] = site;
            next[ranked[i].parent] += maker->sizes[site];
            next[site] = place + 1;
        }
    }
    bool ok = ranked != NULL && next != NULL;
    free(ranked);
    free(next);
    return ok;
}

/* Sorts the rows by position, with a counting sort.  `row_ends` changes its meaning on the way. The
 * counts are kept one place further on, so the running sums give at each position where its rows
 * begin.  That is then moved on with each row that is placed, and is the end of the rows at last.
 */
static void order_rows(struct maker *maker)
{
    const struct heap_row *rows = maker->snapshot->rows;
    for (size_t i = 0; i < maker->snapshot->count; i++)
        if (maker->sizes[rows[i].key.site] != 0)
            maker->row_ends[maker->starts[rows[i].key.site] + 1]++;
    for (size_t i = 1; i <= maker->used; i++)
        maker->row_ends[i] += maker->row_ends[i - 1];
    for (size_t i = 0; i < maker->snapshot->count; i++)
        if (maker->sizes[rows[i].key.site] != 0)
            maker->rows[maker->row_ends[maker->starts[rows[i].key.site]]++] = (uint32_t) i;
}

struct ranked_type {
    uint32_t class_id;
    struct weight weight;
};

static int heap_dump_by_size(const void *left, const void *right)
{
    const struct ranked_type *a = left;
    const struct ranked_type *b = right;
    if (a->weight.bytes != b->weight.bytes)
        return a->weight.bytes > b->weight.bytes ? -1 : 1;
    return a->class_id < b->class_id ? -1 : a->class_id > b->class_id;
}

/* Dumps the types of the rows from `first` to before `end`. The table of weights by class is kept
 * for all sites: only the entries that were touched are cleared, as a trace may have more classes
 * than a site has rows. */
static bool break_down_by_type(struct maker *maker, const struct heap_dump_entry *parent,
                               size_t first, size_t end)
{
    size_t count = 0;
    if (!maker->options->with_classes)
        return true;
    for (size_t i = first; i < end; i++) {
        struct weight weight = weight_of(maker, maker->rows[i]);
        uint32_t class_id = maker->snapshot->rows[maker->rows[i]].key.class_id;
        struct weight *type = id_table_get(&maker->types, class_id);
        if (type == NULL)
            return false;
        if (weight.objects == 0 && weight.bytes == 0)
            continue;
        if (type->objects == 0 && type->bytes == 0)
            maker->touched[count++] = class_id;
        type->objects += weight.objects;
        type->bytes += weight.bytes;
    }
    struct ranked_type *ranked = malloc((count + 1) * sizeof *ranked);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct weight *type = id_table_find(&maker->types, maker->touched[i]);
        if (ranked != NULL && type->bytes >= maker->options->least_bytes)
            ranked[kept++] = (struct ranked_type){maker->touched[i], *type};
        *type = (struct weight){0, 0};
    }
    if (ranked == NULL)
        return false;
    qsort(ranked, kept, sizeof *ranked, heap_dump_by_size);
    bool ok = true;
    for (size_t i = 0; i < kept && ok; i++)
        ok = heap_dump_add(maker->dump,
                           &(struct heap_dump_entry){.site = parent->site,
                                                     .class_id = ranked[i].class_id,
                                                     .is_self = parent->is_self,
                                                     .has_class = true,
                                                     .objects = ranked[i].weight.objects,
                                                     .bytes = ranked[i].weight.bytes});
    free(ranked);
    return ok;
}

/* Dumps the node `<self>` of a site that also has children. */
static bool dump_self(struct maker *maker, uint32_t site, size_t first, size_t end)
{
    struct weight sum = {0, 0};
    for (size_t i = first; i < end; i++) {
        struct weight weight = weight_of(maker, maker->rows[i]);
        sum.objects += weight.objects;
        sum.bytes += weight.bytes;
    }
    const struct heap_dump_entry entry = {
        .site = site, .is_self = true, .objects = sum.objects, .bytes = sum.bytes};
    if (maker->sizes[site] == 1 || sum.objects + sum.bytes == 0 ||
        sum.bytes < maker->options->least_bytes)
        return true;
    return heap_dump_add(maker->dump, &entry) && break_down_by_type(maker, &entry, first, end);
}

/* The rows of the subtree are those from the site's own first to the last of the subtree's last
 * position; those of the site alone end at its own position.  A row is thus summed once for each of
 * its callers that is dumped, which the limit keeps few. */
static bool dump_site(struct maker *maker, size_t place)
{
    uint32_t site = maker->order[place];
    size_t first = place == 0 ? 0 : maker->row_ends[place - 1];
    size_t end = maker->row_ends[place + maker->sizes[site] - 1];
    const struct heap_dump_entry entry = {
        .site = site, .objects = maker->sums[site].objects, .bytes = maker->sums[site].bytes};
    return heap_dump_add(maker->dump, &entry) && break_down_by_type(maker, &entry, first, end) &&
           dump_self(maker, site, first, maker->row_ends[place]);
}

/* Copies the entries of an imported dump that the options select.  The first is the root, which is
 * always kept: the sizes of the others are shares of it. */
static bool take_dumped(const struct heap_snapshot *snapshot,
                        const struct heap_dump_options *options, struct heap_dump *dump)
{
    bool ok = true;
    for (size_t i = 0; ok && i < snapshot->dumped_count; i++) {
        const struct heap_dump_entry *entry = &snapshot->dumped[i];
        if (i == 0 ||
            (entry->bytes >= options->least_bytes && (options->with_classes || !entry->has_class)))
            ok = heap_dump_add(dump, entry);
    }
    return ok;
}

bool heap_dump_make(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                    const struct heap_dump_options *options, struct heap_dump *dump)
{
    struct maker maker = {.sites = sites, .snapshot = snapshot, .options = options, .dump = dump};
    *dump = (struct heap_dump){.entries = NULL};
    if (snapshot->dumped != NULL)
        return take_dumped(snapshot, options, dump);
    bool ok = heap_dump_make_room(&maker);
    if (ok) {
        heap_dump_add_up(&maker);
        ok = order_sites(&maker);
    }
    if (ok)
        order_rows(&maker);
    for (size_t place = 0; ok && place < maker.used;) {
        uint32_t site = maker.order[place];
        if (place > 0 && maker.sums[site].bytes < options->least_bytes) {
            place += maker.sizes[site];
            continue;
        }
        ok = dump_site(&maker, place++);
    }
    reset(&maker);
    return ok;
}

/* A row's path is turned round frame by frame.  Callers beyond the limit are cut, since each row
 * brings a path of its own: deep recursion would make the new tree as large as the sum of all
 * depths. */
bool heap_sites_invert(const struct heap_sites *sites, const struct heap_snapshot *snapshot,
                       struct heap_sites *inverted, struct heap_snapshot *turned)
{
    bool ok = heap_sites_init(inverted, sites->names);
    *turned = *snapshot;
    turned->dumped = NULL;
    turned->dumped_count = 0;
    turned->rows = malloc((snapshot->count + 1) * sizeof *turned->rows);
    ok = ok && turned->rows != NULL;
    for (size_t i = 0; ok && i < snapshot->count; i++) {
        uint32_t to = 0, depth = 0;
        for (uint32_t at = snapshot->rows[i].key.site;
             ok && at != 0 && depth++ < HEAP_INVERTED_DEPTH; at = sites->items[at].parent) {
            struct heap_site site = sites->items[at];
            site.parent = to;
            to = heap_sites_put(inverted, &site);
            ok = to != 0;
        }
        turned->rows[i] = snapshot->rows[i];
        turned->rows[i].key.site = to;
    }
    return ok;
}
