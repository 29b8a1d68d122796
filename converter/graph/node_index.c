/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of nodes with a free list and a hash index. */
#include "converter/graph/node_index.h"

#include <stdlib.h>

#include "format/core/grow.h"

void node_index_reset(struct node_index *index)
{
    step_index_reset(&index->index);
    free(index->pages);
    *index = (struct node_index){.pages = NULL};
}

/* Returns NULL if out of memory. */
static struct node_page *add_page(struct node_index *index, uint64_t number)
{
    bool is_used = index->free != 0;
    uint32_t page = is_used ? index->free - 1 : index->page_count;
    if (!is_used && index->page_count == index->page_capacity) {
        struct node_page *grown = step_grown(index->pages, &index->page_capacity,
                                             index->page_count + (size_t) 1, sizeof *grown);
        if (grown == NULL)
            return NULL;
        index->pages = grown;
    }
    if (!step_index_add(&index->index, step_hash_half(number), page))
        return NULL;
    if (is_used)
        index->free = index->pages[page].next_free;
    else
        index->page_count++;
    index->pages[page] = (struct node_page){.number = number};
    return &index->pages[page];
}

bool node_index_put(struct node_index *index, uint64_t object, uint32_t node)
{
    uint64_t number = object >> NODE_PAGE_BITS;
    struct node_page *page = node_index_page(index, number);
    if (page == NULL && (page = add_page(index, number)) == NULL)
        return false;
    uint32_t *place = &page->nodes[object & (NODE_PAGE_SIZE - 1)];
    page->living += *place == 0;
    *place = node;
    return true;
}

void node_index_remove(struct node_index *index, uint64_t object)
{
    uint64_t number = object >> NODE_PAGE_BITS;
    struct node_page *page = node_index_page(index, number);
    if (page == NULL || page->nodes[object & (NODE_PAGE_SIZE - 1)] == 0)
        return;
    page->nodes[object & (NODE_PAGE_SIZE - 1)] = 0;
    if (--page->living > 0)
        return;
    uint32_t place = (uint32_t) (page - index->pages);
    step_index_remove(&index->index, step_hash_half(number), place);
    page->next_free = index->free;
    index->free = place + 1;
}
