/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are being read: what the files that do so share. */
#ifndef FORMAT_STEP_ROWS_ROW_READ_H
#define FORMAT_STEP_ROWS_ROW_READ_H

#include "format/codec/row/encoder.h"
#include "format/step/columns/columns_of_records.h"
#include "format/step/columns/decoding.h"
#include "format/step/rows/row_strings.h"

/* Kept from block to block. */
struct step_row_reader {
    struct step_buffer rows;
    struct step_encoder *encoders;    /* by column of the plan */
    struct step_column_data *columns; /* the same: what was decoded */
    struct step_row_strings *strings; /* the same, of columns of lengths */
    uint32_t *listed;                 /* columns in the order of the directory */
    uint64_t *given;                  /* by column: the field or leaf that `given` looks at */
    size_t listed_count;
    size_t column_count;
    struct step_encoder types;
    struct step_encoder events;
};

/* One block under way. */
struct step_row_reading {
    struct step_decoding *decoding;
    struct step_row_reader *reader;
    struct step_cursor cursor;
    const uint8_t *start;
    uint16_t *local_types; /* by record: its local number, plus 1 */
    uint32_t record;       /* the type of the record at hand */
    uint64_t number;       /* its number in the block */
    uint64_t changes;      /* of a meta-record: those that are to come */
    uint64_t until;        /* values before the next of them */
    uint64_t budget;       /* bytes that may still be decoded */
};

/* NULL when out of memory. */
struct step_row_reader *step_row_reader_create(size_t column_count);
void step_row_reader_destroy(struct step_row_reader *rows);

/* Layout ROWS: the types of the records, and all columns. */
enum step_status step_decoding_rows(struct step_decoding *decoding);

/* The encoders of a block. */
enum step_status step_row_directory(struct step_row_reading *reading);

/* Applies the changes that stand before the next value.  Returns NULL, or what is wrong. */
const char *step_row_changes(struct step_row_reading *reading);

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
