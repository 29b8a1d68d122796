/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's streams, found by their number. */
#ifndef FORMAT_STEP_WRITE_WRITER_STREAM_H
#define FORMAT_STEP_WRITE_WRITER_STREAM_H

#include "format/core/hash_index.h"
#include "format/step/columns/pending_records.h"

struct step_stream {
    uint64_t number;
    uint64_t written_count; /* records in blocks that were written, or in an earlier file */
    size_t memory;          /* of rows, as counted by the writer */
    struct step_pending rows;
};

/* Zero-initialised is empty. */
struct step_stream_table {
    struct step_stream **streams; /* in order of their first use */
    size_t count;
    size_t capacity;
    struct step_index index; /* of the streams */
    struct step_stream *last;
};

void step_stream_table_reset(struct step_stream_table *table);
/* NULL if there is no such stream. */
struct step_stream *step_stream_find(const struct step_stream_table *table, uint64_t number);
/* Makes it where there is none; NULL when memory runs out. */
struct step_stream *step_stream_get(struct step_stream_table *table, uint64_t number);

#endif
