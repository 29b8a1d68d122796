/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports the columns of a column_reader as an Arrow stream of record batches.
 *
 * Types: uint is uint64; int, time and duration are int64; bool is bool; name is a dictionary
 * (int32 to utf8), separate for each batch; text is large_utf8; data is large_binary.
 */
#ifndef ANALYSES_TABLES_ARROW_STREAM_H
#define ANALYSES_TABLES_ARROW_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "analyses/tables/column_reader.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_NULLABLE 2

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* Called once, after the last batch and in the thread that requested it, if the trace is
 * damaged. */
typedef void (*arrow_stream_end)(const struct step_error *damage);

/* Creates a stream.  Takes ownership of `reader`, even on failure.  `batch_rows`: rows per
 * record batch.  `at_end` may be NULL. */
enum step_status arrow_stream_create(struct column_reader *reader, uint64_t batch_rows,
                                     arrow_stream_end at_end, struct ArrowArrayStream *out,
                                     struct step_error *error);

#endif
