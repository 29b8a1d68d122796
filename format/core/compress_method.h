/* SPDX-License-Identifier: Apache-2.0 */
/* Compression methods, one row each: the functions that compress.c calls, with a context that the
 * libraries keep between calls. */
#ifndef FORMAT_CORE_COMPRESS_METHOD_H
#define FORMAT_CORE_COMPRESS_METHOD_H

#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/writer.h"

struct step_method {
    enum step_compression id;
    int default_level;
    int quick_level; /* for estimates */
    int most_level;
    int level_for_dense; /* the lowest level that compresses dense bytes as well as the highest; 0:
                            none */
    /* `*context`, initially NULL, belongs to the method between calls.  Returns the length, or 0 if
     * the result does not fit into `room` bytes, or on failure. */
    size_t (*compress)(void **context, int level, const uint8_t *data, size_t length, uint8_t *out,
                       size_t room);
    /* Like `compress`, for dense bytes (compress.h) at the default level; may be NULL. */
    size_t (*compress_dense)(void **context, const uint8_t *data, size_t length, uint8_t *out,
                             size_t room);
    void (*free_compressor)(void *context);
    /* Returns OK if the data decompresses to exactly `raw_length` bytes. */
    enum step_status (*decompress)(void **context, const uint8_t *data, size_t length, uint8_t *raw,
                                   size_t raw_length);
    void (*free_decompressor)(void *context);
};

extern const struct step_method step_method_zlib;
#if STEPTRACE_ZSTD
extern const struct step_method step_method_zstd;
#endif
#if STEPTRACE_XZ
extern const struct step_method step_method_xz;
#endif

/* The methods that are built in; the first is the default. */
enum { STEP_METHODS_MOST = 4 };
extern const struct step_method *const step_methods[];
extern const size_t step_method_count;

#endif
