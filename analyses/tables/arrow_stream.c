/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow schemas, arrays and their stream, which owns its reader; that keeps a reference to the
 * trace. */
#include "analyses/tables/arrow_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children != NULL && i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child != NULL && child->release != NULL)
            child->release(child);
        free(child);
    }
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->children);
    free(schema->private_data); /* the name */
    schema->release = NULL;
}

static bool init_schema(struct ArrowSchema *schema, const char *format, const char *name,
                        bool nullable)
{
    char *copy = strdup(name);
    *schema = (struct ArrowSchema){.format = format,
                                   .name = copy,
                                   .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
                                   .release = release_schema,
                                   .private_data = copy};
    return copy != NULL;
}

static const char *format_of(enum table_type type)
{
    switch (type) {
    case TABLE_UINT:
        return "L";
    case TABLE_BOOL:
        return "b";
    case TABLE_NAME:
        return "i";
    case TABLE_TEXT:
        return "U";
    case TABLE_DATA:
        return "Z";
    case TABLE_REAL:
        return "g";
    default:
        return "l";
    }
}

static bool init_column(struct ArrowSchema *schema, const struct table_column *column)
{
    if (!init_schema(schema, format_of(column->type), column->name, column->nullable))
        return false;
    if (column->type != TABLE_NAME)
        return true;
    schema->dictionary = calloc(1, sizeof *schema->dictionary);
    return schema->dictionary != NULL && init_schema(schema->dictionary, "u", "", false);
}

/* The parts of a stream.  arrow_array_of() takes ownership of the columns.  Return false if out
 * of memory, after releasing `out`. */
static bool arrow_schema_of(const struct column_reader *reader, struct ArrowSchema *out)
{
    size_t count = column_reader_column_count(reader);
    bool good = init_schema(out, "+s", "", false);
    out->children = calloc(count + 1, sizeof(struct ArrowSchema *));
    good = good && out->children != NULL;
    for (size_t i = 0; good && i < count; i++) {
        out->children[i] = calloc(1, sizeof *out->children[i]);
        out->n_children++;
        good = out->children[i] != NULL &&
               init_column(out->children[i], column_reader_column(reader, i));
    }
    if (!good)
        release_schema(out);
    return good;
}

enum { BUFFERS_MOST = 3 };

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; array->children != NULL && i < array->n_children; i++) {
        struct ArrowArray *child = array->children[i];
        if (child != NULL && child->release != NULL)
            child->release(child);
        free(child);
    }
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    for (int64_t i = 0; array->buffers != NULL && i < array->n_buffers; i++)
        free((void *) (uintptr_t) array->buffers[i]);
    free(array->buffers);
    free(array->children);
    array->release = NULL;
}

static bool init(struct ArrowArray *array, size_t length, int64_t buffers)
{
    *array = (struct ArrowArray){
        .length = (int64_t) length, .n_buffers = buffers, .release = release_array};
    array->buffers = calloc(BUFFERS_MOST, sizeof(void *));
    return array->buffers != NULL;
}

/* Transfers memory to the array; allocates some if it is NULL, as Arrow requires a buffer. */
static bool arrow_stream_give(struct ArrowArray *array, size_t buffer, void **memory)
{
    array->buffers[buffer] = *memory != NULL ? *memory : calloc(1, sizeof(uint64_t));
    *memory = NULL;
    return array->buffers[buffer] != NULL;
}

static bool give_bytes(struct ArrowArray *array, size_t buffer, struct step_buffer *bytes)
{
    void *data = bytes->data;
    *bytes = (struct step_buffer){0};
    return arrow_stream_give(array, buffer, &data);
}

/* Packs flags into a bitmap. */
static bool give_flags(struct ArrowArray *array, const uint8_t *flags, size_t count)
{
    uint8_t *bits = calloc(count / 8 + 1, 1);
    for (size_t i = 0; bits != NULL && i < count; i++)
        bits[i / 8] |= (uint8_t) (flags[i] << i % 8);
    array->buffers[1] = bits;
    return bits != NULL;
}

static bool give_names(struct ArrowArray *array, struct whole_column *column)
{
    array->dictionary = calloc(1, sizeof *array->dictionary);
    return array->dictionary != NULL && init(array->dictionary, column->name_count, 3) &&
           give_bytes(array->dictionary, 1, &column->name_ends) &&
           give_bytes(array->dictionary, 2, &column->names);
}

