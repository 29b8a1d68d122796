/* SPDX-License-Identifier: Apache-2.0 */
/* Packs the rows of groups, writes them to a temporary file, and reads them again. */
#include "analyses/tables/sql/group_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/tables/sql/packed_column.h"
#include "converter/containers/no_memory.h"
#include "converter/files/spool.h"
#include "format/core/grow.h"

#define NO_EXTENT UINT32_MAX
#define FILE_BUFFER_BYTES ((size_t) 1 << 20)

/* The rows of a group that came with one batch.  Columns and values follow; all begin at multiples
 * of 8 bytes. */
struct segment {
    struct segment *next; /* of the group; only in memory */
    uint32_t rows;
    uint32_t bytes; /* with what follows */
};

/* The segments of a batch. */
struct segment_block {
    struct segment_block *next;
    uint64_t data[];
};

/* Segments of a group that lie together in the file. */
struct extent {
    uint64_t start, bytes;
    uint32_t next; /* of the group, or NO_EXTENT */
};

struct group_chain {
    struct segment *first, *last;
    uint32_t first_extent, last_extent;
};

struct group_store {
    size_t column_count;
    uint64_t limit_bytes;
    struct group_chain *chains; /* by group */
    size_t chain_count, chain_capacity;
    struct segment_block *blocks;
    uint64_t bytes; /* of the blocks */
    /* The batch that is put: by column and place, values, and whether they are null. */
    uint64_t *values;
    uint8_t *is_null;
    size_t row_capacity;
    struct packed_column *packed; /* by piece and column */
    size_t packed_capacity;
    /* The file. */
    int file; /* -1: not needed yet */
    uint64_t file_bytes;
    struct extent *extents;
    size_t extent_count, extent_capacity;
    uint8_t *buffer; /* of what is written, then of what is read: */
    size_t buffer_capacity, buffer_bytes;
    uint64_t buffer_start; /* in the file */
    /* The batch that is taken. */
    uint32_t group;
    bool is_taking;
    const struct segment *segment; /* the next one in memory */
    uint32_t extent;               /* the one that is read; NO_EXTENT: those in memory */
    uint64_t extent_at;            /* in it */
    struct table_vector *vectors;
    void **room; /* by column: values, */
    uint8_t **validity;
    size_t room_rows; /* and how many there is room for */
    size_t most_rows; /* of a segment so far */
    struct table_batch batch;
};

struct group_store *group_store_create(size_t column_count, uint64_t limit_bytes)
{
    struct group_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->column_count = column_count;
    store->limit_bytes = limit_bytes;
    store->file = -1;
    store->vectors = calloc(column_count + 1, sizeof *store->vectors);
    store->room = calloc(column_count + 1, sizeof *store->room);
    store->validity = calloc(column_count + 1, sizeof *store->validity);
    if (store->vectors != NULL && store->room != NULL && store->validity != NULL)
        return store;
    group_store_destroy(store);
    return NULL;
}

static void free_blocks(struct group_store *store)
{
    while (store->blocks != NULL) {
        struct segment_block *next = store->blocks->next;
        free(store->blocks);
        store->blocks = next;
    }
    store->bytes = 0;
}

static void free_putting(struct group_store *store)
{
    free(store->values);
    free(store->is_null);
    free(store->packed);
    store->values = NULL;
    store->is_null = NULL;
    store->packed = NULL;
    store->row_capacity = store->packed_capacity = 0;
}

void group_store_destroy(struct group_store *store)
{
    if (store == NULL)
        return;
    free_blocks(store);
    free_putting(store);
    for (size_t i = 0; i < store->column_count; i++) {
        if (store->room != NULL)
            free(store->room[i]);
        if (store->validity != NULL)
            free(store->validity[i]);
    }
    if (store->file >= 0)
        close(store->file);
    free(store->chains);
    free(store->extents);
    free(store->buffer);
    free(store->vectors);
    free(store->room);
    free(store->validity);
    free(store);
}

uint64_t group_store_spilled_bytes(const struct group_store *store)
{
    return store->file_bytes;
}

/* ---- putting ---- */

