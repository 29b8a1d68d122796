/* SPDX-License-Identifier: Apache-2.0 */
/* Writes row groups to a Parquet file, and keeps their metadata for the footer. */
#include "analyses/tables/formats/parquet_file.h"

#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "format/core/grow.h"

/* ---- metadata: field numbers are those of parquet.thrift ---- */

/* Position of a chunk's page index. */
struct parquet_index_place {
    uint64_t offset_index, column_index; /* offset_index 0: none */
    uint32_t offset_index_bytes, column_index_bytes;
};

enum physical { BOOLEAN = 0, INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 };
enum converted { NO_CONVERTED = -1, UTF8 = 0, UINT_64 = 14, INT_64 = 18 };
enum { REQUIRED = 0, OPTIONAL = 1, CODEC_NONE = 0, CODEC_ZSTD = 6 };
enum { LOGICAL_STRING = 1, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10, UNIT_NANOS = 3 };

static enum physical physical_of(enum table_type type)
{
    return type == TABLE_BOOL                                               ? BOOLEAN
           : type == TABLE_REAL                                             ? DOUBLE
           : type == TABLE_NAME || type == TABLE_TEXT || type == TABLE_DATA ? BYTE_ARRAY
                                                                            : INT64;
}

static bool parquet_file_is_text(enum table_type type)
{
    return type == TABLE_NAME || type == TABLE_TEXT;
}

static struct step_bytes bytes_of_bound(const struct parquet_bound *bound)
{
    return (struct step_bytes){bound->bytes, bound->length};
}

/* ---- the page index ---- */

