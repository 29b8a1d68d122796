/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups objects to write them as rows column by column: runs of adjacent objects in birth pages,
 * either all dead or all alive.
 */
#ifndef ANALYSES_TABLES_OBJECT_GROUP_H
#define ANALYSES_TABLES_OBJECT_GROUP_H

#include "analyses/tables/tables_trace.h"
#include "converter/containers/birth_pages.h"
#include "converter/containers/id_set.h"
#include "converter/containers/object_table.h"

/*
 * What a sample stands for whose death was awaited: with live=, that is a part of the samples
 * (converter/trace/sample_weights.h).  Unlike there, objects may come in any order.
 */

struct life_weights {
    uint64_t *times_ns; /* of changes of the threshold, ascending */
    uint64_t *least;    /* a tree of minima: the thresholds are `least[count]` and following */
    size_t count, capacity;
    struct id_set given_up;
};

/* Reads the changes of a trace.  Reset is allowed in any case, and for a zeroed structure. */
enum step_status life_weights_read(struct life_weights *weights, struct tables *tables,
                                   struct step_error *error);
void life_weights_reset(struct life_weights *weights);

enum { OBJECT_GROUP_RUNS = 64 };

struct object_death {
    uint64_t died_ns;
    size_t collections; /* number of collections before the one that found it dead */
};

struct object_run {
    const struct birth_page *page;
    unsigned place, count;
    struct object_death death;
};

/* Zero-initialise for an empty group. */
struct object_group {
    struct object_run runs[OBJECT_GROUP_RUNS];
    size_t run_count, row_count;
    struct object_table *weights;     /* of samples, borrowed: those of the births */
    const struct life_weights *lives; /* borrowed */
    /* Cache: number of collections before any birth between two times. */
    uint64_t era_from_ns, era_to_ns;
    size_t era_collections;
};

/* Returns whether objects of another page fit. */
static inline bool object_group_has_room(const struct object_group *group)
{
    return group->run_count + BIRTH_PAGE_SIZE / 2 <= OBJECT_GROUP_RUNS;
}

/* Adds the objects of a page given by `bits`.  `death` is NULL for live objects. */
void object_group_add(struct object_group *group, const struct birth_page *page, uint32_t bits,
                      const struct object_death *death);

/* Writes all objects as rows and empties the group.  The builder must have room for them. */
void object_group_put(struct object_group *group, struct tables *tables,
                      struct row_builder *builder, bool are_dead);

#endif
