/* SPDX-License-Identifier: Apache-2.0 */
/* Compression by zlib, available in every build. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "format/core/compress_method.h"

/* avoids a cast: zlib reads through a pointer to non-const */
union source {
    const uint8_t *in;
    Bytef *out;
};

static size_t compress_zlib(void **context, int level, const uint8_t *data, size_t length,
                            uint8_t *out, size_t room)
{
    z_stream *stream = *context;
    if (length > UINT_MAX || room > UINT_MAX)
        return 0;
    if (stream == NULL) {
        *context = stream = calloc(1, sizeof *stream);
        if (stream == NULL)
            return 0;
        if (deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
            free(stream);
            *context = NULL;
            return 0;
        }
    } else if (deflateReset(stream) != Z_OK ||
               deflateParams(stream, level, Z_DEFAULT_STRATEGY) != Z_OK) {
        return 0;
    }
    union source source = {data};
    stream->next_in = source.out;
    stream->avail_in = (uInt) length;
    stream->next_out = out;
    stream->avail_out = (uInt) room;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? room - stream->avail_out : 0;
}

static void free_deflate(void *context)
{
    if (context != NULL)
        deflateEnd(context);
    free(context);
}

static enum step_status decompress_zlib(void **context, const uint8_t *data, size_t length,
                                        uint8_t *raw, size_t raw_length)
{
    z_stream *stream = *context;
    if (length > UINT_MAX || raw_length > UINT_MAX)
        return STEP_STATUS_CORRUPT;
    if (stream == NULL) {
        *context = stream = calloc(1, sizeof *stream);
        if (stream == NULL)
            return STEP_STATUS_NO_MEMORY;
        if (inflateInit(stream) != Z_OK) {
            free(stream);
            *context = NULL;
            return STEP_STATUS_NO_MEMORY;
        }
    } else if (inflateReset(stream) != Z_OK) {
        return STEP_STATUS_NO_MEMORY;
    }
    union source source = {data};
    stream->next_in = source.out;
    stream->avail_in = (uInt) length;
    stream->next_out = raw;
    stream->avail_out = (uInt) raw_length;
    bool whole = inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_out == 0 &&
                 stream->avail_in == 0;
    return whole ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
}

static void free_inflate(void *context)
{
    if (context != NULL)
        inflateEnd(context);
    free(context);
}

const struct step_method step_method_zlib = {
    .id = STEP_COMPRESSION_ZLIB,
    .default_level = 6,
    .quick_level = 1,
    .most_level = Z_BEST_COMPRESSION,
    .compress = compress_zlib,
    .free_compressor = free_deflate,
    .decompress = decompress_zlib,
    .free_decompressor = free_inflate,
};
