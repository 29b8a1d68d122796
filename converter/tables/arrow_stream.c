/* SPDX-License-Identifier: Apache-2.0 */
/* The stream owns its reader, which keeps a reference to the trace. */
#include "converter/tables/arrow_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "converter/base/no_memory.h"

struct streaming {
    struct column_reader *reader;
    uint64_t batch_rows;
    arrow_stream_end at_end; /* NULL: none, or already called */
    struct step_error error;
    char text[1024];
};

static int fail(struct streaming *streaming)
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
    return fail(streaming);
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
    return status == STEP_STATUS_OK ? 0 : fail(streaming);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    const struct streaming *streaming = stream->private_data;
    return streaming->text[0] != '\0' ? streaming->text : NULL;
}

static void release(struct ArrowArrayStream *stream)
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
                                     .release = release,
                                     .private_data = streaming};
    return STEP_STATUS_OK;
}
