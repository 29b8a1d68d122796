/* SPDX-License-Identifier: Apache-2.0 */
/* Size classes with their last frees, the last frees of all, and the end of fresh memory. */
#include "converter/allocs/address_model.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/hash.h"

enum { BIN_BITS = 12, BINS = 1 << BIN_BITS, BIN_DEPTH = 64, RECENT = 256, GAP_BITS = 12 };

/* Places: the expected end of fresh memory, then those of the bin, then the last frees of all, then
 * any distance from the expected end. */
enum { PLACE_FRESH = 0, PLACE_BIN = 1, PLACE_RECENT = PLACE_BIN + BIN_DEPTH };
#define PLACE_FAR ((uint64_t) (PLACE_RECENT + RECENT))
#define GAP_MAX (UINT64_C(1) << 24)

/* What the last frees of a size class and thread left, the newest last. */
struct bin {
    uint32_t count;
    uint64_t addresses[BIN_DEPTH];
};

struct address_model {
    struct object_table objects; /* by address: value is the number of its birth */
    struct object_table births;  /* by that number: value is the address; when reading */
    bool reads;
    uint64_t alloc_count;
    uint64_t fresh;               /* the last address in fresh memory */
    uint64_t fresh_chunk;         /* and how much an allocator takes for such a size */
    uint64_t gaps[1 << GAP_BITS]; /* by chunk: how far apart neighbours were; 0: not known */
    uint64_t recent[RECENT];      /* a ring of the last frees */
    uint32_t recent_at;
    bool has_hint; /* a realloc gave the address of the allocation that follows */
    uint64_t hint;
    struct bin bins[BINS];
};

struct address_model *address_model_create(bool reads)
{
    struct address_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return NULL;
    model->reads = reads;
    if (object_table_init(&model->objects) && (!reads || object_table_init(&model->births)))
        return model;
    address_model_destroy(model);
    return NULL;
}

void address_model_destroy(struct address_model *model)
{
    if (model == NULL)
        return;
    object_table_reset(&model->objects);
    object_table_reset(&model->births);
    free(model);
}

/* ---- places ---- */

/* What malloc takes for a size: a header, and the next multiple of 16. */
static uint64_t chunk_of(uint64_t size)
{
    return size <= 24 ? 32 : (size + 8 + 15) & ~UINT64_C(15);
}

static uint32_t hash_of(uint64_t a, uint64_t b, unsigned bits)
{
    return (uint32_t) (step_hash(a ^ b * UINT64_C(0xff51afd7ed558ccd)) >> (64 - bits));
}

static struct bin *bin_of(struct address_model *model, const struct hatf_record *record,
                          uint64_t size)
{
    return &model->bins[hash_of(chunk_of(size), record->thread + (record->heap << 20), BIN_BITS)];
}

static uint64_t *gap_of(struct address_model *model)
{
    return &model->gaps[hash_of(model->fresh_chunk, 0, GAP_BITS)];
}

