/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's inside, for the files that it consists of. */
#ifndef FORMAT_STEP_WRITE_WRITER_INTERNAL_H
#define FORMAT_STEP_WRITE_WRITER_INTERNAL_H

#include "format/step/block/block_verify.h"
#include "format/step/block/block_write.h"
#include "format/step/plan/check_record.h"
#include "format/step/write/writer_stream.h"
#include "steptrace/writer.h"

struct step_writer_dictionary {
    uint64_t written_count;
    struct step_pending rows;
};

struct step_writer {
    struct step_writer_options options;
    struct step_plan *plan;
    struct step_columns *columns;
    struct step_block_writer blocks;
    struct step_block_verifier *verifier; /* NULL: blocks are not read again */
    struct step_check check;
    struct step_stream_table streams;
    struct step_writer_dictionary *dictionaries; /* by record */
    bool dictionaries_pending;
    uint64_t dictionary_bytes;     /* that a reader needs for all entries, at most */
    struct step_buffer properties; /* not yet written */
    struct step_buffer index;
    uint64_t block_count;
    struct step_buffer ranges; /* of fields, by data block, for the end of the file */
    uint64_t range_count;      /* blocks that it tells of */
    uint64_t range_offset;     /* the last of them */
    uint64_t offset;           /* bytes given to the output */
    size_t memory;             /* of all streams */
    bool closed;
    uint64_t refused_count;    /* records and entries that were not taken, */
    struct step_error refusal; /* and why the first was not */
    enum step_status status;   /* the first failure, and its report */
    struct step_error error;
};

/* OK where the writer takes calls. */
enum step_status step_writer_ready(struct step_writer *writer);
/* Keeps the first failure; `message` may be NULL.  What the writer's status is then. */
enum step_status step_writer_keep(struct step_writer *writer, enum step_status status,
                                  const char *message);
/* A record is not taken; the writer goes on without it. */
enum step_status step_writer_refuse(struct step_writer *writer, const struct step_error *error);
/* The definition has no such record type. */
enum step_status step_writer_refuse_record(struct step_writer *writer, uint32_t record);
/* Appends a record that agrees with its definition; one that does not is refused. */
enum step_status step_writer_append(struct step_writer *writer, struct step_pending *rows,
                                    uint32_t record, const uint64_t *slots);

/* Gives bytes to the output.  Its error, if it is the first, is kept. */
enum step_status step_writer_output(struct step_writer *writer, const void *data, size_t length);
/* Writes a block of bytes. */
enum step_status step_writer_bytes_block(struct step_writer *writer, enum step_block_kind kind,
                                         const uint8_t *bytes, size_t length);
/* Writes what was noted of the data blocks' ranges as a block. */
enum step_status step_writer_ranges_block(struct step_writer *writer);
/* Writes properties and dictionary entries, which must stand before the data that uses them. */
enum step_status step_writer_pending(struct step_writer *writer);
/* Writes a stream's records as a block; of the stream that takes most memory. */
enum step_status step_writer_flush_rows(struct step_writer *writer, struct step_stream *stream);
enum step_status step_writer_flush_largest(struct step_writer *writer);
/* Notes what a stream's records take now. */
void step_writer_count_memory(struct step_writer *writer, struct step_stream *stream);

#endif
