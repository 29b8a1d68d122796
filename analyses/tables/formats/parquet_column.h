/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes a column of a Parquet row group as pages. */
#ifndef ANALYSES_TABLES_FORMATS_PARQUET_COLUMN_H
#define ANALYSES_TABLES_FORMATS_PARQUET_COLUMN_H

#include "analyses/tables/column_reader.h"
#include "converter/output/byte_output.h"

/* Parquet's encodings of values (github.com/apache/parquet-format, Encodings.md), appended to a
 * buffer. */

enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_RLE = 3,
    PARQUET_DELTA_BINARY_PACKED = 5,
    PARQUET_RLE_DICTIONARY = 8
};

/* Returns the number of bits that the value needs. */
unsigned parquet_width(uint64_t value);

/* DELTA_BINARY_PACKED: blocks of 128 differences, miniblocks of 32. */
void parquet_put_deltas(struct byte_output *out, const uint64_t *values, size_t count);
/* The hybrid of runs and bit-packed groups, for values of at most `width` bits.  Writes no length
 * prefix. */
void parquet_put_hybrid(struct byte_output *out, const uint32_t *values, size_t count,
                        unsigned width);
/* PLAIN. */
void parquet_put_flags(struct byte_output *out, const uint8_t *values, size_t count);

enum { PARQUET_PAGE_ROWS = 32768, PARQUET_BOUND_BYTES = 128 };

/* A minimum or maximum as bytes; at most PARQUET_BOUND_BYTES of a text. */
struct parquet_bound {
    uint8_t bytes[PARQUET_BOUND_BYTES];
    size_t length;
};

struct parquet_page {
    uint64_t offset;       /* of the page header, from the chunk's start or in the file */
    uint32_t stored_bytes; /* header included */
    uint64_t first_row;    /* in the row group */
    uint64_t null_count;
    bool all_null;
    struct parquet_bound least, most;
};

/* Metadata of a column chunk for the footer. */
struct parquet_chunk {
    struct parquet_page *pages;
    size_t page_count;
    uint64_t dictionary_offset; /* 0: no dictionary, and no dictionary page */
    bool has_dictionary;
    bool has_bounds; /* minimum and maximum, of the chunk and its pages */
    struct parquet_bound least, most;
    enum parquet_encoding encoding;
    uint64_t row_count, null_count;
    uint64_t raw_bytes, stored_bytes;
};

struct parquet_column {
    const struct table_column *about; /* borrowed */
    uint64_t added;                   /* to each number: the clock at time zero */
    struct whole_column rows;         /* of the row group */
    size_t value_count;               /* while it is encoded: rows that are not null */
};

/* Working memory of the page encoder, shared by all columns of a file. */
struct parquet_encoder {
    void *compressor; /* ZSTD_CCtx; NULL: no compression */
    int level;
    struct byte_output raw, stored, header;
    uint32_t *indices; /* by value */
    size_t index_capacity;
    uint32_t *slots; /* of the hash table of numbers */
    uint64_t *entries;
    size_t entry_count;
};

bool parquet_encoder_init(struct parquet_encoder *encoder, int level);
void parquet_encoder_reset(struct parquet_encoder *encoder);
/* Appends the pages of the column's rows to `out`, and empties the column.  The caller owns the
 * pages of `chunk`. */
bool parquet_column_encode(struct parquet_column *column, size_t row_count,
                           struct parquet_encoder *encoder, struct byte_output *out,
                           struct parquet_chunk *chunk);

/* Returns true if pages are compressed. */
bool parquet_is_compressed(void);

/* Thrift's compact protocol, limited to the types that Parquet's metadata uses (thrift_output.c).
 */

enum { THRIFT_DEPTH_MOST = 8 };

enum thrift_type {
    THRIFT_TRUE = 1,
    THRIFT_FALSE = 2,
    THRIFT_BYTE = 3,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

struct thrift_output {
    struct byte_output *out;     /* borrowed; has the failures */
    int last[THRIFT_DEPTH_MOST]; /* field, by depth */
    int depth;
};

/* Begins the outermost struct, which is ended like any other. */
void thrift_init(struct thrift_output *thrift, struct byte_output *out);

void thrift_begin_struct(struct thrift_output *thrift, int field);
/* Begins an element of a list of structs. */
void thrift_begin_element(struct thrift_output *thrift);
void thrift_end_struct(struct thrift_output *thrift);
void thrift_begin_list(struct thrift_output *thrift, int field, enum thrift_type type,
                       size_t count);

void thrift_i32(struct thrift_output *thrift, int field, int64_t value);
void thrift_i64(struct thrift_output *thrift, int field, int64_t value);
void thrift_byte(struct thrift_output *thrift, int field, uint8_t value);
void thrift_bool(struct thrift_output *thrift, int field, bool value);
void thrift_binary(struct thrift_output *thrift, int field, struct step_bytes value);
/* Writes an element of a list. */
void thrift_put_number(struct thrift_output *thrift, int64_t value);
void thrift_put_binary(struct thrift_output *thrift, struct step_bytes value);
void thrift_put_bool(struct thrift_output *thrift, bool value);

#endif