static uint64_t expected_of(struct address_model *model)
{
    uint64_t gap = *gap_of(model);
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

/* False: the distance is too far for a number. */
static bool find_place(struct address_model *model, const struct hatf_record *record,
                       uint64_t address, uint64_t *place)
{
    uint64_t expected = expected_of(model);
    const struct bin *bin = bin_of(model, record, record->size);
    for (uint32_t i = 0; i < bin->count; i++)
        if (bin->addresses[bin->count - 1 - i] == address) {
            *place = PLACE_BIN + i;
            return true;
        }
    if (address == expected) {
        *place = PLACE_FRESH;
        return true;
    }
    for (uint32_t i = 0; i < RECENT; i++)
        if (model->recent[(model->recent_at - 1 - i) % RECENT] == address) {
            *place = (uint64_t) PLACE_RECENT + i;
            return true;
        }
    uint64_t distance = zigzag(address - expected);
    *place = PLACE_FAR + distance;
    return distance < UINT64_MAX - PLACE_FAR - 1;
}

/* False: there is no such place. */
static bool find_address(struct address_model *model, const struct hatf_record *record,
                         uint64_t place, uint64_t *address)
{
    const struct bin *bin = bin_of(model, record, record->size);
    if (place == PLACE_FRESH) {
        *address = expected_of(model);
    } else if (place < PLACE_RECENT) {
        if (place - PLACE_BIN >= bin->count)
            return false;
        *address = bin->addresses[bin->count - 1 - (place - PLACE_BIN)];
    } else if (place < PLACE_FAR) {
        *address =
            model->recent[(model->recent_at - 1 - (uint32_t) (place - PLACE_RECENT)) % RECENT];
    } else {
        *address = expected_of(model) + unzigzag(place - PLACE_FAR);
    }
    return true;
}

/* ---- what records change ---- */

static bool add_object(struct address_model *model, const struct hatf_record *record)
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

/* The address is taken from its bin, or fresh memory ends behind it. */
static bool settle(struct address_model *model, const struct hatf_record *record, uint64_t place)
{
    if (place >= PLACE_BIN && place < PLACE_RECENT) {
        struct bin *bin = bin_of(model, record, record->size);
        uint32_t at = bin->count - 1 - (uint32_t) (place - PLACE_BIN);
        bin->count--;
        memmove(&bin->addresses[at], &bin->addresses[at + 1],
                (bin->count - at) * sizeof bin->addresses[0]);
    } else {
        uint64_t gap = record->address - model->fresh;
        bool is_fresh = place == PLACE_FRESH || place >= PLACE_FAR;
        if (is_fresh && gap != 0 && gap < GAP_MAX)
            *gap_of(model) = gap;
        model->fresh = record->address;
        model->fresh_chunk = chunk_of(record->size);
    }
    return add_object(model, record);
}

static void end_object(struct address_model *model, const struct hatf_record *record,
                       const struct live_object *object)
{
    struct live_object birth;
    struct bin *bin = bin_of(model, record, object->size);
    if (model->reads)
        object_table_take(&model->births, object->value + 1, &birth);
    if (bin->count == BIN_DEPTH) {
        bin->count--;
        memmove(&bin->addresses[0], &bin->addresses[1], bin->count * sizeof bin->addresses[0]);
    }
    bin->addresses[bin->count++] = record->address;
    model->recent[model->recent_at++ % RECENT] = record->address;
}

static bool resize(struct address_model *model, const struct hatf_record *record,
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
        return add_object(model, record) ? HEAP_PLAIN : HEAP_NO_MEMORY;
    case HATF_FREE:
        if (object_table_take(&model->objects, key, &object))
            end_object(model, record, &object);
        return HEAP_PLAIN;
    case HATF_REALLOC_NO_ALLOC:
        if (record->new_address == record->address &&
            object_table_find(&model->objects, key, &object) && !resize(model, record, &object))
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
    uint64_t place;
    if (!find_place(model, record, record->address, &place))
        return address_model_note(model, record);
    out->place = !model->has_hint ? place : record->address == model->hint ? 0 : place + 1;
    model->has_hint = false;
    return settle(model, record, place) ? HEAP_PLACED : HEAP_NO_MEMORY;
}

static enum address_answer place_free(struct address_model *model, const struct hatf_record *record,
                                      struct address_place *out)
{
    struct live_object object;
    if (!object_table_take(&model->objects, live_address_key(record->address), &object))
        return HEAP_PLAIN;
    out->age = age_of(model, &object);
    end_object(model, record, &object);
    return HEAP_PLACED;
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
        return resize(model, record, &object) ? HEAP_PLACED : HEAP_NO_MEMORY;
    }
    if (record->tag == HATF_REALLOC_FREE)
        return record->new_address == 0 ? HEAP_PLACED : address_model_note(model, record);
    if (!find_place(model, record, record->new_address, &out->place))
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
    uint64_t place = code;
    if (model->has_hint && code == 0) {
        record->address = model->hint;
        if (!find_place(model, record, record->address, &place))
            return HEAP_IMPOSSIBLE;
    } else {
        place -= model->has_hint;
        if (!find_address(model, record, place, &record->address))
            return HEAP_IMPOSSIBLE;
    }
    model->has_hint = false;
    return settle(model, record, place) ? HEAP_PLACED : HEAP_NO_MEMORY;
}

static enum address_answer find_free(struct address_model *model, uint64_t age,
                                     struct hatf_record *record)
{
    struct live_object object;
    if (!object_of_age(model, age, &object, &record->address))
        return HEAP_IMPOSSIBLE;
    object_table_take(&model->objects, object.object, &object);
    end_object(model, record, &object);
    return HEAP_PLACED;
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
        return resize(model, record, &object) ? HEAP_PLACED : HEAP_NO_MEMORY;
    }
    if (record->tag == HATF_REALLOC_FREE)
        return HEAP_PLACED;
    if (!find_address(model, record, place->place, &record->new_address))
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
        return find_alloc(model, place->place, record);
    case HATF_FREE:
        return find_free(model, place->age, record);
    default:
        return find_realloc(model, place, record);
    }
}