#define SCATTER(member)                                                                            \
    for (size_t i = 0; i < rows; i++)                                                              \
    values[places[i]] = from->member[i]

/* Brings a column into the order of the pieces. */
static void scatter(const struct table_vector *from, size_t rows, const uint32_t *places,
                    uint64_t *values, uint8_t *is_null)
{
    if (from->type == TABLE_BOOL)
        SCATTER(flags);
    else if (from->type == TABLE_NAME)
        SCATTER(codes);
    else
        SCATTER(numbers);
    for (size_t i = 0; from->validity != NULL && i < rows; i++)
        is_null[places[i]] = table_vector_is_null(from, i);
}

static bool make_room_for_batch(struct group_store *store, size_t rows, size_t pieces)
{
    if (rows > store->row_capacity) {
        free(store->values);
        free(store->is_null);
        store->row_capacity = rows;
        store->values = malloc(rows * store->column_count * sizeof *store->values + 1);
        store->is_null = malloc(rows * store->column_count + 1);
    }
    return store->values != NULL && store->is_null != NULL &&
           STEP_MAKE_ROOM(store->packed, store->packed_capacity, pieces * store->column_count + 1);
}

static bool add_chains(struct group_store *store, uint32_t group)
{
    if (!STEP_MAKE_ROOM(store->chains, store->chain_capacity, (size_t) group + 1))
        return false;
    while (store->chain_count <= group)
        store->chains[store->chain_count++] =
            (struct group_chain){NULL, NULL, NO_EXTENT, NO_EXTENT};
    return true;
}

static size_t segment_head_bytes(const struct group_store *store)
{
    return sizeof(struct segment) + store->column_count * sizeof(struct packed_column);
}

static const uint8_t *nulls_of(const struct group_store *store, const struct table_batch *batch,
                               size_t column, size_t place)
{
    return batch->vectors[column].validity != NULL
               ? store->is_null + column * store->row_capacity + place
               : NULL;
}

/* Describes the columns of each piece.  Returns the bytes of their segments. */
static size_t describe_pieces(struct group_store *store, const struct table_batch *batch,
                              const struct group_piece *pieces, size_t piece_count)
{
    struct packed_column *packed = store->packed;
    size_t bytes = 0, place = 0;
    for (size_t i = 0; i < piece_count; i++) {
        bytes += segment_head_bytes(store);
        for (size_t column = 0; column < store->column_count; column++, packed++) {
            *packed = packed_column_describe(store->values + column * store->row_capacity + place,
                                             nulls_of(store, batch, column, place), pieces[i].rows);
            bytes += packed_column_bytes(packed, pieces[i].rows);
        }
        place += pieces[i].rows;
    }
    return bytes;
}

static void add_segment(struct group_chain *chain, struct segment *segment)
{
    if (chain->last == NULL)
        chain->first = segment;
    else
        chain->last->next = segment;
    chain->last = segment;
}

static void put_segments(struct group_store *store, const struct table_batch *batch,
                         const struct group_piece *pieces, size_t piece_count, uint8_t *at)
{
    const struct packed_column *packed = store->packed;
    size_t place = 0;
    for (size_t i = 0; i < piece_count; i++) {
        struct segment *segment = (struct segment *) (void *) at;
        size_t rows = pieces[i].rows;
        memcpy(at + sizeof *segment, packed, store->column_count * sizeof *packed);
        at += segment_head_bytes(store);
        for (size_t column = 0; column < store->column_count; column++, packed++) {
            packed_column_write(packed, store->values + column * store->row_capacity + place,
                                nulls_of(store, batch, column, place), rows, at);
            at += packed_column_bytes(packed, rows);
        }
        *segment = (struct segment){.rows = (uint32_t) rows,
                                    .bytes = (uint32_t) (at - (uint8_t *) segment)};
        add_segment(&store->chains[pieces[i].group], segment);
        place += rows;
    }
}

/* ---- the file ---- */

static enum step_status flush(struct group_store *store, struct step_error *error)
{
    enum step_status status =
        spool_write(store->file, store->buffer, store->buffer_bytes, store->buffer_start, error);
    store->buffer_start += store->buffer_bytes;
    store->buffer_bytes = 0;
    return status;
}

