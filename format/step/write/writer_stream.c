/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of streams, with linear probing. */
#include "format/step/write/writer_stream.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

void step_stream_table_reset(struct step_stream_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        step_pending_reset(&table->streams[i]->rows);
        free(table->streams[i]);
    }
    free(table->streams);
    free(table->entries);
    *table = (struct step_stream_table){0};
}

static size_t slot_of(const struct step_stream_table *table, uint64_t number)
{
    size_t mask = table->entry_count - 1;
    size_t slot = (size_t) (step_hash(number) >> 32) & mask;
    while (table->entries[slot] != 0 && table->streams[table->entries[slot] - 1]->number != number)
        slot = (slot + 1) & mask;
    return slot;
}

struct step_stream *step_stream_find(const struct step_stream_table *table, uint64_t number)
{
    if (table->last != NULL && table->last->number == number)
        return table->last;
    if (table->entry_count == 0)
        return NULL;
    uint32_t entry = table->entries[slot_of(table, number)];
    return entry != 0 ? table->streams[entry - 1] : NULL;
}

static bool rehash(struct step_stream_table *table)
{
    size_t entry_count = table->entry_count > 0 ? table->entry_count * 2 : 64;
    uint32_t *entries = calloc(entry_count, sizeof *entries);
    if (entries == NULL)
        return false;
    free(table->entries);
    table->entries = entries;
    table->entry_count = entry_count;
    for (size_t i = 0; i < table->count; i++)
        entries[slot_of(table, table->streams[i]->number)] = (uint32_t) (i + 1);
    return true;
}

static bool grow(struct step_stream_table *table)
{
    if (table->count >= UINT32_MAX - 1)
        return false;
    if (table->count * 2 >= table->entry_count && !rehash(table))
        return false;
    if (table->count < table->capacity)
        return true;
    struct step_stream **streams = step_grown(table->streams, &table->capacity, table->capacity + 1,
                                              sizeof(struct step_stream *));
    if (streams == NULL)
        return false;
    table->streams = streams;
    return true;
}

struct step_stream *step_stream_get(struct step_stream_table *table, uint64_t number)
{
    struct step_stream *stream = step_stream_find(table, number);
    if (stream == NULL) {
        if (!grow(table))
            return NULL;
        stream = calloc(1, sizeof *stream);
        if (stream == NULL)
            return NULL;
        stream->number = number;
        size_t slot = slot_of(table, number);
        table->streams[table->count++] = stream;
        table->entries[slot] = (uint32_t) table->count;
    }
    table->last = stream;
    return stream;
}
