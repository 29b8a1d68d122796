/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps object numbers to nodes.  Numbers rise in the order of allocations, and objects die near
 * those that were allocated with them.  A page therefore covers 16 consecutive numbers, and is
 * released when it is empty.
 */
#ifndef CONVERTER_GRAPH_NODE_INDEX_H
#define CONVERTER_GRAPH_NODE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/hash.h"
#include "format/core/hash_index.h"

#define NODE_PAGE_BITS 4u
#define NODE_PAGE_SIZE (1u << NODE_PAGE_BITS)

struct node_page {
    uint64_t number;                /* object numbers without their lowest NODE_PAGE_BITS bits */
    uint32_t nodes[NODE_PAGE_SIZE]; /* 0: not alive */
    uint32_t living;
    uint32_t next_free;
};

/* Zero-initialise for an empty index. */
struct node_index {
    struct step_index index; /* finds pages by number */
    struct node_page *pages;
    uint32_t page_count;
    uint32_t free; /* 1 + first released page, to be reused; 0: none */
    size_t page_capacity;
};

void node_index_reset(struct node_index *index);

static inline struct node_page *node_index_page(const struct node_index *index, uint64_t number)
{
    uint32_t page;
    STEP_INDEX_EACH (&index->index, step_hash_half(number), page)
        if (index->pages[page].number == number)
            return &index->pages[page];
    return NULL;
}

/* Returns the object's node, or 0 if it has none. */
static inline uint32_t node_index_find(const struct node_index *index, uint64_t object)
{
    const struct node_page *page = node_index_page(index, object >> NODE_PAGE_BITS);
    return page != NULL ? page->nodes[object & (NODE_PAGE_SIZE - 1)] : 0;
}

/* Returns false if out of memory. */
bool node_index_put(struct node_index *index, uint64_t object, uint32_t node);
void node_index_remove(struct node_index *index, uint64_t object);

#endif
