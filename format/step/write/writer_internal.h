/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal state and functions of the writer, shared by its files.
 *
 * Records of each stream wait until there are enough for a block; so do dictionary entries and
 * properties.  The one rule of order is that entries and properties go out before any data block
 * that may use them (step_writer_pending()): a reader that has a block can resolve all its
 * identifiers, even if the file ends there.
 */
#ifndef FORMAT_STEP_WRITE_WRITER_INTERNAL_H
#define FORMAT_STEP_WRITE_WRITER_INTERNAL_H

#include "format/core/hash_index.h"
#include "format/step/block/block_verify.h"
#include "format/step/block/block_write.h"
#include "format/step/columns/check_record.h"
#include "format/step/columns/pending_records.h"
#include "steptrace/writer.h"

/* The streams of a writer, indexed by number. */
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

struct step_writer_dictionary {
    uint64_t written_count;
    struct step_pending rows;
};

struct step_writer {
    struct step_writer_options options;
    struct step_plan *plan;
    struct step_columns *columns;
    struct step_block_writer blocks;
    struct step_block_verifier *verifier; /* NULL: blocks are not verified */
    struct step_check check;
    struct step_stream_table streams;
    struct step_page_pool pages;                 /* of all streams */
    struct step_writer_dictionary *dictionaries; /* by record */
    bool dictionaries_pending;
    uint64_t dictionary_bytes;     /* upper limit for a reader's memory for all entries */
    struct step_buffer properties; /* not yet written */
    struct step_buffer index;
    uint64_t block_count;
    struct step_buffer ranges; /* of fields, by data block, for the end of the file */
    uint64_t range_count;      /* number of blocks described there */
    uint64_t range_offset;     /* offset of the last of these */
    uint64_t offset;           /* bytes written to the output */
    size_t memory;             /* of all streams */
    bool closed;
    uint64_t refused_count;    /* number of records and entries refused, */
    struct step_error refusal; /* and the reason for the first */
    enum step_status status;   /* the first failure */
    struct step_error error;
};

/* Returns OK if the writer accepts calls. */
enum step_status step_writer_ready(struct step_writer *writer);
/* Keeps the first failure; `message` may be NULL.  Returns the writer's status. */
enum step_status step_writer_keep(struct step_writer *writer, enum step_status status,
                                  const char *message);
/* Refuses a record; the writer continues without it. */
enum step_status step_writer_refuse(struct step_writer *writer, const struct step_error *error);
/* Refuses a record whose type the definition lacks. */
enum step_status step_writer_refuse_record(struct step_writer *writer, uint32_t record);
/* Appends a record that conforms to its definition; refuses others. */
enum step_status step_writer_append(struct step_writer *writer, struct step_pending *rows,
                                    uint32_t record, const uint64_t *slots);

/* Writes bytes to the output.  Keeps its error if it is the first. */
enum step_status step_writer_output(struct step_writer *writer, const void *data, size_t length);
/* Writes a block of bytes. */
enum step_status step_writer_bytes_block(struct step_writer *writer, enum step_block_kind kind,
                                         const uint8_t *bytes, size_t length);
/* Writes the collected ranges of the data blocks as a block. */
enum step_status step_writer_ranges_block(struct step_writer *writer);
/* Writes properties and dictionary entries, which must precede the data that uses them. */
enum step_status step_writer_pending(struct step_writer *writer);
/* Write the records of a stream, or of the stream that uses most memory, as a block. */
enum step_status step_writer_flush_rows(struct step_writer *writer, struct step_stream *stream);
enum step_status step_writer_flush_largest(struct step_writer *writer);
/* Updates the memory count of a stream's records. */
void step_writer_count_memory(struct step_writer *writer, struct step_stream *stream);

#endif
