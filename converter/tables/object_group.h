/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that become rows together, column by column: runs of neighbours on pages of births, all
 * dead or all alive.
 */
#ifndef CONVERTER_TABLES_OBJECT_GROUP_H
#define CONVERTER_TABLES_OBJECT_GROUP_H

#include "converter/base/birth_pages.h"
#include "converter/tables/row_builder.h"
#include "converter/tables/tables_trace.h"

enum { OBJECT_GROUP_RUNS = 64 };

struct object_death {
    uint64_t died_ns;
    size_t collections; /* before that which found it dead */
};

struct object_run {
    const struct birth_page *page;
    unsigned place, count;
    struct object_death death;
};

/* Zero-initialised is empty. */
struct object_group {
    struct object_run runs[OBJECT_GROUP_RUNS];
    size_t run_count, row_count;
    /* collections before a birth: of all births between two times */
    uint64_t era_from_ns, era_to_ns;
    size_t era_collections;
};

/* Whether objects of one more page have room. */
static inline bool object_group_has_room(const struct object_group *group)
{
    return group->run_count + BIRTH_PAGE_SIZE / 2 <= OBJECT_GROUP_RUNS;
}

/* Objects of a page, which are `bits`; `death` NULL: they live. */
void object_group_add(struct object_group *group, const struct birth_page *page, uint32_t bits,
                      const struct object_death *death);

/* Puts all as rows, for which the builder has room; the group is empty then. */
void object_group_put(struct object_group *group, struct tables *tables,
                      struct row_builder *builder, bool are_dead);

#endif
