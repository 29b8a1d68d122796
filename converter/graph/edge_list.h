/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The references of one object: key -> target.  A key is an array index, a field, or another kind
 * of reference; the latter may occur several times.  A single edge is stored in the list itself, up
 * to 8 in an array, more in a hash table.
 */
#ifndef CONVERTER_GRAPH_EDGE_LIST_H
#define CONVERTER_GRAPH_EDGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Encoding of keys. */
#define EDGE_INDEX_MOST UINT32_C(0x7fffffff)
#define EDGE_NUMBER_MOST UINT32_C(0x1ffffffe)
static inline uint32_t edge_key_of_field(uint32_t field)
{
    return UINT32_C(4) << 29 | field;
}
/* A field that does not keep its target alive: Reference.referent. */
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
/* Returns the field, or the kind of another reference. */
static inline uint32_t edge_key_number(uint32_t key)
{
    return key & UINT32_C(0x1fffffff);
}

struct edge {
    uint32_t target; /* node index; 0: none */
    uint32_t key;
};

/* Zero-initialise for an empty list. */
struct edge_list {
    union {
        struct edge one;
        struct edge *many;
    } at;
    uint32_t used;     /* number of edges, including those without target */
    uint8_t room_bits; /* 0: `one`; otherwise capacity 1 << room_bits */
    uint8_t flags[3];  /* for the caller */
};

struct edge_chunk;

/* Memory for the edges of lists.  Zero-initialise. */
struct edge_pool {
    struct edge_chunk *chunks;
    size_t chunk_used;
    struct edge *free[8]; /* by room bits */
};

void edge_pool_reset(struct edge_pool *pool);

/* Sets the target of an edge (0 removes it) and returns the previous target, or 0, in `*before`.
 * Returns false if out of memory. */
bool edge_list_set(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target,
                   uint32_t *before);
/* Adds an edge even if the key exists.  Returns false if out of memory. */
bool edge_list_add(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target);
uint32_t edge_list_get(const struct edge_list *list, uint32_t key);
/* Returns the list's edges to the pool. */
void edge_list_reset(struct edge_pool *pool, struct edge_list *list);

/* Returns the slots for iteration; skip those without target. */
static inline const struct edge *edge_list_slots(const struct edge_list *list, size_t *count)
{
    *count = list->room_bits > 3 ? (size_t) 1 << list->room_bits : list->used;
    return list->room_bits == 0 ? &list->at.one : list->at.many;
}

#endif