static enum step_status write_segment(struct group_store *store, const struct segment *segment,
                                      struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    const uint8_t *at = (const uint8_t *) segment;
    for (size_t left = segment->bytes; left > 0 && status == STEP_STATUS_OK;) {
        size_t room = store->buffer_capacity - store->buffer_bytes;
        size_t part = left < room ? left : room;
        memcpy(store->buffer + store->buffer_bytes, at, part);
        store->buffer_bytes += part;
        at += part;
        left -= part;
        if (store->buffer_bytes == store->buffer_capacity)
            status = flush(store, error);
    }
    store->file_bytes += segment->bytes;
    return status;
}

/* Writes the segments of a group that are in memory. */
static enum step_status write_chain(struct group_store *store, struct group_chain *chain,
                                    struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    uint64_t start = store->file_bytes;
    if (store->extent_count == NO_EXTENT ||
        !STEP_MAKE_ROOM(store->extents, store->extent_capacity, store->extent_count + 1))
        return no_memory(error);
    for (const struct segment *segment = chain->first; segment != NULL && status == STEP_STATUS_OK;
         segment = segment->next)
        status = write_segment(store, segment, error);
    uint32_t number = (uint32_t) store->extent_count++;
    store->extents[number] = (struct extent){start, store->file_bytes - start, NO_EXTENT};
    if (chain->last_extent == NO_EXTENT)
        chain->first_extent = number;
    else
        store->extents[chain->last_extent].next = number;
    chain->last_extent = number;
    chain->first = chain->last = NULL;
    return status;
}

/* Moves all segments into the file. */
static enum step_status spill(struct group_store *store, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (store->file < 0)
        status = spool_open(&store->file, error);
    if (status == STEP_STATUS_OK && store->buffer == NULL) {
        store->buffer = malloc(FILE_BUFFER_BYTES);
        store->buffer_capacity = FILE_BUFFER_BYTES;
        status = store->buffer != NULL ? status : no_memory(error);
    }
    for (size_t i = 0; i < store->chain_count && status == STEP_STATUS_OK; i++)
        if (store->chains[i].first != NULL)
            status = write_chain(store, &store->chains[i], error);
    if (status == STEP_STATUS_OK)
        status = flush(store, error);
    free_blocks(store);
    return status;
}

enum step_status group_store_put(struct group_store *store, const struct table_batch *batch,
                                 const struct group_piece *pieces, size_t piece_count,
                                 const uint32_t *places, struct step_error *error)
{
    size_t rows = batch->row_count;
    if (!make_room_for_batch(store, rows, piece_count))
        return no_memory(error);
    for (size_t i = 0; i < store->column_count; i++) {
        store->vectors[i] = batch->vectors[i];
        scatter(&batch->vectors[i], rows, places, store->values + i * store->row_capacity,
                store->is_null + i * store->row_capacity);
    }
    for (size_t i = 0; i < piece_count; i++) {
        store->most_rows = pieces[i].rows > store->most_rows ? pieces[i].rows : store->most_rows;
        if (pieces[i].group >= store->chain_count && !add_chains(store, pieces[i].group))
            return no_memory(error);
    }
    size_t bytes = describe_pieces(store, batch, pieces, piece_count);
    enum step_status status = STEP_STATUS_OK;
    if (store->bytes > 0 && store->bytes + bytes > store->limit_bytes)
        status = spill(store, error);
    struct segment_block *block = status == STEP_STATUS_OK ? malloc(sizeof *block + bytes) : NULL;
    if (block == NULL)
        return status == STEP_STATUS_OK ? no_memory(error) : status;
    block->next = store->blocks;
    store->blocks = block;
    store->bytes += bytes;
    put_segments(store, batch, pieces, piece_count, (uint8_t *) block->data);
    return status;
}

/* ---- taking ---- */

