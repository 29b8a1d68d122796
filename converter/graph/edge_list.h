/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The references that one object holds: key -> target.  A key is an element's index, a field, or
 * what else refers; of the last there may be several alike.  One edge lies in the list itself, up
 * to 8 in a row, more in a hash table.
 */
#ifndef CONVERTER_GRAPH_EDGE_LIST_H
#define CONVERTER_GRAPH_EDGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of keys. */
#define EDGE_INDEX_MOST UINT32_C(0x7fffffff)
#define EDGE_NUMBER_MOST UINT32_C(0x1ffffffe)
static inline uint32_t edge_key_of_field(uint32_t field)
{
    return UINT32_C(4) << 29 | field;
}
/* A field that does not keep alive what it refers to: Reference.referent. */
static inline uint32_t edge_key_of_weak_field(uint32_t field)
{
    return UINT32_C(6) << 29 | field;
}
static inline uint32_t edge_key_of_other(uint32_t kind)
{
    return UINT32_C(7) << 29 | kind;
}
static inline bool edge_key_is_index(uint32_t key)
{
    return key <= EDGE_INDEX_MOST;
}
static inline bool edge_key_is_field(uint32_t key)
{
    return key >> 29 >= 4 && key >> 29 < 7;
}
static inline bool edge_key_is_weak(uint32_t key)
{
    return key >> 29 == 6;
}
static inline bool edge_key_is_other(uint32_t key)
{
    return key >> 29 == 7;
}
/* The field, or the kind. */
static inline uint32_t edge_key_number(uint32_t key)
{
    return key & UINT32_C(0x1fffffff);
}

struct edge {
    uint32_t target; /* a node's number; 0: none */
    uint32_t key;
};

/* Zero-initialised is empty. */
struct edge_list {
    union {
        struct edge one;
        struct edge *many;
    } at;
    uint32_t used;     /* edges, those without a target among them */
    uint8_t room_bits; /* 0: `one`; else room for 1 << room_bits */
    uint8_t flags[3];  /* the user's */
};

struct edge_chunk;

/* Where lists have their edges; zero-initialised is empty. */
struct edge_pool {
    struct edge_chunk *chunks;
    size_t chunk_used;
    struct edge *free[8]; /* by room bits */
};

void edge_pool_reset(struct edge_pool *pool);

/* Sets the edge's target (0: there is none any more) and gives the one before, 0 if there was none.
 * False: out of memory. */
bool edge_list_set(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target,
                   uint32_t *before);
/* Adds an edge, whatever there is with that key. */
bool edge_list_add(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target);
uint32_t edge_list_get(const struct edge_list *list, uint32_t key);
/* Frees what the list has in the pool. */
void edge_list_reset(struct edge_pool *pool, struct edge_list *list);

/* The slots to go over; those without a target are to be passed over. */
static inline const struct edge *edge_list_slots(const struct edge_list *list, size_t *count)
{
    *count = list->room_bits > 3 ? (size_t) 1 << list->room_bits : list->used;
    return list->room_bits == 0 ? &list->at.one : list->at.many;
}

#endif
