/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and hash tables of edges, allocated from a pool. */
#include "converter/graph/edge_list.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/hash.h"
#include "format/core/large_memory.h"

enum {
    CHUNK_EDGES = 1 << 20,
    ROW_BITS = 3,    /* log2 of the maximum length of an array */
    POOLED_BITS = 7, /* log2 of the maximum size in chunks; larger ones use malloc() */
    ROOM_BITS_MOST = 31
};

#define NO_KEY UINT32_MAX

struct edge_chunk {
    struct edge_chunk *next;
    struct edge edges[CHUNK_EDGES];
};

/* A released place. */
union free_place {
    struct edge *next;
    struct edge edge;
};
_Static_assert(sizeof(union free_place) <= 2 * sizeof(struct edge), "the smallest place has two");

/* ---- the pool ---- */

static struct edge *take_place(struct edge_pool *pool, unsigned bits)
{
    size_t count = (size_t) 1 << bits;
    if (bits > POOLED_BITS)
        return malloc(count * sizeof(struct edge));
    struct edge *place = pool->free[bits];
    if (place != NULL) {
        memcpy(&pool->free[bits], (const void *) place, sizeof(void *));
        return place;
    }
    if (pool->chunks == NULL || pool->chunk_used + count > CHUNK_EDGES) {
        struct edge_chunk *chunk = malloc(sizeof *chunk);
        if (chunk == NULL)
            return NULL;
        if (pool->chunks != NULL) /* small graphs use only a part of one chunk */
            large_memory_advise(chunk, sizeof *chunk);
        chunk->next = pool->chunks;
        pool->chunks = chunk;
        pool->chunk_used = 0;
    }
    place = &pool->chunks->edges[pool->chunk_used];
    pool->chunk_used += count;
    return place;
}

static void give_place(struct edge_pool *pool, struct edge *place, unsigned bits)
{
    if (bits > POOLED_BITS) {
        free(place);
        return;
    }
    memcpy((void *) place, &pool->free[bits], sizeof(void *));
    pool->free[bits] = place;
}

void edge_pool_reset(struct edge_pool *pool)
{
    while (pool->chunks != NULL) {
        struct edge_chunk *next = pool->chunks->next;
        free(pool->chunks);
        pool->chunks = next;
    }
    *pool = (struct edge_pool){0};
}

/* ---- lists ---- */

static size_t home_of(uint32_t key, unsigned bits)
{
    return (size_t) (step_hash(key) >> (64 - bits));
}

/* Returns the slot of the key, or the empty slot where it would be inserted. */
static struct edge *hashed_slot(struct edge *edges, unsigned bits, uint32_t key)
{
    size_t mask = ((size_t) 1 << bits) - 1;
    size_t at = home_of(key, bits);
    while (edges[at].key != key && edges[at].key != NO_KEY)
        at = (at + 1) & mask;
    return &edges[at];
}

static struct edge *empty_slot(struct edge *edges, unsigned bits, uint32_t key)
{
    size_t mask = ((size_t) 1 << bits) - 1;
    size_t at = home_of(key, bits);
    while (edges[at].key != NO_KEY)
        at = (at + 1) & mask;
    return &edges[at];
}

static struct edge *find(const struct edge_list *list, uint32_t key)
{
    if (list->room_bits > ROW_BITS) {
        struct edge *slot = hashed_slot(list->at.many, list->room_bits, key);
        return slot->key == key ? slot : NULL;
    }
    size_t count;
    const struct edge *slots = edge_list_slots(list, &count);
    for (size_t i = 0; i < count; i++)
        if (slots[i].key == key)
            return (struct edge *) &slots[i];
    return NULL;
}

static size_t count_targets(const struct edge_list *list)
{
    size_t count, targets = 0;
    const struct edge *slots = edge_list_slots(list, &count);
    for (size_t i = 0; i < count; i++)
        targets += slots[i].target != 0;
    return targets;
}

/* Moves the edges that have a target to a new place with that capacity. */
static bool move_to(struct edge_pool *pool, struct edge_list *list, unsigned bits)
{
    size_t count, used = 0;
    struct edge *edges = take_place(pool, bits);
    if (edges == NULL)
        return false;
    if (bits > ROW_BITS)
        memset(edges, 0xff, sizeof *edges << bits);
    const struct edge *slots = edge_list_slots(list, &count);
    for (size_t i = 0; i < count; i++) {
        if (slots[i].key == NO_KEY || slots[i].target == 0)
            continue;
        *(bits > ROW_BITS ? empty_slot(edges, bits, slots[i].key) : &edges[used]) = slots[i];
        used++;
    }
    for (size_t i = 0; bits > ROW_BITS && i < (size_t) 1 << bits; i++)
        if (edges[i].key == NO_KEY)
            edges[i].target = 0;
    if (list->room_bits > 0)
        give_place(pool, list->at.many, list->room_bits);
    list->at.many = edges;
    list->room_bits = (uint8_t) bits;
    list->used = (uint32_t) used;
    return true;
}

/* Ensures capacity for one more edge. */
static bool make_room(struct edge_pool *pool, struct edge_list *list)
{
    unsigned bits = list->room_bits;
    size_t room = (size_t) 1 << bits;
    if (list->used < (bits > ROW_BITS ? room / 4 * 3 : room))
        return true;
    if (bits > ROW_BITS && count_targets(list) <= room / 2)
        return move_to(pool, list, bits); /* many edges had no target */
    return bits < ROOM_BITS_MOST && move_to(pool, list, bits == ROW_BITS ? bits + 2 : bits + 1);
}

bool edge_list_add(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target)
{
    if (!make_room(pool, list))
        return false;
    struct edge *slot = list->room_bits > ROW_BITS ? empty_slot(list->at.many, list->room_bits, key)
                        : list->room_bits == 0     ? &list->at.one
                                                   : &list->at.many[list->used];
    *slot = (struct edge){target, key};
    list->used++;
    return true;
}

bool edge_list_set(struct edge_pool *pool, struct edge_list *list, uint32_t key, uint32_t target,
                   uint32_t *before)
{
    struct edge *edge = find(list, key);
    *before = edge != NULL ? edge->target : 0;
    if (edge == NULL)
        return target == 0 || edge_list_add(pool, list, key, target);
    edge->target = target;
    return true;
}

uint32_t edge_list_get(const struct edge_list *list, uint32_t key)
{
    const struct edge *edge = find(list, key);
    return edge != NULL ? edge->target : 0;
}

void edge_list_reset(struct edge_pool *pool, struct edge_list *list)
{
    if (list->room_bits > 0)
        give_place(pool, list->at.many, list->room_bits);
    list->at.many = NULL;
    list->used = 0;
    list->room_bits = 0;
}
