/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet's encodings of values (github.com/apache/parquet-format, Encodings.md), appended to a
 * buffer.  All return false when memory runs out. */
#ifndef CONVERTER_TABLE_EXPORT_PARQUET_ENCODINGS_H
#define CONVERTER_TABLE_EXPORT_PARQUET_ENCODINGS_H

#include "format/core/bytes.h"
#include "steptrace/value.h"

enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_RLE = 3,
    PARQUET_DELTA_BINARY_PACKED = 5,
    PARQUET_RLE_DICTIONARY = 8
};

/* Bits that the value takes. */
unsigned parquet_width(uint64_t value);

/* DELTA_BINARY_PACKED: blocks of 128 differences, miniblocks of 32. */
bool parquet_put_deltas(struct step_buffer *out, const uint64_t *values, size_t count);
/* The hybrid of runs and bit-packed groups, of values of `width` bits at most; no length before. */
bool parquet_put_hybrid(struct step_buffer *out, const uint32_t *values, size_t count,
                        unsigned width);
/* PLAIN. */
bool parquet_put_numbers(struct step_buffer *out, const uint64_t *values, size_t count);
bool parquet_put_flags(struct step_buffer *out, const uint8_t *values, size_t count);
bool parquet_put_text(struct step_buffer *out, struct step_bytes text);

#endif
