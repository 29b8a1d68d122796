/* SPDX-License-Identifier: Apache-2.0 */
/* Compression methods, a row each: what compress.c calls, and what the libraries keep between
 * calls. */
#ifndef FORMAT_CORE_COMPRESS_METHOD_H
#define FORMAT_CORE_COMPRESS_METHOD_H

#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/writer.h"

struct step_method {
    enum step_compression id;
    int default_level;
    int quick_level; /* what choices are made by */
    int most_level;
    int level_for_dense; /* the least that makes as little of bytes with little to find in them as
                            the most does; 0: there is none */
    /* `*context`, NULL at first, is the method's own between calls.  The length, or 0 where the
     * result would not fit into `room` bytes, or on failure. */
    size_t (*compress)(void **context, int level, const uint8_t *data, size_t length, uint8_t *out,
                       size_t room);
    /* The same for dense bytes (compress.h) at the default level; NULL: there is no other way. */
    size_t (*compress_dense)(void **context, const uint8_t *data, size_t length, uint8_t *out,
                             size_t room);
    void (*free_compressor)(void *context);
    /* OK where the bytes give exactly `raw_length` bytes. */
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

/* Those that are there: the first is taken where nothing else is said. */
enum { STEP_METHODS_MOST = 4 };
extern const struct step_method *const step_methods[];
extern const size_t step_method_count;

#endif