static bool give_column(struct ArrowArray *array, struct whole_column *column, size_t rows)
{
    bool is_text = column->type == TABLE_TEXT || column->type == TABLE_DATA;
    if (!init(array, rows, is_text ? 3 : 2))
        return false;
    array->null_count = (int64_t) column->null_count;
    if (column->null_count > 0) {
        array->buffers[0] = column->validity;
        column->validity = NULL;
    }
    if (column->type == TABLE_BOOL)
        return give_flags(array, column->values, rows);
    return arrow_stream_give(array, 1, &column->values) &&
           (!is_text || give_bytes(array, 2, &column->bytes)) &&
           (column->type != TABLE_NAME || give_names(array, column));
}

static bool arrow_array_of(struct whole_columns *columns, struct ArrowArray *out)
{
    bool good = init(out, columns->row_count, 1);
    out->children = calloc(columns->column_count + 1, sizeof(struct ArrowArray *));
    good = good && out->children != NULL;
    for (size_t i = 0; good && i < columns->column_count; i++) {
        out->children[i] = calloc(1, sizeof *out->children[i]);
        out->n_children++;
        good = out->children[i] != NULL &&
               give_column(out->children[i], &columns->columns[i], columns->row_count);
    }
    whole_columns_reset(columns);
    if (!good)
        release_array(out);
    return good;
}

struct streaming {
    struct column_reader *reader;
    uint64_t batch_rows;
    arrow_stream_end at_end; /* NULL: none, or already called */
    struct step_error error;
    char text[1024];
};

static int arrow_stream_fail(struct streaming *streaming)
{
    step_error_print(&streaming->error, streaming->text, sizeof streaming->text);
    return streaming->error.status == STEP_STATUS_NO_MEMORY ? ENOMEM : EIO;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct streaming *streaming = stream->private_data;
    if (arrow_schema_of(streaming->reader, out))
        return 0;
    no_memory(&streaming->error);
    return arrow_stream_fail(streaming);
}

static void report_stream_damage(struct streaming *streaming)
{
    struct step_error damage = {.offset = STEP_NO_OFFSET};
    arrow_stream_end at_end = streaming->at_end;
    struct shared_tables *shared = column_reader_borrow_tables(streaming->reader);
    streaming->at_end = NULL;
    if (at_end == NULL)
        return;
    enum step_status status = tables_damage(shared_tables_lock(shared), &damage);
    shared_tables_unlock(shared);
    if (status != STEP_STATUS_OK)
        at_end(&damage);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct streaming *streaming = stream->private_data;
    struct whole_columns columns;
    *out = (struct ArrowArray){0};
    enum step_status status =
        column_reader_next(streaming->reader, streaming->batch_rows, &columns, &streaming->error);
    if (status == STEP_STATUS_END) {
        report_stream_damage(streaming);
        return 0;
    }
    if (status == STEP_STATUS_OK && !arrow_array_of(&columns, out))
        status = no_memory(&streaming->error);
    return status == STEP_STATUS_OK ? 0 : arrow_stream_fail(streaming);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct streaming *streaming = stream->private_data;
    return streaming->text[0] != '\0' ? streaming->text : NULL;
}

static void arrow_stream_release(struct ArrowArrayStream *stream)
{
    struct streaming *streaming = stream->private_data;
    column_reader_destroy(streaming->reader);
    free(streaming);
    stream->release = NULL;
}

enum step_status arrow_stream_create(struct column_reader *reader, uint64_t batch_rows,
                                     arrow_stream_end at_end, struct ArrowArrayStream *out,
                                     struct step_error *error)
{
    struct streaming *streaming = calloc(1, sizeof *streaming);
    *out = (struct ArrowArrayStream){0};
    if (streaming == NULL) {
        column_reader_destroy(reader);
        return no_memory(error);
    }
    *streaming = (struct streaming){.reader = reader, .batch_rows = batch_rows, .at_end = at_end};
    *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                     .get_next = get_next,
                                     .get_last_error = get_last_error,
                                     .release = arrow_stream_release,
                                     .private_data = streaming};
    return STEP_STATUS_OK;
}
