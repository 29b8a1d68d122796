/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoder for blocks.
 *
 * A block is one stream's records in either layout.  Columns compress best where many records are
 * alike: values of one field stand together, and each column gets the encoding that suits it.  Rows
 * are the layout of the STEP paper, and best for a few records of many types.  Both decode to the
 * same records, so a file may mix them block by block, and the smaller one is taken.
 */
#ifndef FORMAT_STEP_BLOCK_BLOCK_WRITE_H
#define FORMAT_STEP_BLOCK_BLOCK_WRITE_H

#include "format/codec/choose.h"
#include "format/core/crew.h"
#include "format/step/columns/columns_of_records.h"
#include "format/step/layout.h"
#include "format/step/rows/row_write.h"

/* The choices for the columns of a stream's last blocks. */
enum { STEP_RECALLED_STREAMS = 16 };
struct step_recalled_stream {
    uint64_t stream;
    struct step_choice *columns; /* by number in the plan, then the record types; NULL: none */
};

/* Columns in their encoded form: their rows of the block's directory, and their bytes. */
struct step_encoded {
    struct step_buffer directory;
    struct step_buffer sections;
};

/* What one thread needs to encode columns. */
struct step_column_encoder {
    struct step_compressor *compressor;
    struct step_scratch scratch;
    struct step_encoded out;
};

/* Append a column, or the record types, to `encoder->out`.  `recalled`: the choice for it in the
 * stream's last blocks, which is updated; NULL: none is kept. */
enum step_status step_column_encode(struct step_column_encoder *encoder,
                                    const struct step_columns *columns, uint32_t index,
                                    struct step_choice *recalled);
enum step_status step_types_encode(struct step_column_encoder *encoder,
                                   const struct step_columns *columns,
                                   struct step_choice *recalled);

/* State for writing blocks, kept from block to block. */
struct step_block_writer {
    enum step_compression compression;
    int level;
    struct step_buffer summary;
    struct step_column_encoder encoder;
    struct step_crew *crew;              /* NULL: columns are encoded by the caller alone */
    struct step_column_encoder *helpers; /* of the crew's other members */
    unsigned helper_count;
    struct step_encoded *parts; /* of a block, as the crew writes them */
    size_t part_count;
    struct step_row_writer rows;
    struct step_recalled_stream recalled[STEP_RECALLED_STREAMS]; /* by stream, modulo */
    unsigned rows_pause;      /* large blocks left that are not tried as rows, */
    unsigned rows_patience;   /* of that many */
    struct step_buffer other; /* the alternative layout, for comparison */
    struct step_buffer block; /* the result: header and payload */
};

enum step_status step_block_writer_init(struct step_block_writer *writer,
                                        enum step_compression compression, int level);
/* Encodes the columns of large blocks with that many threads from now on, or with fewer if the
 * system allows no more.  The blocks are the same to the byte.  NO_MEMORY. */
enum step_status step_block_writer_share(struct step_block_writer *writer, unsigned threads);
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
