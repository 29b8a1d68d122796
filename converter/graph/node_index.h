/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects' numbers -> nodes.  Numbers rise in the order of allocations and objects die near those
 * that were made with them, so a page has 16 that follow each other, and goes when it is empty.
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
    uint64_t number;                /* of its objects, without the lowest bits */
    uint32_t nodes[NODE_PAGE_SIZE]; /* 0: does not live */
    uint32_t living;
    uint32_t next_free;
};

/* Zero-initialised is empty. */
struct node_index {
    struct step_index index; /* of the pages */
    struct node_page *pages;
    uint32_t page_count;
    uint32_t free; /* a page that waits for its next use, and one; 0: none */
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

/* 0: the object has no node. */
static inline uint32_t node_index_find(const struct node_index *index, uint64_t object)
{
    const struct node_page *page = node_index_page(index, object >> NODE_PAGE_BITS);
    return page != NULL ? page->nodes[object & (NODE_PAGE_SIZE - 1)] : 0;
}

/* False: out of memory. */
bool node_index_put(struct node_index *index, uint64_t object, uint32_t node);
void node_index_remove(struct node_index *index, uint64_t object);

#endif
