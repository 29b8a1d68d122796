/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts cumulative values of a dump to rows that add up.  A group has all values of one frame
 * (or of its `<self>`).  A parent that is not in the dump is the sum of its children.
 */
#include <stdlib.h>
#include <string.h>

#include "converter/formats/memory_infra/memory_infra.h"
#include "converter/heap/heap_dump.h"
#include "format/core/grow.h"
#include "format/core/step_no_memory.h"

struct group {
    uint32_t site;
    bool is_self;
    bool has_total;
    bool has_children;
    uint64_t bytes, objects;             /* cumulative */
    uint64_t inner_bytes, inner_objects; /* of its children */
    size_t first, end;                   /* its values with a type */
};

struct splitter {
    struct memory_infra *infra;
    struct memory_infra_dump *dump;
    struct heap_snapshot *snapshot;
    size_t row_capacity;
    struct group *groups;
    size_t count, capacity;
    uint32_t *by_site; /* by site: index + 1 of its group */
    size_t site_count;
};

static int compare_values(const void *left, const void *right)
{
    const struct dump_value *a = left;
    const struct dump_value *b = right;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->is_self != b->is_self)
        return a->is_self ? 1 : -1;
    return a->class_id < b->class_id ? -1 : a->class_id > b->class_id;
}

static struct group *add_group(struct splitter *splitter, uint32_t site, bool is_self)
{
    if (!STEP_MAKE_ROOM(splitter->groups, splitter->capacity, splitter->count + 1))
        return NULL;
    struct group *group = &splitter->groups[splitter->count++];
    *group = (struct group){.site = site, .is_self = is_self};
    if (!is_self)
        splitter->by_site[site] = (uint32_t) splitter->count;
    return group;
}

/* Makes groups for the values, and for their ancestors. */
static bool make_groups(struct splitter *splitter)
{
    struct dump_value *values = splitter->dump->values;
    size_t kept = 0;
    qsort(values, splitter->dump->count, sizeof *values, compare_values);
    for (size_t i = 0; i < splitter->dump->count; i++) {
        if (kept > 0 && compare_values(&values[kept - 1], &values[i]) == 0) {
            /* several heaps of one dump, or several type ids with one name */
            values[kept - 1].bytes += values[i].bytes;
            values[kept - 1].objects += values[i].objects;
        } else {
            values[kept++] = values[i];
        }
    }
    splitter->dump->count = kept;
    for (size_t i = 0; i < kept;) {
        const struct dump_value *first = &values[i];
        struct group *group = add_group(splitter, first->site, first->is_self);
        if (group == NULL)
            return false;
        if (first->class_id == 0) {
            group->has_total = true;
            group->bytes = first->bytes;
            group->objects = first->objects;
            i++;
        }
        group->first = i;
        while (i < kept && values[i].site == first->site && values[i].is_self == first->is_self)
            i++;
        group->end = i;
    }
    for (size_t i = 0; i < splitter->count; i++) {
        uint32_t site = splitter->groups[i].site;
        bool is_self = splitter->groups[i].is_self;
        uint32_t parent = is_self ? site : splitter->infra->sites.items[site].parent;
        if ((is_self || site != 0) && splitter->by_site[parent] == 0 &&
            add_group(splitter, parent, false) == NULL)
            return false;
    }
    return splitter->by_site[0] != 0 || add_group(splitter, 0, false) != NULL;
}

/* Sorts inner groups first: a site after those it calls, `<self>` before its site. */
static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left;
    const struct group *b = right;
    if (a->site != b->site)
        return a->site > b->site ? -1 : 1;
    return a->is_self == b->is_self ? 0 : a->is_self ? -1 : 1;
}

static struct group *parent_of(struct splitter *splitter, const struct group *group)
{
    if (!group->is_self && group->site == 0)
        return NULL;
    uint32_t parent =
        group->is_self ? group->site : splitter->infra->sites.items[group->site].parent;
    return &splitter->groups[splitter->by_site[parent] - 1];
}

