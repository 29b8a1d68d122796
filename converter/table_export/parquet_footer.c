/* SPDX-License-Identifier: Apache-2.0 */
/* Field numbers are those of parquet.thrift. */
#include "converter/table_export/parquet_footer.h"

#include <string.h>

#include "converter/table_export/thrift_output.h"

enum physical { BOOLEAN = 0, INT64 = 2, BYTE_ARRAY = 6 };
enum converted { NO_CONVERTED = -1, UTF8 = 0, UINT_64 = 14, INT_64 = 18 };
enum { REQUIRED = 0, OPTIONAL = 1, CODEC_NONE = 0, CODEC_ZSTD = 6 };
enum { LOGICAL_STRING = 1, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10, UNIT_NANOS = 3 };

static enum physical physical_of(enum table_type type)
{
    return type == TABLE_BOOL                                               ? BOOLEAN
           : type == TABLE_NAME || type == TABLE_TEXT || type == TABLE_DATA ? BYTE_ARRAY
                                                                            : INT64;
}

static bool is_text(enum table_type type)
{
    return type == TABLE_NAME || type == TABLE_TEXT;
}

static struct step_bytes bytes_of(const struct parquet_bound *bound)
{
    return (struct step_bytes){bound->bytes, bound->length};
}

/* ---- the page index ---- */

bool parquet_put_column_index(struct step_buffer *out, const struct parquet_chunk *chunk)
{
    struct thrift_output thrift;
    size_t count = chunk->page_count;
    thrift_init(&thrift, out);
    thrift_begin_list(&thrift, 1, THRIFT_TRUE, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_bool(&thrift, chunk->pages[i].all_null);
    thrift_begin_list(&thrift, 2, THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_binary(&thrift, bytes_of(&chunk->pages[i].least));
    thrift_begin_list(&thrift, 3, THRIFT_BINARY, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_binary(&thrift, bytes_of(&chunk->pages[i].most));
    thrift_i32(&thrift, 4, 0); /* in no order */
    thrift_begin_list(&thrift, 5, THRIFT_I64, count);
    for (size_t i = 0; i < count; i++)
        thrift_put_number(&thrift, (int64_t) chunk->pages[i].null_count);
    thrift_end_struct(&thrift);
    return !thrift.failed;
}

bool parquet_put_offset_index(struct step_buffer *out, const struct parquet_chunk *chunk)
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
    return !thrift.failed;
}

/* ---- the schema ---- */

static void put_logical(struct thrift_output *thrift, const struct parquet_file *file,
                        enum table_type type)
{
    thrift_begin_struct(thrift, 10);
    if (is_text(type)) {
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
        if (is_text(column->type))
            thrift_i32(thrift, 6, UTF8);
        else if (physical_of(column->type) == INT64 && !is_clock)
            thrift_i32(thrift, 6, column->type == TABLE_UINT ? UINT_64 : INT_64);
        if (column->type != TABLE_BOOL && column->type != TABLE_DATA)
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
        thrift_binary(thrift, 5, bytes_of(&chunk->most));
        thrift_binary(thrift, 6, bytes_of(&chunk->least));
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

static void put_group(struct thrift_output *thrift, const struct parquet_file *file, size_t group,
                      const struct parquet_index_place *places)
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
        thrift_begin_struct(thrift, 1); /* that of the type */
        thrift_end_struct(thrift);
        thrift_end_struct(thrift);
    }
}

bool parquet_put_footer(struct step_buffer *out, const struct parquet_file *file,
                        const struct parquet_index_place *places)
{
    struct thrift_output thrift;
    thrift_init(&thrift, out);
    thrift_i32(&thrift, 1, 2);
    put_schema(&thrift, file);
    thrift_i64(&thrift, 3, (int64_t) file->row_count);
    thrift_begin_list(&thrift, 4, THRIFT_STRUCT, file->group_count);
    for (size_t i = 0; i < file->group_count; i++)
        put_group(&thrift, file, i, places + i * file->column_count);
    thrift_binary(&thrift, 6, step_text("StepTrace version " STEPTRACE_VERSION));
    put_orders(&thrift, file->column_count);
    thrift_end_struct(&thrift);
    return !thrift.failed;
}
