/* SPDX-License-Identifier: Apache-2.0 */
/*
 * General compression of bytes: zstd, zlib, xz, or stored.  The values of enum step_compression are
 * those in the file.
 */
#ifndef FORMAT_CORE_COMPRESS_H
#define FORMAT_CORE_COMPRESS_H

#include "format/core/bytes.h"
#include "steptrace/status.h"
#include "steptrace/writer.h"

struct step_compressor;
struct step_decompressor;

/* Returns true if this build can decompress a method, by its number in the file. */
bool step_compression_known(uint64_t id);

/* Creates a compressor; `method` is as in steptrace/writer.h.  `level` 0 is the default. */
enum step_status step_compressor_create(enum step_compression method, int level,
                                        struct step_compressor **out);
void step_compressor_destroy(struct step_compressor *compressor);

/* Appends `data` to `out`, compressed, or stored if compression does not help.  Sets `*method`.
 * `dense`: the bytes are such as small numbers packed in bits, or ranks, in which short matches
 * occur by chance. */
enum step_status step_compress(struct step_compressor *compressor, bool dense, const uint8_t *data,
                               size_t length, struct step_buffer *out,
                               enum step_compression *method);
/* Returns the approximate compressed size of `data`, by a quick method or one closer to the best,
 * for choices between encodings. */
size_t step_compress_estimate(struct step_compressor *compressor, bool close, const uint8_t *data,
                              size_t length);

/* Returns true if time does not matter, so that choices may use more trials. */
bool step_compressor_is_best(const struct step_compressor *compressor);

enum step_status step_decompressor_create(struct step_decompressor **out);
void step_decompressor_destroy(struct step_decompressor *decompressor);

/* Decompresses exactly `raw_length` bytes to `raw`.  CORRUPT: the data does not have that length or
 * is damaged; UNSUPPORTED: this build does not know the method. */
enum step_status step_decompress(struct step_decompressor *decompressor, uint64_t method,
                                 const uint8_t *data, size_t length, uint8_t *raw,
                                 size_t raw_length);

#endif