/* Computes totals from the innermost groups outwards. */
static void infra_rows_add_up(struct splitter *splitter)
{
    qsort(splitter->groups, splitter->count, sizeof *splitter->groups, compare_groups);
    for (size_t i = 0; i < splitter->count; i++)
        if (!splitter->groups[i].is_self)
            splitter->by_site[splitter->groups[i].site] = (uint32_t) i + 1;
    for (size_t i = 0; i < splitter->count; i++) {
        struct group *group = &splitter->groups[i];
        uint64_t bytes = 0, objects = 0;
        for (size_t j = group->first; j < group->end; j++) {
            bytes += splitter->dump->values[j].bytes;
            objects += splitter->dump->values[j].objects;
        }
        if (!group->has_total) {
            group->bytes = group->has_children ? group->inner_bytes : bytes;
            group->objects = group->has_children ? group->inner_objects : objects;
        }
        uint64_t least = group->inner_bytes > bytes ? group->inner_bytes : bytes;
        if (group->bytes < least) {
            memory_infra_fault(splitter->infra,
                               "dump %llu: a frame has %llu bytes, what is in it %llu",
                               (unsigned long long) splitter->dump->number,
                               (unsigned long long) group->bytes, (unsigned long long) least);
            group->bytes = least;
        }
        if (group->objects < group->inner_objects)
            group->objects = group->inner_objects;
        struct group *parent = parent_of(splitter, group);
        if (parent == NULL)
            continue;
        parent->has_children = true;
        parent->inner_bytes += group->bytes;
        parent->inner_objects += group->objects;
    }
}

static bool infra_rows_add(struct splitter *splitter, uint32_t site, uint32_t class_id,
                           uint64_t objects, uint64_t bytes)
{
    struct heap_snapshot *snapshot = splitter->snapshot;
    if (objects == 0 && bytes == 0)
        return true;
    if (!STEP_MAKE_ROOM(snapshot->rows, splitter->row_capacity, snapshot->count + 1))
        return false;
    const struct heap_amount amount = {objects, bytes, 0};
    snapshot->rows[snapshot->count++] =
        (struct heap_row){.key = {class_id, site, 0}, .live = amount, .allocated = amount};
    return true;
}

/* Returns the value of the group's parent for the same type, or NULL. */
static struct dump_value *same_of_parent(struct splitter *splitter, const struct group *group,
                                         uint32_t class_id)
{
    const struct group *parent = parent_of(splitter, group);
    if (parent == NULL)
        return NULL;
    const struct dump_value key = {.site = parent->site, .class_id = class_id};
    return bsearch(&key, &splitter->dump->values[parent->first], parent->end - parent->first,
                   sizeof key, compare_values);
}

static uint64_t less(uint64_t from, uint64_t part)
{
    return from > part ? from - part : 0;
}

/* Subtracts from each type the values of the children.  Outer groups are first, so that a group's
 * own values are still complete when they are subtracted from its parent's. */
static void take_children_off(struct splitter *splitter)
{
    for (size_t i = splitter->count; i-- > 0;) {
        const struct group *group = &splitter->groups[i];
        for (size_t j = group->first; j < group->end; j++) {
            const struct dump_value *value = &splitter->dump->values[j];
            struct dump_value *outer = same_of_parent(splitter, group, value->class_id);
            if (outer == NULL)
                continue;
            outer->bytes = less(outer->bytes, value->bytes);
            outer->objects = less(outer->objects, value->objects);
        }
    }
}

/* If children lack some types, the types may add up to more than what is left; limits them to
 * that. */
static bool infra_rows_put_group(struct splitter *splitter, const struct group *group)
{
    uint64_t bytes = group->bytes - group->inner_bytes;
    uint64_t objects = less(group->objects, group->inner_objects);
    uint32_t site = group->site;
    if (group->has_children && (bytes != 0 || objects != 0)) {
        const struct heap_site other = {.parent = site, .method_id = splitter->infra->other_method};
        site = heap_sites_put(&splitter->infra->sites, &other);
        if (site == 0)
            return false;
    }
    bool ok = true;
    for (size_t j = group->first; ok && j < group->end; j++) {
        const struct dump_value *value = &splitter->dump->values[j];
        uint64_t part = value->bytes < bytes ? value->bytes : bytes;
        uint64_t parts = value->objects < objects ? value->objects : objects;
        ok = infra_rows_add(splitter, site, value->class_id, parts, part);
        bytes -= part;
        objects -= parts;
    }
    return ok && infra_rows_add(splitter, site, 0, objects, bytes);
}

