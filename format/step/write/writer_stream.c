/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a writer, indexed by number.  Records mostly come in succession from one stream,
 * so the last one is looked at first. */
#include "format/step/write/writer_internal.h"

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
    step_index_reset(&table->index);
    *table = (struct step_stream_table){0};
}

struct step_stream *step_stream_find(const struct step_stream_table *table, uint64_t number)
{
    if (table->last != NULL && table->last->number == number)
        return table->last;
    uint32_t place;
    STEP_INDEX_EACH (&table->index, step_hash_half(number), place)
        if (table->streams[place]->number == number)
            return table->streams[place];
    return NULL;
}

struct step_stream *step_stream_get(struct step_stream_table *table, uint64_t number)
{
    struct step_stream *stream = step_stream_find(table, number);
    if (stream == NULL) {
        /* Room in both first: then nothing can fail after the stream has been made, and the index
         * never has a place without a stream. */
        if (table->count >= UINT32_MAX - 1 || !step_index_reserve(&table->index) ||
            !STEP_MAKE_ROOM(table->streams, table->capacity, table->count + 1))
            return NULL;
        stream = calloc(1, sizeof *stream);
        if (stream == NULL)
            return NULL;
        stream->number = number;
        step_index_add(&table->index, step_hash_half(number), (uint32_t) table->count);
        table->streams[table->count++] = stream;
    }
    table->last = stream;
    return stream;
}
