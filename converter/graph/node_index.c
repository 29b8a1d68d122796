/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing over pages, with backward-shift deletion; pages are used again. */
#include "converter/graph/node_index.h"

#include <stdlib.h>

#include "format/core/grow.h"

enum { LEAST_SLOTS = 1024 };

bool node_index_init(struct node_index *index)
{
    *index = (struct node_index){.mask = LEAST_SLOTS - 1,
                                 .shift = 64 - (unsigned) __builtin_ctz(LEAST_SLOTS),
                                 .page_count = 1};
    index->slots = calloc(LEAST_SLOTS, sizeof *index->slots);
    index->pages = step_grown(NULL, &index->page_capacity, 1, sizeof *index->pages);
    return index->slots != NULL && index->pages != NULL;
}

void node_index_reset(struct node_index *index)
{
    free(index->slots);
    free(index->pages);
    *index = (struct node_index){0};
}

static bool grow_slots(struct node_index *index)
{
    uint32_t *old = index->slots;
    size_t old_count = index->mask + 1;
    uint32_t *slots = calloc(old_count * 2, sizeof *slots);
    if (slots == NULL)
        return false;
    index->slots = slots;
    index->mask = old_count * 2 - 1;
    index->shift--;
    for (size_t i = 0; i < old_count; i++)
        if (old[i] != 0)
            slots[node_index_slot(index, index->pages[old[i]].number)] = old[i];
    free(old);
    return true;
}

/* 0: out of memory. */
static uint32_t add_page(struct node_index *index, uint64_t number)
{
    if (index->count > index->mask / 2 && !grow_slots(index))
        return 0;
    uint32_t page = index->free;
    if (page != 0) {
        index->free = index->pages[page].next_free;
    } else {
        if (index->page_count == UINT32_MAX)
            return 0;
        if (index->page_count == index->page_capacity) {
            struct node_page *grown = step_grown(index->pages, &index->page_capacity,
                                                 index->page_count + (size_t) 1, sizeof *grown);
            if (grown == NULL)
                return 0;
            index->pages = grown;
        }
        page = index->page_count++;
    }
    index->pages[page] = (struct node_page){.number = number};
    index->slots[node_index_slot(index, number)] = page;
    index->count++;
    return page;
}

bool node_index_put(struct node_index *index, uint64_t object, uint32_t node)
{
    uint64_t number = object >> NODE_PAGE_BITS;
    uint32_t page = index->slots[node_index_slot(index, number)];
    if (page == 0 && (page = add_page(index, number)) == 0)
        return false;
    uint32_t *place = &index->pages[page].nodes[object & (NODE_PAGE_SIZE - 1)];
    index->pages[page].living += *place == 0;
    *place = node;
    return true;
}

/* Closes the gap: what lies behind it and may lie nearer to its home moves up. */
static void close_gap(struct node_index *index, size_t at)
{
    for (size_t next = (at + 1) & index->mask; index->slots[next] != 0;
         next = (next + 1) & index->mask) {
        uint64_t number = index->pages[index->slots[next]].number;
        size_t home = (size_t) (step_hash(number) >> index->shift);
        if (((next - home) & index->mask) < ((next - at) & index->mask))
            continue;
        index->slots[at] = index->slots[next];
        at = next;
    }
    index->slots[at] = 0;
}

void node_index_remove(struct node_index *index, uint64_t object)
{
    size_t at = node_index_slot(index, object >> NODE_PAGE_BITS);
    uint32_t number = index->slots[at];
    struct node_page *page = &index->pages[number];
    uint32_t *place = &page->nodes[object & (NODE_PAGE_SIZE - 1)];
    if (number == 0 || *place == 0)
        return;
    *place = 0;
    if (--page->living > 0)
        return;
    close_gap(index, at);
    index->count--;
    page->next_free = index->free;
    index->free = number;
}
