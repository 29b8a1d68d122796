/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps free blocks by size class and thread, cursors where the program reuses them, the most
 * recent frees, and the end of fresh memory. */
#include "converter/trace/address_model.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/object_table.h"
#include "format/core/hash.h"

/* ---- free blocks: a ring of entries, linked in a list per bin, with a hash table by address ----
 * */

#define FREED_MOST (UINT32_C(1) << 21)

#define FREED_BINS 4096u

#define FREED_NONE 0u /* no entry */

struct freed_block {
    uint64_t address;
    uint32_t older, newer; /* entries of the same bin */
    uint32_t bin;
    bool is_there;
};

struct freed_blocks {
    struct freed_block *entries; /* indexes from 1; a ring of FREED_MOST entries */
    uint32_t next, capacity;
    uint32_t newest[FREED_BINS];   /* index of an entry, or FREED_NONE */
    struct object_table addresses; /* index of the entry, by live_address_key() */
};

static void freed_blocks_reset(struct freed_blocks *blocks)
{
    free(blocks->entries);
    blocks->entries = NULL;
    object_table_reset(&blocks->addresses);
}

/* Returns the entry of an address, or FREED_NONE. */
static uint32_t freed_blocks_find(const struct freed_blocks *blocks, uint64_t address)
{
    struct live_object found;
    return object_table_find(&blocks->addresses, live_address_key(address), &found)
               ? (uint32_t) found.value
               : FREED_NONE;
}

/* Unlinks and removes an entry. */
static void freed_blocks_remove(struct freed_blocks *blocks, uint32_t entry)
{
    struct freed_block *block = &blocks->entries[entry];
    struct live_object gone;
    if (block->older != FREED_NONE)
        blocks->entries[block->older].newer = block->newer;
    if (block->newer != FREED_NONE)
        blocks->entries[block->newer].older = block->older;
    else
        blocks->newest[block->bin] = block->older;
    block->is_there = false;
    object_table_take(&blocks->addresses, live_address_key(block->address), &gone);
}

static bool address_model_make_room(struct freed_blocks *blocks)
{
    uint32_t wanted = blocks->capacity * 2 + 256;
    if (blocks->next < blocks->capacity)
        return true;
    if (wanted > FREED_MOST + 1)
        wanted = FREED_MOST + 1;
    struct freed_block *grown = realloc(blocks->entries, wanted * sizeof *grown);
    if (grown == NULL)
        return false;
    memset(grown + blocks->capacity, 0, (wanted - blocks->capacity) * sizeof *grown);
    blocks->entries = grown;
    blocks->capacity = wanted;
    return true;
}

/* Makes the address the newest of its bin, moving it if it is present.  Returns false if out of
 * memory. */
static bool freed_blocks_add(struct freed_blocks *blocks, uint32_t bin, uint64_t address)
{
    uint32_t known = freed_blocks_find(blocks, address);
    uint32_t entry = blocks->next;
    if (!address_model_make_room(blocks))
        return false;
    if (known != FREED_NONE)
        freed_blocks_remove(blocks, known);
    if (blocks->entries[entry].is_there)
        freed_blocks_remove(blocks, entry);
    uint32_t newest = blocks->newest[bin];
    blocks->entries[entry] =
        (struct freed_block){.address = address, .older = newest, .bin = bin, .is_there = true};
    if (newest != FREED_NONE)
        blocks->entries[newest].newer = entry;
    blocks->newest[bin] = entry;
    blocks->next = entry == FREED_MOST ? 1 : entry + 1;
    return object_table_put(
        &blocks->addresses,
        &(struct live_object){.object = live_address_key(address), .value = entry});
}

enum { BIN_BITS = 12, CURSORS = 32, WALK = 64, RECENT = 256, GAP_BITS = 12 };

/* Ranks in ascending order: the predicted end of fresh memory, the newest block of the bin, the
 * neighbours of blocks reused from the bin before, blocks near the newest, the most recent frees
 * of all bins, then any distance from the predicted end. */
enum {
    RANK_FRESH = 0,
    RANK_NEWEST = 1,
    RANK_CURSOR = 2,
    RANK_WALK = RANK_CURSOR + 2 * CURSORS,
    RANK_RECENT = RANK_WALK + WALK - 1
};
#define RANK_FAR ((uint64_t) (RANK_RECENT + RECENT))
#define GAP_MAX (UINT64_C(1) << 24)

/* The neighbours in its bin of a block that was reused; 0: none. */
struct cursor {
    uint64_t older, newer;
};

