/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoder for rows: the paper's single stream, in which meta-records carry the changes of policy
 * (STEP paper, section 3.2).
 *
 * Rows are one of two layouts.  In columns each field has an entry in the directory and a section
 * that is compressed alone, which costs more than it saves where a block has few records of many
 * types.  The writer decides by size (block_write.c).
 */
#ifndef FORMAT_STEP_ROWS_ROW_WRITE_H
#define FORMAT_STEP_ROWS_ROW_WRITE_H

#include "format/codec/row/encoder.h"
#include "format/step/columns/columns_of_records.h"
#include "format/step/rows/meta.h"

/* A change, and its position in the current record.  `values` is what the reader counts by, and
 * `at` is where the writer cuts: a value may take no bytes, so neither follows from the other. */
struct step_row_change {
    size_t at;       /* in rows */
    uint64_t values; /* of the record, before the change */
    uint64_t encoder;
    struct step_change change;
};

struct step_row_column_writer {
    struct step_encoder encoder;
    struct step_row_strings strings; /* for columns of lengths */
    size_t position;                 /* number of values taken */
    uint64_t number;                 /* the encoder's number in the block */
};

/* Zero-initialise. */
struct step_row_writer {
    struct step_row_column_writer *columns; /* by column of the plan */
    size_t column_count;
    struct step_encoder types;
    struct step_encoder events; /* of the field `encoder` in meta-events */
    struct step_row_change *changes;
    size_t change_count;
    size_t change_capacity;
    uint64_t values; /* number of values of the current record */
    struct step_buffer segments;
    struct step_buffer field;
    struct step_buffer rows; /* the result */
};

void step_row_writer_reset(struct step_row_writer *writer);

/* Encodes the first `most` records to writer->rows.  INVALID: a value that its field's policy does
 * not allow. */
enum step_status step_row_write(struct step_row_writer *writer, const struct step_columns *columns,
                                size_t most);

#endif