/* Reads so many bytes of the current extent, or more.  Sets `*out` to them. */
static enum step_status read_ahead(struct group_store *store, size_t bytes, const uint8_t **out,
                                   struct step_error *error)
{
    const struct extent *extent = &store->extents[store->extent];
    uint64_t left = extent->bytes - store->extent_at;
    uint64_t at = extent->start + store->extent_at;
    enum step_status status = STEP_STATUS_OK;
    if (at < store->buffer_start || at + bytes > store->buffer_start + store->buffer_bytes) {
        size_t wanted = left < FILE_BUFFER_BYTES ? (size_t) left : FILE_BUFFER_BYTES;
        wanted = wanted > bytes ? wanted : bytes;
        if (wanted > store->buffer_capacity) {
            free(store->buffer);
            store->buffer = malloc(wanted);
            store->buffer_capacity = store->buffer != NULL ? wanted : 0;
        }
        store->buffer_start = at;
        store->buffer_bytes = wanted;
        status = store->buffer != NULL ? spool_read(store->file, store->buffer, wanted, at, error)
                                       : no_memory(error);
    }
    *out = status == STEP_STATUS_OK ? store->buffer + (at - store->buffer_start) : NULL;
    return status;
}

/* Returns the group's next segment; OK and NULL after the last. */
static enum step_status next_segment(struct group_store *store, const struct segment **out,
                                     struct step_error *error)
{
    const uint8_t *bytes;
    while (store->extent != NO_EXTENT && store->extent_at == store->extents[store->extent].bytes) {
        store->extent = store->extents[store->extent].next;
        store->extent_at = 0;
    }
    *out = store->segment;
    if (store->extent == NO_EXTENT) {
        store->segment = store->segment != NULL ? store->segment->next : NULL;
        return STEP_STATUS_OK;
    }
    enum step_status status = read_ahead(store, sizeof(struct segment), &bytes, error);
    if (status == STEP_STATUS_OK)
        status = read_ahead(store, ((const struct segment *) (const void *) bytes)->bytes, &bytes,
                            error);
    *out = (const struct segment *) (const void *) bytes;
    store->extent_at += status == STEP_STATUS_OK ? (*out)->bytes : 0;
    return status;
}

/* Makes room for the rows of any segment, once all are put. */
static bool make_room_to_take(struct group_store *store)
{
    free_putting(store);
    for (size_t i = 0; i < store->column_count; i++) {
        free(store->room[i]);
        free(store->validity[i]);
        store->room[i] = malloc(store->most_rows * sizeof(uint64_t) + 1);
        store->validity[i] = malloc(store->most_rows / 8 + 1);
        if (store->room[i] == NULL || store->validity[i] == NULL)
            return false;
    }
    store->room_rows = store->most_rows;
    return true;
}

enum step_status group_store_next(struct group_store *store, uint32_t group,
                                  const struct table_batch **batch, struct step_error *error)
{
    const struct segment *segment;
    if (store->room_rows < store->most_rows && !make_room_to_take(store))
        return no_memory(error);
    if (!store->is_taking || group != store->group) {
        static const struct group_chain none = {NULL, NULL, NO_EXTENT, NO_EXTENT};
        const struct group_chain *chain =
            group < store->chain_count ? &store->chains[group] : &none;
        store->is_taking = true;
        store->group = group;
        store->segment = chain->first;
        store->extent = chain->first_extent;
        store->extent_at = 0;
    }
    enum step_status status = next_segment(store, &segment, error);
    if (status != STEP_STATUS_OK || segment == NULL)
        return status == STEP_STATUS_OK ? STEP_STATUS_END : status;
    const uint8_t *at = (const uint8_t *) segment + segment_head_bytes(store);
    for (size_t i = 0; i < store->column_count; i++) {
        struct packed_column column;
        memcpy(&column, (const uint8_t *) (segment + 1) + i * sizeof column, sizeof column);
        packed_column_read(&column, at, segment->rows, store->room[i], store->validity[i],
                           &store->vectors[i]);
        at += packed_column_bytes(&column, segment->rows);
    }
    store->batch = (struct table_batch){segment->rows, store->vectors};
    *batch = &store->batch;
    return STEP_STATUS_OK;
}
