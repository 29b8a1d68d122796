/* SPDX-License-Identifier: Apache-2.0 */
/* Row groups, one after the other; what the footer says of them is kept. */
#include "converter/table_export/parquet_file.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/table_export/parquet_footer.h"
#include "format/core/grow.h"

enum { LEVEL_DEFAULT = 3 };

static enum step_status write_bytes(struct parquet_file *file, const void *data, size_t length,
                                    struct step_error *error)
{
    enum step_status status = file->output.write(file->output.user, data, length, error);
    file->offset += status == STEP_STATUS_OK ? length : 0;
    return status;
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
        parquet_column_init(&file->columns[i], about, PARQUET_GROUP_ROWS,
                            about->type == TABLE_TIME ? clock_ns : 0);
    }
    return write_bytes(file, "PAR1", 4, error);
}

void parquet_file_reset(struct parquet_file *file)
{
    for (size_t i = 0; file->columns != NULL && i < file->column_count; i++)
        parquet_column_reset(&file->columns[i]);
    for (size_t i = 0; i < file->group_count; i++) {
        for (size_t k = 0; k < file->column_count; k++)
            free(file->groups[i].chunks[k].pages);
        free(file->groups[i].chunks);
    }
    free(file->groups);
    free(file->columns);
    parquet_encoder_reset(&file->encoder);
    step_buffer_reset(&file->bytes);
    *file = (struct parquet_file){0};
}

/* ---- row groups ---- */

static struct parquet_group *add_group(struct parquet_file *file)
{
    if (file->group_count == file->group_capacity) {
        struct parquet_group *groups = step_grown(file->groups, &file->group_capacity,
                                                  file->group_capacity + 1, sizeof *groups);
        if (groups == NULL)
            return NULL;
        file->groups = groups;
    }
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
        file->bytes.length = 0;
        if (!parquet_column_encode(&file->columns[i], &file->encoder, &file->bytes, chunk))
            return no_memory(error);
        chunk->dictionary_offset = file->offset;
        for (size_t k = 0; k < chunk->page_count; k++)
            chunk->pages[k].offset += file->offset;
        status = write_bytes(file, file->bytes.data, file->bytes.length, error);
    }
    file->group_rows = 0;
    return status;
}

enum step_status parquet_file_put(struct parquet_file *file, const struct table_batch *batch,
                                  struct step_error *error)
{
    for (size_t row = 0; row < batch->row_count;) {
        size_t room = PARQUET_GROUP_ROWS - file->group_rows;
        size_t count = batch->row_count - row < room ? batch->row_count - row : room;
        for (size_t i = 0; i < file->column_count; i++)
            if (!parquet_column_put(&file->columns[i], &batch->vectors[i], row, count))
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
        file->bytes.length = 0;
        if (!is_offsets && !chunk->has_bounds)
            continue;
        if (!(is_offsets ? parquet_put_offset_index(&file->bytes, chunk)
                         : parquet_put_column_index(&file->bytes, chunk)))
            return no_memory(error);
        *(is_offsets ? &places[i].offset_index : &places[i].column_index) = file->offset;
        *(is_offsets ? &places[i].offset_index_bytes : &places[i].column_index_bytes) =
            (uint32_t) file->bytes.length;
        status = write_bytes(file, file->bytes.data, file->bytes.length, error);
    }
    return status;
}

static enum step_status write_footer(struct parquet_file *file,
                                     const struct parquet_index_place *places,
                                     struct step_error *error)
{
    uint8_t end[8] = {0, 0, 0, 0, 'P', 'A', 'R', '1'};
    file->bytes.length = 0;
    if (!parquet_put_footer(&file->bytes, file, places))
        return no_memory(error);
    step_store_u32(end, (uint32_t) file->bytes.length);
    enum step_status status = write_bytes(file, file->bytes.data, file->bytes.length, error);
    return status == STEP_STATUS_OK ? write_bytes(file, end, sizeof end, error) : status;
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
