/* SPDX-License-Identifier: Apache-2.0 */
/* An array of entries with a hash index.  No entry points to memory of a caller. */
#include "converter/containers/name_index.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

void name_index_reset(struct name_index *index)
{
    step_index_reset(&index->index);
    free(index->entries);
    step_arena_reset(&index->texts);
    *index = (struct name_index){0};
}

static uint32_t name_index_hash_of(uint64_t number, struct step_bytes text)
{
    uint64_t hash = step_hash_join(text.length, number);
    size_t at = 0;
    for (; text.length - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, text.data + at, 8);
        hash = step_hash_join(hash, word);
    }
    uint64_t rest = 0;
    if (at < text.length)
        memcpy(&rest, text.data + at, text.length - at);
    return (uint32_t) step_hash_join(hash, rest);
}

static uint32_t find(const struct name_index *index, uint32_t hash, uint64_t number,
                     struct step_bytes text)
{
    uint32_t id;
    STEP_INDEX_EACH (&index->index, hash, id) {
        const struct name_index_entry *entry = &index->entries[id];
        if (entry->number == number && entry->text.length == text.length &&
            (text.length == 0 || memcmp(entry->text.data, text.data, text.length) == 0))
            return id;
    }
    return 0;
}

uint32_t name_index_put_kept(struct name_index *index, uint64_t number, struct step_bytes text,
                             name_keep *keep, void *store, bool *is_new)
{
    uint32_t hash = name_index_hash_of(number, text), id = find(index, hash, number, text);
    struct step_bytes copy;
    *is_new = false;
    if (id != 0)
        return id;
    id = (uint32_t) index->count + 1;
    if (index->count >= UINT32_MAX - 2 ||
        !STEP_MAKE_ROOM(index->entries, index->capacity, index->count + 2) ||
        !keep(store, text, &copy) || !step_index_add(&index->index, hash, id))
        return 0;
    index->entries[id] = (struct name_index_entry){number, copy};
    index->count++;
    *is_new = true;
    return id;
}

static bool name_index_keep_text(void *index_pointer, struct step_bytes text,
                                 struct step_bytes *copy)
{
    struct name_index *index = index_pointer;
    index->texts.limit = UINT64_MAX;
    const char *data = text.length == 0
                           ? ""
                           : step_arena_text(&index->texts, (const char *) text.data, text.length);
    *copy = (struct step_bytes){(const uint8_t *) data, text.length};
    return data != NULL;
}

uint32_t name_index_put(struct name_index *index, uint64_t number, struct step_bytes text,
                        bool *is_new)
{
    return name_index_put_kept(index, number, text, name_index_keep_text, index, is_new);
}

uint32_t name_index_find(const struct name_index *index, uint64_t number, struct step_bytes text)
{
    return find(index, name_index_hash_of(number, text), number, text);
}