struct address_model {
    struct object_table objects; /* by address: value is the number of its allocation */
    struct object_table births;  /* by 1 + that number: value is the address; only for decoding */
    bool reads;
    uint64_t alloc_count;
    uint64_t fresh;               /* the last address in fresh memory */
    uint64_t fresh_chunk;         /* and the chunk size of the object there */
    uint64_t gaps[1 << GAP_BITS]; /* by chunk size: last distance between neighbours; 0: unknown */
    uint64_t recent[RECENT];      /* ring of the most recent frees */
    uint32_t recent_at;
    bool has_hint; /* a realloc has predicted the next allocation's address */
    uint64_t hint;
    struct freed_blocks freed;
    struct cursor cursors[FREED_BINS][CURSORS]; /* most recent first */
};

struct address_model *address_model_create(bool reads)
{
    struct address_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return NULL;
    model->reads = reads;
    model->freed.next = 1;
    return model;
}

void address_model_destroy(struct address_model *model)
{
    if (model == NULL)
        return;
    object_table_reset(&model->objects);
    object_table_reset(&model->births);
    freed_blocks_reset(&model->freed);
    free(model);
}

/* ---- ranks ---- */

/* Returns the chunk size of malloc() for a size: with header, rounded up to 16. */
static uint64_t chunk_of(uint64_t size)
{
    return size <= 24 ? 32 : (size + 8 + 15) & ~UINT64_C(15);
}

static uint32_t address_model_hash_of(uint64_t a, uint64_t b, unsigned bits)
{
    return (uint32_t) (step_hash(a ^ b * UINT64_C(0xff51afd7ed558ccd)) >> (64 - bits));
}

static uint32_t bin_of(const struct hatf_record *record, uint64_t size)
{
    return address_model_hash_of(chunk_of(size), record->thread + (record->heap << 20), BIN_BITS);
}

static uint64_t *gap_of(struct address_model *model)
{
    return &model->gaps[address_model_hash_of(model->fresh_chunk, 0, GAP_BITS)];
}

static uint64_t expected_of(const struct address_model *model)
{
    uint64_t gap = model->gaps[address_model_hash_of(model->fresh_chunk, 0, GAP_BITS)];
    return model->fresh + (gap != 0 ? gap : model->fresh_chunk);
}

static uint64_t zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

static uint64_t address_of(const struct address_model *model, uint32_t entry)
{
    return entry != FREED_NONE ? model->freed.entries[entry].address : 0;
}

/* Returns the rank of a free block according to its bin; 0 if it has none there. */
static uint64_t rank_in_bin(const struct address_model *model, uint32_t bin, uint64_t address,
                            bool is_expected)
{
    const struct cursor *cursors = model->cursors[bin];
    uint32_t at = model->freed.newest[bin];
    if (at != FREED_NONE && model->freed.entries[at].address == address)
        return RANK_NEWEST;
    for (uint32_t i = 0; i < CURSORS; i++) {
        if (cursors[i].older == address)
            return RANK_CURSOR + 2 * (uint64_t) i;
        if (cursors[i].newer == address)
            return RANK_CURSOR + 2 * (uint64_t) i + 1;
    }
    for (uint32_t i = 0; i < WALK && at != FREED_NONE && !is_expected; i++) {
        if (model->freed.entries[at].address == address)
            return (uint64_t) RANK_WALK + i - 1;
        at = model->freed.entries[at].older;
    }
    return 0;
}

/* Returns false if the distance cannot be encoded. */
static bool find_rank(const struct address_model *model, const struct hatf_record *record,
                      uint64_t address, uint64_t *rank)
{
    uint64_t expected = expected_of(model);
    bool is_freed = freed_blocks_find(&model->freed, address) != FREED_NONE;
    *rank = is_freed && address != 0
                ? rank_in_bin(model, bin_of(record, record->size), address, address == expected)
                : 0;
    if (*rank != 0 || address == expected)
        return true;
    for (uint32_t i = 0; i < RECENT && is_freed; i++)
        if (model->recent[(model->recent_at - 1 - i) % RECENT] == address) {
            *rank = (uint64_t) RANK_RECENT + i;
            return true;
        }
    uint64_t distance = zigzag(address - expected);
    *rank = RANK_FAR + distance;
    return distance < UINT64_MAX - RANK_FAR - 1;
}

/* Finds the block `steps` before the newest of the bin.  Returns false if there are too few. */
static bool find_near_newest(const struct address_model *model, uint32_t bin, uint64_t steps,
                             uint64_t *address)
{
    uint32_t at = model->freed.newest[bin];
    for (; steps > 0 && at != FREED_NONE; steps--)
        at = model->freed.entries[at].older;
    *address = address_of(model, at);
    return at != FREED_NONE;
}

