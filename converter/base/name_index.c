/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table over an array of entries. */
#include "converter/base/name_index.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

#define LEAST_SLOTS ((size_t) 256)

bool name_index_init(struct name_index *index)
{
    *index = (struct name_index){.slots = calloc(LEAST_SLOTS, sizeof(uint32_t)),
                                 .mask = LEAST_SLOTS - 1};
    return index->slots != NULL;
}

void name_index_reset(struct name_index *index)
{
    free(index->slots);
    free(index->entries);
    *index = (struct name_index){0};
}

static uint64_t hash_of(uint64_t number, struct step_bytes text)
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
    return step_hash_join(hash, rest);
}

static bool grow_slots(struct name_index *index)
{
    size_t count = (index->mask + 1) * 2;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 1; i <= index->count; i++) {
        size_t at = (size_t) index->entries[i].hash & (count - 1);
        while (slots[at] != 0)
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t) i;
    }
    free(index->slots);
    index->slots = slots;
    index->mask = count - 1;
    return true;
}

static bool grow_entries(struct name_index *index)
{
    struct name_index_entry *entries =
        step_grown(index->entries, &index->capacity, index->capacity + 1, sizeof *entries);
    if (entries == NULL)
        return false;
    index->entries = entries;
    return true;
}

static size_t find(const struct name_index *index, uint64_t hash, uint64_t number,
                   struct step_bytes text)
{
    size_t at = (size_t) hash & index->mask;
    while (index->slots[at] != 0) {
        const struct name_index_entry *entry = &index->entries[index->slots[at]];
        if (entry->hash == hash && entry->number == number && entry->text.length == text.length &&
            (text.length == 0 || memcmp(entry->text.data, text.data, text.length) == 0))
            break;
        at = (at + 1) & index->mask;
    }
    return at;
}

uint32_t name_index_put(struct name_index *index, uint64_t number, struct step_bytes text,
                        bool *is_new)
{
    uint64_t hash = hash_of(number, text);
    size_t at = find(index, hash, number, text);
    *is_new = index->slots[at] == 0;
    if (!*is_new)
        return index->slots[at];
    *is_new = false;
    if (index->count >= UINT32_MAX - 2 ||
        (index->count + 2 > index->capacity && !grow_entries(index)))
        return 0;
    if (index->count >= (index->mask + 1) / 2) {
        if (!grow_slots(index))
            return 0;
        at = find(index, hash, number, text);
    }
    uint32_t id = (uint32_t) ++index->count;
    index->entries[id] = (struct name_index_entry){hash, number, text};
    index->slots[at] = id;
    *is_new = true;
    return id;
}

uint32_t name_index_find(const struct name_index *index, uint64_t number, struct step_bytes text)
{
    return index->slots[find(index, hash_of(number, text), number, text)];
}

void name_index_set_text(struct name_index *index, uint32_t id, struct step_bytes text)
{
    index->entries[id].text = text;
}