static int infra_rows_by_size(const void *left, const void *right)
{
    const struct dump_value *a = left;
    const struct dump_value *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->class_id < b->class_id ? -1 : a->class_id > b->class_id;
}

/* Returns the group of a node, or NULL for a generated `<other>`. */
static const struct group *group_of(const struct splitter *splitter, uint32_t site, bool is_self)
{
    size_t number = site < splitter->site_count ? splitter->by_site[site] : 0;
    if (number == 0)
        return NULL;
    if (!is_self)
        return &splitter->groups[number - 1];
    const struct group *before = number > 1 ? &splitter->groups[number - 2] : NULL;
    return before != NULL && before->site == site && before->is_self ? before : NULL;
}

/* Adds the dump's own entries in the order of heap_dump.h.  `values` are as read from the file. */
static bool put_dumped(struct splitter *splitter, struct dump_value *values)
{
    struct heap_dump nodes, dump = {.entries = NULL};
    const struct heap_dump_options options = {.with_classes = false};
    bool ok = heap_dump_make(&splitter->infra->sites, splitter->snapshot, &options, &nodes);
    for (size_t i = 0; ok && i < nodes.count; i++) {
        const struct heap_dump_entry *node = &nodes.entries[i];
        const struct group *group = group_of(splitter, node->site, node->is_self);
        ok = heap_dump_add(&dump, node);
        if (group == NULL)
            continue;
        qsort(values + group->first, group->end - group->first, sizeof *values, infra_rows_by_size);
        for (size_t j = group->first; ok && j < group->end; j++)
            ok = heap_dump_add(&dump, &(struct heap_dump_entry){.site = node->site,
                                                                .class_id = values[j].class_id,
                                                                .is_self = node->is_self,
                                                                .has_class = true,
                                                                .objects = values[j].objects,
                                                                .bytes = values[j].bytes});
    }
    heap_dump_reset(&nodes);
    splitter->snapshot->dumped = dump.entries;
    splitter->snapshot->dumped_count = dump.count;
    return ok;
}

static bool infra_rows_put(struct splitter *splitter, bool by_class)
{
    struct group *root = &splitter->groups[splitter->by_site[0] - 1];
    splitter->snapshot->live = (struct heap_amount){root->objects, root->bytes, 0};
    splitter->snapshot->allocated = splitter->snapshot->live;
    splitter->snapshot->has_sizes = true;
    if (by_class && root->end > root->first) {
        struct group all = *root;
        all.inner_bytes = all.inner_objects = 0;
        all.has_children = false;
        return infra_rows_put_group(splitter, &all);
    }
    struct dump_value *values = malloc((splitter->dump->count + 1) * sizeof *values);
    if (values == NULL)
        return false;
    memcpy(values, splitter->dump->values, splitter->dump->count * sizeof *values);
    take_children_off(splitter);
    bool ok = true;
    for (size_t i = 0; ok && i < splitter->count; i++)
        ok = infra_rows_put_group(splitter, &splitter->groups[i]);
    ok = ok && put_dumped(splitter, values);
    free(values);
    return ok;
}

enum step_status memory_infra_rows(struct memory_infra *infra, struct memory_infra_dump *dump,
                                   bool by_class, struct heap_snapshot *snapshot,
                                   struct step_error *error)
{
    struct splitter splitter = {.infra = infra,
                                .dump = dump,
                                .snapshot = snapshot,
                                .site_count = infra->sites.count,
                                .by_site = calloc(infra->sites.count, sizeof(uint32_t))};
    *snapshot = (struct heap_snapshot){.time_ns = dump->time_ns, .collections = dump->number};
    snapshot->rows = malloc(sizeof *snapshot->rows);
    splitter.row_capacity = 1;
    bool ok = splitter.by_site != NULL && snapshot->rows != NULL && make_groups(&splitter);
    if (ok) {
        infra_rows_add_up(&splitter);
        ok = infra_rows_put(&splitter, by_class);
    }
    free(splitter.groups);
    free(splitter.by_site);
    if (ok)
        return STEP_STATUS_OK;
    heap_snapshot_reset(snapshot);
    return step_no_memory(error, infra->path);
}
