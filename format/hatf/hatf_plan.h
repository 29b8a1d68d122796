/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to the HATF layer: plans of metadata.  A plan lists, for one field in a window of
 * records, the metadata before each record.  The fields of a trace are independent of each other.
 */
#ifndef FORMAT_HATF_HATF_PLAN_H
#define FORMAT_HATF_HATF_PLAN_H

#include "format/hatf/hatf_state.h"

/* A field's value in a record; a realloc has two addresses. */
struct hatf_plan_item {
    uint64_t value; /* for attributes, their length */
    uint64_t second;
    uint32_t record; /* number in the window */
    bool has_second;
};

struct hatf_plan_step {
    uint32_t record; /* the record that follows it */
    struct hatf_metadata metadata;
};

/* Metadata in order.  Zero-initialise for an empty plan. */
struct hatf_plan {
    struct hatf_plan_step *steps;
    size_t count;
    size_t capacity;
    uint64_t cost;               /* bytes of the metadata plus the field's bytes */
    struct hatf_field_state end; /* after the window */
};

void hatf_plan_reset(struct hatf_plan *plan);

/* Means that a plan may use besides growing widths. */
enum hatf_plan_means {
    HATF_MEANS_WIDTHS = 1,
    HATF_MEANS_DEFAULT = 2,
    HATF_MEANS_BASE_1 = 4, /* base offset of 1 byte */
    HATF_MEANS_BASE_2 = 8,
    HATF_MEANS_BASE_4 = 16,
    HATF_MEANS_STRIDE = 32,
    HATF_MEANS_DELTA = 64
};

/* One field of one window. */
struct hatf_plan_task {
    enum hatf_field field;
    const struct hatf_plan_item *items;
    size_t count;
    bool is_last; /* last window: the final state does not matter */
};

/* The following return false if memory runs out.  `start` is the state before the window. */

/* Writes metadata only where a value does not fit; the width only grows. */
bool hatf_plan_naive(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                     struct hatf_plan *plan);

/* Finds the cheapest plan with `means`.  `naive` is the naive plan of the window from the state
 * `naive_start`; its widths are always allowed. */
bool hatf_plan_cheapest(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                        unsigned means, const struct hatf_field_state *naive_start,
                        const struct hatf_plan *naive, struct hatf_plan *plan);

/* Finds the cheapest plan for attributes, whose items are lengths. */
bool hatf_plan_attributes(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                          struct hatf_plan *plan);

/* Sets `plan` to the change from `start` to `other_start`, followed by `other`. */
bool hatf_plan_follow(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                      const struct hatf_field_state *other_start, const struct hatf_plan *other,
                      struct hatf_plan *plan);

/* Returns the bytes of the metadata that change one state into the other. */
uint64_t hatf_plan_distance(enum hatf_field field, const struct hatf_field_state *from,
                            const struct hatf_field_state *to);

/* ---- for those that implement plans ---- */

/* A plan under construction, with the field's state after the planned part. */
struct hatf_planner {
    struct hatf_state state;
    enum hatf_field field;
    struct hatf_plan *plan;
    bool failed;
};

void hatf_planner_init(struct hatf_planner *planner, const struct hatf_plan_task *task,
                       const struct hatf_field_state *start, struct hatf_plan *plan);
void hatf_planner_set_width(struct hatf_planner *planner, uint32_t record, uint8_t width);
void hatf_planner_set(struct hatf_planner *planner, uint32_t record, uint8_t interpretation,
                      uint64_t value, uint64_t stride);
/* Adds an item, stored according to the state. */
void hatf_planner_take(struct hatf_planner *planner, const struct hatf_plan_item *item);
/* Returns false if out of memory. */
bool hatf_planner_end(struct hatf_planner *planner);

/* Returns the rank of a width among 0, 1, 2, 4, 8. */
static inline unsigned hatf_width_rank(uint8_t width)
{
    return width <= 2 ? width : width == 4 ? 3 : 4;
}

#endif
