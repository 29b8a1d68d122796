/* SPDX-License-Identifier: Apache-2.0 */
/* Encoder for blocks. */
#ifndef FORMAT_STEP_BLOCK_BLOCK_WRITE_H
#define FORMAT_STEP_BLOCK_BLOCK_WRITE_H

#include "format/codec/choose.h"
#include "format/step/columns/columns_of_records.h"
#include "format/step/layout.h"
#include "format/step/rows/row_write.h"

/* The choices for the columns of a stream's last blocks. */
enum { STEP_RECALLED_STREAMS = 16 };
struct step_recalled_stream {
    uint64_t stream;
    struct step_choice *columns; /* by number in the plan, then the record types; NULL: none */
};

/* State for writing blocks, kept from block to block. */
struct step_block_writer {
    struct step_compressor *compressor;
    struct step_scratch scratch;
    struct step_buffer summary;
    struct step_buffer directory;
    struct step_buffer sections;
    struct step_row_writer rows;
    struct step_recalled_stream recalled[STEP_RECALLED_STREAMS]; /* by stream, modulo */
    unsigned rows_pause;      /* large blocks left that are not tried as rows, */
    unsigned rows_patience;   /* of that many */
    struct step_buffer other; /* the alternative layout, for comparison */
    struct step_buffer block; /* the result: header and payload */
};

enum step_status step_block_writer_init(struct step_block_writer *writer,
                                        enum step_compression compression, int level);
void step_block_writer_reset(struct step_block_writer *writer);

/* Encodes a block of the columns.  `header` has kind, stream and first record; the rest is filled
 * in. */
enum step_status step_block_write_columns(struct step_block_writer *writer,
                                          const struct step_columns *columns,
                                          struct step_block_header *header);

/* Encodes a block in rows.  INVALID: a value that its field's encoding does not allow. */
enum step_status step_block_write_rows(struct step_block_writer *writer,
                                       const struct step_columns *columns,
                                       struct step_block_header *header);

/* Encodes a block in columns or rows, whichever is smaller. */
enum step_status step_block_write_smallest(struct step_block_writer *writer,
                                           const struct step_columns *columns,
                                           struct step_block_header *header);

/* Encodes a block of bytes, compressed (definition, properties, index). */
enum step_status step_block_write_bytes(struct step_block_writer *writer, const uint8_t *bytes,
                                        size_t length, struct step_block_header *header);

#endif