/* Decodes a rank.  Returns false if the model has no such rank. */
static bool find_address(const struct address_model *model, const struct hatf_record *record,
                         uint64_t rank, uint64_t *address)
{
    uint32_t bin = bin_of(record, record->size);
    if (rank == RANK_FRESH) {
        *address = expected_of(model);
    } else if (rank == RANK_NEWEST) {
        return find_near_newest(model, bin, 0, address);
    } else if (rank < RANK_WALK) {
        const struct cursor *cursor = &model->cursors[bin][(rank - RANK_CURSOR) / 2];
        *address = (rank - RANK_CURSOR) % 2 == 0 ? cursor->older : cursor->newer;
        return *address != 0;
    } else if (rank < RANK_RECENT) {
        return find_near_newest(model, bin, rank - RANK_WALK + 1, address);
    } else if (rank < RANK_FAR) {
        *address = model->recent[(model->recent_at - 1 - (uint32_t) (rank - RANK_RECENT)) % RECENT];
    } else {
        *address = expected_of(model) + unzigzag(rank - RANK_FAR);
    }
    return true;
}

/* ---- updating the model ---- */

static bool address_model_add_object(struct address_model *model, const struct hatf_record *record)
{
    struct live_object old;
    uint64_t key = live_address_key(record->address);
    if (model->reads && object_table_take(&model->objects, key, &old))
        object_table_take(&model->births, old.value + 1, &old);
    struct live_object object = {
        .object = key, .value = model->alloc_count++, .size = record->size};
    struct live_object birth = {.object = model->alloc_count, .value = record->address};
    return object_table_put(&model->objects, &object) &&
           (!model->reads || object_table_put(&model->births, &birth));
}

/* Makes its neighbours the first cursor, replacing the cursor that led to it. */
static void take_freed(struct address_model *model, uint32_t bin, uint32_t entry, uint64_t rank)
{
    const struct freed_block *block = &model->freed.entries[entry];
    struct cursor *cursors = model->cursors[bin];
    const struct cursor first = {address_of(model, block->older), address_of(model, block->newer)};
    bool is_own = block->bin == bin;
    size_t moved = rank >= RANK_CURSOR && rank < RANK_WALK ? (rank - RANK_CURSOR) / 2 : CURSORS - 1;
    freed_blocks_remove(&model->freed, entry);
    if (!is_own || rank == RANK_FRESH)
        return;
    memmove(&cursors[1], &cursors[0], moved * sizeof cursors[0]);
    cursors[0] = first;
}

/* Removes the address from the free blocks, or moves the end of fresh memory behind it. */
static bool address_model_settle(struct address_model *model, const struct hatf_record *record,
                                 uint64_t rank)
{
    uint32_t entry = freed_blocks_find(&model->freed, record->address);
    if (entry != FREED_NONE)
        take_freed(model, bin_of(record, record->size), entry, rank);
    if (rank == RANK_FRESH || rank >= RANK_FAR) {
        uint64_t gap = record->address - model->fresh;
        if (gap != 0 && gap < GAP_MAX)
            *gap_of(model) = gap;
        model->fresh = record->address;
        model->fresh_chunk = chunk_of(record->size);
    }
    return address_model_add_object(model, record);
}

/* Returns false if out of memory. */
static bool end_object(struct address_model *model, const struct hatf_record *record,
                       const struct live_object *object)
{
    struct live_object birth;
    if (model->reads)
        object_table_take(&model->births, object->value + 1, &birth);
    model->recent[model->recent_at++ % RECENT] = record->address;
    return freed_blocks_add(&model->freed, bin_of(record, object->size), record->address);
}

static bool address_model_resize(struct address_model *model, const struct hatf_record *record,
                                 struct live_object *object)
{
    object->size = record->size;
    return object_table_put(&model->objects, object);
}

enum address_answer address_model_note(struct address_model *model,
                                       const struct hatf_record *record)
{
    struct live_object object;
    uint64_t key = live_address_key(record->address);
    switch (record->tag) {
    case HATF_ALLOC:
        model->has_hint = false;
        return address_model_add_object(model, record) ? HEAP_PLAIN : HEAP_NO_MEMORY;
    case HATF_FREE:
        return !object_table_take(&model->objects, key, &object) ||
                       end_object(model, record, &object)
                   ? HEAP_PLAIN
                   : HEAP_NO_MEMORY;
    case HATF_REALLOC_NO_ALLOC:
        if (record->new_address == record->address &&
            object_table_find(&model->objects, key, &object) &&
            !address_model_resize(model, record, &object))
            return HEAP_NO_MEMORY;
        return HEAP_PLAIN;
    default:
        return HEAP_PLAIN;
    }
}

/* ---- writing ---- */

static uint64_t age_of(const struct address_model *model, const struct live_object *object)
{
    return model->alloc_count - 1 - object->value;
}

static enum address_answer place_alloc(struct address_model *model,
                                       const struct hatf_record *record, struct address_place *out)
{
    uint64_t rank;
    if (!find_rank(model, record, record->address, &rank))
        return address_model_note(model, record);
    out->rank = !model->has_hint ? rank : record->address == model->hint ? 0 : rank + 1;
    model->has_hint = false;
    return address_model_settle(model, record, rank) ? HEAP_PLACED : HEAP_NO_MEMORY;
}

