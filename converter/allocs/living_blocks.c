/* SPDX-License-Identifier: Apache-2.0 */
/* Record after record; what does wrong is passed over. */
#include "converter/allocs/living_blocks.h"

#include <stdlib.h>
#include <string.h>

bool living_blocks_init(struct living_blocks *living)
{
    *living = (struct living_blocks){{0}, {0}, {0}};
    return name_index_init(&living->texts);
}

void living_blocks_reset(struct living_blocks *living)
{
    for (uint32_t id = 1; id <= living->texts.count; id++)
        free((void *) living->texts.entries[id].text.data);
    name_index_reset(&living->texts);
    address_map_reset(&living->blocks);
    address_map_reset(&living->heaps);
}

/* 0: out of memory. */
static uint32_t keep_text(struct living_blocks *living, struct step_bytes text)
{
    bool is_new;
    uint32_t id = name_index_put(&living->texts, 0, text, &is_new);
    if (id == 0 || !is_new)
        return id;
    uint8_t *copy = malloc(text.length + 1);
    if (copy != NULL && text.length > 0)
        memcpy(copy, text.data, text.length);
    name_index_set_text(&living->texts, id,
                        (struct step_bytes){copy, copy != NULL ? text.length : 0});
    return copy != NULL ? id : 0;
}

static bool put_block(struct living_blocks *living, const struct hatf_record *record)
{
    uint32_t text = keep_text(living, record->attributes);
    const struct address_block block = {
        .address = record->address, .size = record->size, .heap = record->heap, .record = text};
    return text != 0 && address_map_put(&living->blocks, &block);
}

static void resize_block(struct living_blocks *living, const struct hatf_record *record)
{
    struct address_block *block = address_map_find(&living->blocks, record->address);
    if (block != NULL)
        address_map_resize(&living->blocks, block, record->size);
}

bool living_blocks_put(struct living_blocks *living, const struct hatf_record *record)
{
    const struct address_block heap = {.address = record->heap};
    switch (record->tag) {
    case HATF_ALLOC:
        return put_block(living, record);
    case HATF_FREE:
        address_map_remove(&living->blocks, record->address);
        return true;
    case HATF_REALLOC_NO_ALLOC:
        resize_block(living, record);
        return true;
    case HATF_CREATE_HEAP:
        return address_map_put(&living->heaps, &heap);
    case HATF_DESTROY_HEAP:
        address_map_remove(&living->heaps, record->heap);
        address_map_remove_heap(&living->blocks, record->heap);
        return true;
    default:
        return true;
    }
}

struct step_bytes living_blocks_attributes(const struct living_blocks *living,
                                           const struct address_block *block)
{
    return living->texts.entries[block->record].text;
}
