/* SPDX-License-Identifier: Apache-2.0 */
/*
 * General compression of a run of bytes: zstd, zlib, xz, or stored as it is.  The numbers of
 * enum step_compression are those in the file.
 */
#ifndef FORMAT_CORE_COMPRESS_H
#define FORMAT_CORE_COMPRESS_H

#include "format/core/bytes.h"
#include "steptrace/status.h"
#include "steptrace/writer.h"

struct step_compressor;
struct step_decompressor;

/* True for a number in a file that this build can decompress. */
bool step_compression_known(uint64_t id);

/* As steptrace/writer.h says.  `level` 0 is the project's default. */
enum step_status step_compressor_create(enum step_compression method, int level,
                                        struct step_compressor **out);
void step_compressor_destroy(struct step_compressor *compressor);

/* Appends `data` compressed to `out`, or as it is where compression does not help; `*method` tells
 * which. */
enum step_status step_compress(struct step_compressor *compressor, const uint8_t *data,
                               size_t length, struct step_buffer *out,
                               enum step_compression *method);
/* The same for dense bytes, as of small numbers packed in bits, or ranks: where short ones come
 * again by chance. */
enum step_status step_compress_dense(struct step_compressor *compressor, const uint8_t *data,
                                     size_t length, struct step_buffer *out,
                                     enum step_compression *method);
/* Bytes that `data` takes when compressed in a quick way, or in one that is closer to the best:
 * what choices are made by. */
size_t step_compress_estimate(struct step_compressor *compressor, bool close, const uint8_t *data,
                              size_t length);

/* True where time does not matter: choices may be made with more trials. */
bool step_compressor_is_best(const struct step_compressor *compressor);

enum step_status step_decompressor_create(struct step_decompressor **out);
void step_decompressor_destroy(struct step_decompressor *decompressor);

/* Fills exactly `raw_length` bytes at `raw`, or returns CORRUPT, or UNSUPPORTED for a method that
 * this build does not know. */
enum step_status step_decompress(struct step_decompressor *decompressor, uint64_t method,
                                 const uint8_t *data, size_t length, uint8_t *raw,
                                 size_t raw_length);

#endif
