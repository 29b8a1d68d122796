/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the HATF layer: where metadata go.  A plan says, for one field of a window of records,
 * which metadata stand before which record; the fields of a trace are independent of each other.
 */
#ifndef FORMAT_HATF_HATF_PLAN_H
#define FORMAT_HATF_HATF_PLAN_H

#include "format/hatf/hatf_state.h"

/* A field's value in a record; a realloc has two addresses. */
struct hatf_plan_item {
    uint64_t value; /* of attributes: their length */
    uint64_t second;
    uint32_t record; /* number in the window */
    bool has_second;
};

struct hatf_plan_step {
    uint32_t record; /* it stands before this one */
    struct hatf_metadata metadata;
};

/* Zero-initialised is empty. */
struct hatf_plan {
    struct hatf_plan_step *steps;
    size_t count;
    size_t capacity;
    uint64_t cost;               /* bytes of the metadata and of the field itself */
    struct hatf_field_state end; /* after the window */
};

void hatf_plan_reset(struct hatf_plan *plan);

/* What a plan may use besides a width that only ever grows. */
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
    bool is_last; /* nothing follows: it does not matter in which state the field is left */
};

/* These return false when memory runs out.  `start` is the state before the window. */

/* Metadata only where a value does not fit; the field then stays as wide as it has become. */
bool hatf_plan_naive(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                     struct hatf_plan *plan);

/* The cheapest with `means`; `naive` is the naive plan of the window from the state `naive_start`,
 * and its widths are allowed in any case. */
bool hatf_plan_cheapest(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                        unsigned means, const struct hatf_field_state *naive_start,
                        const struct hatf_plan *naive, struct hatf_plan *plan);

/* The same for attributes, whose items are lengths. */
bool hatf_plan_attributes(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                          struct hatf_plan *plan);

/* Makes `plan` the switch from `start` to `other_start`, then `other`. */
bool hatf_plan_follow(const struct hatf_plan_task *task, const struct hatf_field_state *start,
                      const struct hatf_field_state *other_start, const struct hatf_plan *other,
                      struct hatf_plan *plan);

/* Bytes of the metadata that turn one state into the other. */
uint64_t hatf_plan_distance(enum hatf_field field, const struct hatf_field_state *from,
                            const struct hatf_field_state *to);

/* ---- for those that implement plans ---- */

/* A plan in the making: the field's state after what was planned so far. */
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
/* The item is stored as the state says. */
void hatf_planner_take(struct hatf_planner *planner, const struct hatf_plan_item *item);
/* False: out of memory. */
bool hatf_planner_end(struct hatf_planner *planner);

/* Which of the widths 0, 1, 2, 4, 8 it is. */
static inline unsigned hatf_width_rank(uint8_t width)
{
    return width <= 2 ? width : width == 4 ? 3 : 4;
}

#endif
