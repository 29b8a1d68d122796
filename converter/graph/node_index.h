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

#define NODE_PAGE_BITS 4u
#define NODE_PAGE_SIZE (1u << NODE_PAGE_BITS)

struct node_page {
    uint64_t number;                /* of its objects, without the lowest bits */
    uint32_t nodes[NODE_PAGE_SIZE]; /* 0: does not live */
    uint32_t living;
    uint32_t next_free;
};

struct node_index {
    uint32_t *slots; /* page numbers by hash; 0: empty */
    size_t mask;
    unsigned shift;
    size_t count;
    struct node_page *pages; /* the first is none */
    uint32_t page_count, free;
    size_t page_capacity;
};

bool node_index_init(struct node_index *index);
void node_index_reset(struct node_index *index);

static inline size_t node_index_slot(const struct node_index *index, uint64_t number)
{
    size_t at = (size_t) (step_hash(number) >> index->shift);
    while (index->slots[at] != 0 && index->pages[index->slots[at]].number != number)
        at = (at + 1) & index->mask;
    return at;
}

/* 0: the object has no node. */
static inline uint32_t node_index_find(const struct node_index *index, uint64_t object)
{
    uint32_t page = index->slots[node_index_slot(index, object >> NODE_PAGE_BITS)];
    return page != 0 ? index->pages[page].nodes[object & (NODE_PAGE_SIZE - 1)] : 0;
}

/* False: out of memory. */
bool node_index_put(struct node_index *index, uint64_t object, uint32_t node);
void node_index_remove(struct node_index *index, uint64_t object);

#endif