static void put_column_index(struct byte_output *out, const struct parquet_chunk *chunk)
{
    struct thrift_output thrift;
    size_t count = chunk->page_count;
    thrift_init(&thrift, out);
    thrift_begin_list(&thrift, 1, THRIFT_TRUE, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_bool(&thrift, chunk->pages[i].all_null);
    thrift_begin_list(&thrift, 2, THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_binary(&thrift, bytes_of_bound(&chunk->pages[i].least));
    thrift_begin_list(&thrift, 3, THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_binary(&thrift, bytes_of_bound(&chunk->pages[i].most));
    thrift_i32(&thrift, 4, 0); /* unordered */
    thrift_begin_list(&thrift, 5, THRIFT_I64, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_number(&thrift, (int64_t) chunk->pages[i].null_count);
    thrift_end_struct(&thrift);
}

static void put_offset_index(struct byte_output *out, const struct parquet_chunk *chunk)
{
    struct thrift_output thrift;
    thrift_init(&thrift, out);
    thrift_begin_list(&thrift, 1, THRIFT_STRUCT, chunk->page_count);
    for (size_t i = 0; i < chunk->page_count; i++) {
        const struct parquet_page *page = &chunk->pages[i];
        thrift_begin_element(&thrift);
        thrift_i64(&thrift, 1, (int64_t) page->offset);
        thrift_i32(&thrift, 2, page->stored_bytes);
        thrift_i64(&thrift, 3, (int64_t) page->first_row);
        thrift_end_struct(&thrift);
    }
    thrift_end_struct(&thrift);
}

/* ---- the schema ---- */

static void put_logical(struct thrift_output *thrift, const struct parquet_file *file,
                        enum table_type type)
{
    thrift_begin_struct(thrift, 10);
    if (parquet_file_is_text(type)) {
        thrift_begin_struct(thrift, LOGICAL_STRING);
    } else if (type == TABLE_TIME && file->clock_ns != 0) {
        thrift_begin_struct(thrift, LOGICAL_TIMESTAMP);
        thrift_bool(thrift, 1, true); /* UTC */
        thrift_begin_struct(thrift, 2);
        thrift_begin_struct(thrift, UNIT_NANOS);
        thrift_end_struct(thrift);
        thrift_end_struct(thrift);
    } else {
        thrift_begin_struct(thrift, LOGICAL_INTEGER);
        thrift_byte(thrift, 1, 64);
        thrift_bool(thrift, 2, type != TABLE_UINT);
    }
    thrift_end_struct(thrift);
    thrift_end_struct(thrift);
}

static void put_schema(struct thrift_output *thrift, const struct parquet_file *file)
{
    thrift_begin_list(thrift, 2, THRIFT_STRUCT, file->column_count + 1);
    thrift_begin_element(thrift);
    thrift_binary(thrift, 4, step_text("schema"));
    thrift_i32(thrift, 5, (int64_t) file->column_count);
    thrift_end_struct(thrift);
    for (size_t i = 0; i < file->column_count; i++) {
        const struct table_column *column = file->columns[i].about;
        bool is_clock = column->type == TABLE_TIME && file->clock_ns != 0;
        thrift_begin_element(thrift);
        thrift_i32(thrift, 1, physical_of(column->type));
        thrift_i32(thrift, 3, column->nullable ? OPTIONAL : REQUIRED);
        thrift_binary(thrift, 4, step_text(column->name));
        if (parquet_file_is_text(column->type))
            thrift_i32(thrift, 6, UTF8);
        else if (physical_of(column->type) == INT64 && !is_clock)
            thrift_i32(thrift, 6, column->type == TABLE_UINT ? UINT_64 : INT_64);
        if (column->type != TABLE_BOOL && column->type != TABLE_DATA && column->type != TABLE_REAL)
            put_logical(thrift, file, column->type);
        thrift_end_struct(thrift);
    }
}

/* ---- row groups ---- */

static void put_statistics(struct thrift_output *thrift, const struct parquet_chunk *chunk)
{
    thrift_begin_struct(thrift, 12);
    thrift_i64(thrift, 3, (int64_t) chunk->null_count);
    if (chunk->has_bounds) {
        thrift_binary(thrift, 5, bytes_of_bound(&chunk->most));
        thrift_binary(thrift, 6, bytes_of_bound(&chunk->least));
    }
    thrift_end_struct(thrift);
}

static void put_encodings(struct thrift_output *thrift, const struct parquet_chunk *chunk)
{
    thrift_begin_list(thrift, 2, THRIFT_I32, chunk->has_dictionary ? 3 : 2);
    thrift_put_number(thrift, PARQUET_RLE);
    if (chunk->has_dictionary)
        thrift_put_number(thrift, PARQUET_PLAIN);
    thrift_put_number(thrift, chunk->encoding);
}

static void put_chunk(struct thrift_output *thrift, const struct table_column *column,
                      const struct parquet_chunk *chunk, const struct parquet_index_place *place)
{
    uint64_t data = chunk->page_count > 0 ? chunk->pages[0].offset : 0;
    thrift_begin_element(thrift);
    thrift_i64(thrift, 2, (int64_t) (chunk->has_dictionary ? chunk->dictionary_offset : data));
    thrift_begin_struct(thrift, 3);
    thrift_i32(thrift, 1, physical_of(column->type));
    put_encodings(thrift, chunk);
    thrift_begin_list(thrift, 3, THRIFT_BINARY, 1);
    thrift_put_binary(thrift, step_text(column->name));
    thrift_i32(thrift, 4, parquet_is_compressed() ? CODEC_ZSTD : CODEC_NONE);
    thrift_i64(thrift, 5, (int64_t) chunk->row_count);
    thrift_i64(thrift, 6, (int64_t) chunk->raw_bytes);
    thrift_i64(thrift, 7, (int64_t) chunk->stored_bytes);
    thrift_i64(thrift, 9, (int64_t) data);
    if (chunk->has_dictionary)
        thrift_i64(thrift, 11, (int64_t) chunk->dictionary_offset);
    put_statistics(thrift, chunk);
    thrift_end_struct(thrift);
    thrift_i64(thrift, 4, (int64_t) place->offset_index);
    thrift_i32(thrift, 5, place->offset_index_bytes);
    if (place->column_index_bytes > 0) {
        thrift_i64(thrift, 6, (int64_t) place->column_index);
        thrift_i32(thrift, 7, place->column_index_bytes);
    }
    thrift_end_struct(thrift);
}

static void parquet_file_put_group(struct thrift_output *thrift, const struct parquet_file *file,
                                   size_t group, const struct parquet_index_place *places)
{
    const struct parquet_group *of = &file->groups[group];
    uint64_t raw = 0;
    uint64_t stored = 0;
    thrift_begin_element(thrift);
    thrift_begin_list(thrift, 1, THRIFT_STRUCT, file->column_count);
    for (size_t i = 0; i < file->column_count; i++) {
        put_chunk(thrift, file->columns[i].about, &of->chunks[i], &places[i]);
        raw += of->chunks[i].raw_bytes;
        stored += of->chunks[i].stored_bytes;
    }
    thrift_i64(thrift, 2, (int64_t) raw);
    thrift_i64(thrift, 3, (int64_t) of->row_count);
    thrift_i64(thrift, 6, (int64_t) stored);
    thrift_end_struct(thrift);
}

static void put_orders(struct thrift_output *thrift, size_t count)
{
    thrift_begin_list(thrift, 7, THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        thrift_begin_element(thrift);
        thrift_begin_struct(thrift, 1); /* the type's struct */
        thrift_end_struct(thrift);
        thrift_end_struct(thrift);
    }
}

/* `places` by group and column. */
static void put_footer(struct byte_output *out, const struct parquet_file *file,
                       const struct parquet_index_place *places)
{
    struct thrift_output thrift;
    thrift_init(&thrift, out);
    thrift_i32(&thrift, 1, 2);
    put_schema(&thrift, file);
    thrift_i64(&thrift, 3, (int64_t) file->row_count);
    thrift_begin_list(&thrift, 4, THRIFT_STRUCT, file->group_count);
    for (size_t i = 0; i < file->group_count; i++)
        parquet_file_put_group(&thrift, file, i, places + i * file->column_count);
    thrift_binary(&thrift, 6, step_text("StepTrace version " STEPTRACE_VERSION));
    put_orders(&thrift, file->column_count);
    thrift_end_struct(&thrift);
}

enum { LEVEL_DEFAULT = 3 };

static enum step_status parquet_file_write_bytes(struct parquet_file *file, const void *data,
                                                 size_t length, struct step_error *error)
{
    enum step_status status = file->output.write(file->output.user, data, length, error);
    file->offset += status == STEP_STATUS_OK ? length : 0;
    return status;
}

/* Writes `file->bytes`, and empties them. */
static enum step_status write_made(struct parquet_file *file, struct step_error *error)
{
    size_t length = file->bytes.bytes.length;
    bytes_clear(&file->bytes);
    return file->bytes.failed
               ? no_memory(error)
               : parquet_file_write_bytes(file, file->bytes.bytes.data, length, error);
}

enum step_status parquet_file_open(struct parquet_file *file, const struct table *table,
                                   const size_t *columns, size_t column_count,
                                   const struct step_output *output, uint64_t clock_ns, int level,
                                   struct step_error *error)
{
    *file = (struct parquet_file){.table = table,
                                  .table_columns = columns,
                                  .column_count = column_count,
                                  .output = *output,
                                  .clock_ns = clock_ns,
                                  .columns = calloc(column_count + 1, sizeof *file->columns)};
    if (file->columns == NULL ||
        !parquet_encoder_init(&file->encoder, level != 0 ? level : LEVEL_DEFAULT))
        return no_memory(error);
    for (size_t i = 0; i < column_count; i++) {
        const struct table_column *about = &table->columns[columns[i]];
        file->columns[i] =
            (struct parquet_column){.about = about,
                                    .added = about->type == TABLE_TIME ? clock_ns : 0,
                                    .rows = {.type = about->type}};
    }
    return parquet_file_write_bytes(file, "PAR1", 4, error);
}

void parquet_file_reset(struct parquet_file *file)
{
    for (size_t i = 0; file->columns != NULL && i < file->column_count; i++)
        whole_column_reset(&file->columns[i].rows);
    for (size_t i = 0; i < file->group_count; i++) {
        for (size_t k = 0; k < file->column_count; k++)
            free(file->groups[i].chunks[k].pages);
        free(file->groups[i].chunks);
    }
    free(file->groups);
    free(file->columns);
    parquet_encoder_reset(&file->encoder);
    bytes_reset(&file->bytes);
    *file = (struct parquet_file){0};
}

/* ---- row groups ---- */

static struct parquet_group *add_group(struct parquet_file *file)
{
    if (!STEP_MAKE_ROOM(file->groups, file->group_capacity, file->group_count + 1))
        return NULL;
    struct parquet_group *group = &file->groups[file->group_count];
    *group = (struct parquet_group){.chunks = calloc(file->column_count + 1, sizeof *group->chunks),
                                    .row_count = file->group_rows};
    if (group->chunks == NULL)
        return NULL;
    file->group_count++;
    return group;
}

static enum step_status write_group(struct parquet_file *file, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (file->group_rows == 0)
        return status;
    struct parquet_group *group = add_group(file);
    if (group == NULL)
        return no_memory(error);
    for (size_t i = 0; i < file->column_count && status == STEP_STATUS_OK; i++) {
        struct parquet_chunk *chunk = &group->chunks[i];
        if (!parquet_column_encode(&file->columns[i], file->group_rows, &file->encoder,
                                   &file->bytes, chunk))
            return no_memory(error);
        chunk->dictionary_offset = file->offset;
        for (size_t k = 0; k < chunk->page_count; k++)
            chunk->pages[k].offset += file->offset;
        status = write_made(file, error);
    }
    file->group_rows = 0;
    return status;
}

static bool parquet_file_put_rows(struct parquet_file *file, struct whole_column *rows,
                                  const struct table_vector *vector, size_t from, size_t count)
{
    return (rows->values != NULL || whole_column_resize(rows, 0, PARQUET_GROUP_ROWS)) &&
           whole_column_append(rows, vector, from, count, file->group_rows, PARQUET_GROUP_ROWS);
}

enum step_status parquet_file_put(struct parquet_file *file, const struct table_batch *batch,
                                  struct step_error *error)
{
    for (size_t row = 0; row < batch->row_count;) {
        size_t room = PARQUET_GROUP_ROWS - file->group_rows;
        size_t count = batch->row_count - row < room ? batch->row_count - row : room;
        for (size_t i = 0; i < file->column_count; i++)
            if (!parquet_file_put_rows(file, &file->columns[i].rows, &batch->vectors[i], row,
                                       count))
                return no_memory(error);
        row += count;
        file->group_rows += count;
        file->row_count += count;
        if (file->group_rows < PARQUET_GROUP_ROWS)
            continue;
        enum step_status status = write_group(file, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return STEP_STATUS_OK;
}

/* ---- the end ---- */

static enum step_status write_index(struct parquet_file *file, struct parquet_index_place *places,
                                    bool is_offsets, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    size_t count = file->group_count * file->column_count;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        const struct parquet_chunk *chunk =
            &file->groups[i / file->column_count].chunks[i % file->column_count];
        if (!is_offsets && !chunk->has_bounds)
            continue;
        (is_offsets ? put_offset_index : put_column_index)(&file->bytes, chunk);
        *(is_offsets ? &places[i].offset_index : &places[i].column_index) = file->offset;
        *(is_offsets ? &places[i].offset_index_bytes : &places[i].column_index_bytes) =
            (uint32_t) file->bytes.bytes.length;
        status = write_made(file, error);
    }
    return status;
}

static enum step_status write_footer(struct parquet_file *file,
                                     const struct parquet_index_place *places,
                                     struct step_error *error)
{
    uint8_t end[8] = {0, 0, 0, 0, 'P', 'A', 'R', '1'};
    put_footer(&file->bytes, file, places);
    step_store_u32(end, (uint32_t) file->bytes.bytes.length);
    enum step_status status = write_made(file, error);
    return status == STEP_STATUS_OK ? parquet_file_write_bytes(file, end, sizeof end, error)
                                    : status;
}

enum step_status parquet_file_finish(struct parquet_file *file, struct step_error *error)
{
    enum step_status status = write_group(file, error);
    if (status != STEP_STATUS_OK)
        return status;
    struct parquet_index_place *places =
        calloc(file->group_count * file->column_count + 1, sizeof *places);
    if (places == NULL)
        return no_memory(error);
    status = write_index(file, places, false, error);
    if (status == STEP_STATUS_OK)
        status = write_index(file, places, true, error);
    if (status == STEP_STATUS_OK)
        status = write_footer(file, places, error);
    free(places);
    return status;
}
