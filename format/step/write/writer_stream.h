/* SPDX-License-Identifier: Apache-2.0 */
/* The streams of a writer, indexed by number. */
#ifndef FORMAT_STEP_WRITE_WRITER_STREAM_H
#define FORMAT_STEP_WRITE_WRITER_STREAM_H

#include "format/core/hash_index.h"
#include "format/step/columns/pending_records.h"

struct step_stream {
    uint64_t number;
    uint64_t written_count; /* records in written blocks, or in an earlier file */
    size_t memory;          /* of rows, as counted by the writer */
    struct step_pending rows;
};

/* Zero-initialise for an empty table. */
struct step_stream_table {
    struct step_stream **streams; /* in order of first use */
    size_t count;
    size_t capacity;
    struct step_index index; /* of the streams */
    struct step_stream *last;
};

void step_stream_table_reset(struct step_stream_table *table);
/* Returns the stream, or NULL. */
struct step_stream *step_stream_find(const struct step_stream_table *table, uint64_t number);
/* Returns the stream, creating it if needed; NULL if memory runs out. */
struct step_stream *step_stream_get(struct step_stream_table *table, uint64_t number);

#endif
