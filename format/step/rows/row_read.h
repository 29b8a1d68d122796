/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the files that read rows. */
#ifndef FORMAT_STEP_ROWS_ROW_READ_H
#define FORMAT_STEP_ROWS_ROW_READ_H

#include "format/codec/row/encoder.h"
#include "format/step/columns/columns_of_records.h"
#include "format/step/columns/decoding.h"
#include "format/step/rows/meta.h"
#include "steptrace/budget.h"

struct step_row_column_reader {
    struct step_encoder encoder;
    struct step_column_data data;    /* decoded values */
    struct step_row_strings strings; /* for columns of lengths */
    uint64_t given; /* the field or leaf that `given` refers to; of `age` the column, of `stack` the
                       record type */
};

/* State kept from block to block. */
struct step_row_reader {
    struct step_buffer rows;
    struct step_row_column_reader *columns; /* by column of the plan */
    uint32_t *listed;                       /* columns in the order of the directory */
    size_t listed_count;
    size_t column_count;
    struct step_encoder types;
    struct step_encoder events;
};

/* State of reading one block. */
struct step_row_reading {
    struct step_decoding *decoding;
    struct step_row_reader *reader;
    struct step_cursor cursor;
    const uint8_t *start;
    uint16_t *local_types;     /* by record: its local number, plus 1 */
    uint32_t record;           /* type of the current record */
    uint64_t number;           /* its number in the block */
    uint64_t changes;          /* of a meta-record: the remaining changes */
    uint64_t until;            /* values before the next of these */
    struct step_budget budget; /* bytes that may still be decoded */
};

/* Returns NULL if out of memory. */
struct step_row_reader *step_row_reader_create(size_t column_count);
void step_row_reader_destroy(struct step_row_reader *rows);

/* Decodes the layout ROWS: the types of the records, and all columns. */
enum step_status step_decoding_rows(struct step_decoding *decoding);

/* Reads the encoders of a block. */
enum step_status step_row_directory(struct step_row_reading *reading);

/* Applies the changes before the next value.  Returns NULL, or the fault. */
const char *step_row_changes(struct step_row_reading *reading);

/* Called once for each value, and before it: applies the changes that stand there, and counts the
 * value.  In a plain record there are none, and it costs one comparison. */
static inline const char *step_row_settle(struct step_row_reading *reading)
{
    const char *fault = reading->changes > 0 ? step_row_changes(reading) : NULL;
    reading->until -= reading->changes > 0;
    return fault;
}

static inline const char *step_row_number(struct step_row_reading *reading, uint64_t *value)
{
    return step_cursor_varint(&reading->cursor, value) ? NULL : "the bytes end too early";
}

#endif
