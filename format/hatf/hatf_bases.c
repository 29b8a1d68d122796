/* SPDX-License-Identifier: Apache-2.0 */
/* Base offsets by sliding minimum: for each width, the best start of a base whose range still
 * fits. */
#include "format/hatf/hatf_search.h"

/* Adds the item to the range, and removes starts that are too far away for the base. */
static void widen_range(struct hatf_search *search, struct hatf_base_queues *base, size_t i,
                        unsigned rank)
{
    const struct hatf_plan_item *items = search->items;
    while (base->least_tail > base->least_head &&
           hatf_item_least(&items[base->least[base->least_tail - 1]]) >= hatf_item_least(&items[i]))
        base->least_tail--;
    base->least[base->least_tail++] = (uint32_t) i;
    while (base->greatest_tail > base->greatest_head &&
           hatf_item_greatest(&items[base->greatest[base->greatest_tail - 1]]) <=
               hatf_item_greatest(&items[i]))
        base->greatest_tail--;
    base->greatest[base->greatest_tail++] = (uint32_t) i;
    while (base->reach <= i && (hatf_item_greatest(&items[base->greatest[base->greatest_head]]) -
                                hatf_item_least(&items[base->least[base->least_head]])) >>
                                       (8 * hatf_rank_widths[rank]) !=
                                   0) {
        base->reach++;
        while (base->least_head < base->least_tail && base->least[base->least_head] < base->reach)
            base->least_head++;
        while (base->greatest_head < base->greatest_tail &&
               base->greatest[base->greatest_head] < base->reach)
            base->greatest_head++;
        if (base->reach > i)
            break;
    }
    while (base->start_head < base->start_tail && base->starts[base->start_head] < base->reach)
        base->start_head++;
}

static void add_start(struct hatf_search *search, struct hatf_base_queues *base, size_t i,
                      unsigned rank)
{
    int64_t key = search->entry_cost[rank] + COST_VALUE -
                  (int64_t) hatf_rank_widths[rank] * (int64_t) search->values_before;
    base->from[i] = search->entry_way[rank];
    if (base->reach > i || search->entry_cost[rank] >= WAY_UNREACHED)
        return;
    while (base->start_tail > base->start_head && base->keys[base->start_tail - 1] >= key)
        base->start_tail--;
    base->keys[base->start_tail] = key;
    base->starts[base->start_tail++] = (uint32_t) i;
}

void hatf_bases_try(struct hatf_search *search, int64_t *now, size_t i)
{
    static const uint8_t means[WAY_BASES] = {HATF_MEANS_BASE_1, HATF_MEANS_BASE_2,
                                             HATF_MEANS_BASE_4};
    uint64_t values = search->values_before + (search->items[i].has_second ? 2 : 1);
    for (unsigned k = 0; k < WAY_BASES; k++) {
        struct hatf_base_queues *base = &search->bases[k];
        if ((search->means & means[k]) == 0)
            continue;
        widen_range(search, base, i, k + 1);
        add_start(search, base, i, k + 1);
        if (base->start_head == base->start_tail)
            continue;
        now[WAY_BASE + k] =
            base->keys[base->start_head] + (int64_t) hatf_rank_widths[k + 1] * (int64_t) values;
        base->origin[i] = base->starts[base->start_head];
    }
}