static enum address_answer place_free(struct address_model *model, const struct hatf_record *record,
                                      struct address_place *out)
{
    struct live_object object;
    if (!object_table_take(&model->objects, live_address_key(record->address), &object))
        return HEAP_PLAIN;
    out->age = age_of(model, &object);
    return end_object(model, record, &object) ? HEAP_PLACED : HEAP_NO_MEMORY;
}

static enum address_answer place_realloc(struct address_model *model,
                                         const struct hatf_record *record,
                                         struct address_place *out)
{
    struct live_object object;
    bool has_old = record->tag != HATF_REALLOC_ALLOC;
    bool is_alive = object_table_find(&model->objects, live_address_key(record->address), &object);
    if (has_old ? !is_alive : record->address != 0)
        return address_model_note(model, record);
    out->age = has_old ? age_of(model, &object) + 1 : 0;
    if (record->tag == HATF_REALLOC_NO_ALLOC) {
        if (record->new_address != record->address)
            return address_model_note(model, record);
        return address_model_resize(model, record, &object) ? HEAP_PLACED : HEAP_NO_MEMORY;
    }
    if (record->tag == HATF_REALLOC_FREE)
        return record->new_address == 0 ? HEAP_PLACED : address_model_note(model, record);
    if (!find_rank(model, record, record->new_address, &out->rank))
        return address_model_note(model, record);
    model->has_hint = true;
    model->hint = record->new_address;
    return HEAP_PLACED;
}

enum address_answer address_model_place(struct address_model *model,
                                        const struct hatf_record *record,
                                        struct address_place *place)
{
    *place = (struct address_place){0, 0};
    switch (record->tag) {
    case HATF_ALLOC:
        return place_alloc(model, record, place);
    case HATF_FREE:
        return place_free(model, record, place);
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_ALLOC:
    case HATF_REALLOC_FREE:
        return place_realloc(model, record, place);
    default:
        return HEAP_PLAIN;
    }
}

/* ---- reading ---- */

static bool object_of_age(const struct address_model *model, uint64_t age,
                          struct live_object *object, uint64_t *address)
{
    struct live_object birth;
    if (age >= model->alloc_count ||
        !object_table_find(&model->births, model->alloc_count - age, &birth) ||
        !object_table_find(&model->objects, live_address_key(birth.value), object))
        return false;
    *address = birth.value;
    return true;
}

static enum address_answer find_alloc(struct address_model *model, uint64_t code,
                                      struct hatf_record *record)
{
    uint64_t rank = code;
    if (model->has_hint && code == 0) {
        record->address = model->hint;
        if (!find_rank(model, record, record->address, &rank))
            return HEAP_IMPOSSIBLE;
    } else {
        rank -= model->has_hint;
        if (!find_address(model, record, rank, &record->address))
            return HEAP_IMPOSSIBLE;
    }
    model->has_hint = false;
    return address_model_settle(model, record, rank) ? HEAP_PLACED : HEAP_NO_MEMORY;
}

static enum address_answer find_free(struct address_model *model, uint64_t age,
                                     struct hatf_record *record)
{
    struct live_object object;
    if (!object_of_age(model, age, &object, &record->address))
        return HEAP_IMPOSSIBLE;
    object_table_take(&model->objects, object.object, &object);
    return end_object(model, record, &object) ? HEAP_PLACED : HEAP_NO_MEMORY;
}

static enum address_answer find_realloc(struct address_model *model,
                                        const struct address_place *place,
                                        struct hatf_record *record)
{
    struct live_object object;
    bool has_old = record->tag != HATF_REALLOC_ALLOC;
    if (has_old &&
        (place->age == 0 || !object_of_age(model, place->age - 1, &object, &record->address)))
        return HEAP_IMPOSSIBLE;
    if (record->tag == HATF_REALLOC_NO_ALLOC) {
        record->new_address = record->address;
        return address_model_resize(model, record, &object) ? HEAP_PLACED : HEAP_NO_MEMORY;
    }
    if (record->tag == HATF_REALLOC_FREE)
        return HEAP_PLACED;
    if (!find_address(model, record, place->rank, &record->new_address))
        return HEAP_IMPOSSIBLE;
    model->has_hint = true;
    model->hint = record->new_address;
    return HEAP_PLACED;
}

enum address_answer address_model_find(struct address_model *model,
                                       const struct address_place *place,
                                       struct hatf_record *record)
{
    switch (record->tag) {
    case HATF_ALLOC:
        return find_alloc(model, place->rank, record);
    case HATF_FREE:
        return find_free(model, place->age, record);
    default:
        return find_realloc(model, place, record);
    }
}
