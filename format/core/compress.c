/* SPDX-License-Identifier: Apache-2.0 */
/* Compression methods, one row each, with contexts that are kept from call to call. */
#include "compress.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#if STEPTRACE_ZSTD
#include <zstd.h>
#endif

enum { ZSTD_LEVEL = 5, ZLIB_LEVEL = 6, WORTH_TRYING = 24 };

struct step_compressor {
    enum step_compression method;
    int level;
    struct step_buffer scratch;
    z_stream deflate;
    bool deflate_ready;
#if STEPTRACE_ZSTD
    ZSTD_CCtx *zstd;
#endif
};

struct step_decompressor {
    z_stream inflate;
    bool inflate_ready;
#if STEPTRACE_ZSTD
    ZSTD_DCtx *zstd;
#endif
};

enum step_status step_compressor_create(enum step_compression method, int level,
                                        struct step_compressor **out)
{
    struct step_compressor *compressor = calloc(1, sizeof *compressor);
    *out = compressor;
    if (compressor == NULL)
        return STEP_STATUS_NO_MEMORY;
    compressor->method = method;
#if STEPTRACE_ZSTD
    compressor->level = level != 0                        ? level
                        : method == STEP_COMPRESSION_ZLIB ? ZLIB_LEVEL
                                                          : ZSTD_LEVEL;
    compressor->zstd = ZSTD_createCCtx();
    if (compressor->zstd == NULL) {
        step_compressor_destroy(compressor);
        *out = NULL;
        return STEP_STATUS_NO_MEMORY;
    }
#else
    if (method == STEP_COMPRESSION_ZSTD)
        compressor->method = STEP_COMPRESSION_ZLIB;
    compressor->level = level != 0 ? level : ZLIB_LEVEL;
#endif
    if (compressor->method == STEP_COMPRESSION_ZLIB && compressor->level > Z_BEST_COMPRESSION)
        compressor->level = Z_BEST_COMPRESSION;
    return STEP_STATUS_OK;
}

void step_compressor_destroy(struct step_compressor *compressor)
{
    if (compressor == NULL)
        return;
    if (compressor->deflate_ready)
        deflateEnd(&compressor->deflate);
#if STEPTRACE_ZSTD
    ZSTD_freeCCtx(compressor->zstd);
#endif
    step_buffer_reset(&compressor->scratch);
    free(compressor);
}

/* Each returns the compressed length, or 0 where that failed or would not be shorter. */
static size_t run_zlib(struct step_compressor *compressor, int level, const uint8_t *data,
                       size_t length, uint8_t *out, size_t room)
{
    if (length > UINT_MAX || room > UINT_MAX)
        return 0;
    z_stream *stream = &compressor->deflate;
    if (!compressor->deflate_ready) {
        if (deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
            return 0;
        compressor->deflate_ready = true;
    } else if (deflateReset(stream) != Z_OK ||
               deflateParams(stream, level, Z_DEFAULT_STRATEGY) != Z_OK) {
        return 0;
    }
    union {
        const uint8_t *in;
        Bytef *out;
    } source = {data}; /* zlib reads through a pointer to non-const */
    stream->next_in = source.out;
    stream->avail_in = (uInt) length;
    stream->next_out = out;
    stream->avail_out = (uInt) room;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? room - stream->avail_out : 0;
}

static size_t run(struct step_compressor *compressor, int level, const uint8_t *data, size_t length,
                  uint8_t *out, size_t room)
{
    if (compressor->method == STEP_COMPRESSION_ZLIB)
        return run_zlib(compressor, level, data, length, out, room);
#if STEPTRACE_ZSTD
    if (compressor->method == STEP_COMPRESSION_ZSTD) {
        size_t result = ZSTD_compressCCtx(compressor->zstd, out, room, data, length, level);
        return ZSTD_isError(result) ? 0 : result;
    }
#endif
    return 0;
}

enum step_status step_compress(struct step_compressor *compressor, const uint8_t *data,
                               size_t length, struct step_buffer *out,
                               enum step_compression *method)
{
    *method = STEP_COMPRESSION_NONE;
    if (!step_buffer_reserve(out, length))
        return STEP_STATUS_NO_MEMORY;
    size_t result = length < WORTH_TRYING ? 0
                                          : run(compressor, compressor->level, data, length,
                                                out->data + out->length, length - 1);
    if (result > 0)
        *method = compressor->method;
    else if (length > 0)
        memcpy(out->data + out->length, data, result = length);
    out->length += result;
    return STEP_STATUS_OK;
}

size_t step_compress_estimate(struct step_compressor *compressor, const uint8_t *data,
                              size_t length)
{
    compressor->scratch.length = 0;
    if (length < WORTH_TRYING || !step_buffer_reserve(&compressor->scratch, length))
        return length;
    size_t result = run(compressor, 1, data, length, compressor->scratch.data, length - 1);
    return result > 0 ? result : length;
}

enum step_status step_decompressor_create(struct step_decompressor **out)
{
    struct step_decompressor *decompressor = calloc(1, sizeof *decompressor);
    *out = decompressor;
    if (decompressor == NULL)
        return STEP_STATUS_NO_MEMORY;
#if STEPTRACE_ZSTD
    decompressor->zstd = ZSTD_createDCtx();
    if (decompressor->zstd == NULL) {
        free(decompressor);
        *out = NULL;
        return STEP_STATUS_NO_MEMORY;
    }
#endif
    return STEP_STATUS_OK;
}

void step_decompressor_destroy(struct step_decompressor *decompressor)
{
    if (decompressor == NULL)
        return;
    if (decompressor->inflate_ready)
        inflateEnd(&decompressor->inflate);
#if STEPTRACE_ZSTD
    ZSTD_freeDCtx(decompressor->zstd);
#endif
    free(decompressor);
}

static enum step_status undo_zlib(struct step_decompressor *decompressor, const uint8_t *data,
                                  size_t length, uint8_t *raw, size_t raw_length)
{
    if (length > UINT_MAX || raw_length > UINT_MAX)
        return STEP_STATUS_CORRUPT;
    z_stream *stream = &decompressor->inflate;
    if (!decompressor->inflate_ready) {
        if (inflateInit(stream) != Z_OK)
            return STEP_STATUS_NO_MEMORY;
        decompressor->inflate_ready = true;
    } else if (inflateReset(stream) != Z_OK) {
        return STEP_STATUS_NO_MEMORY;
    }
    union {
        const uint8_t *in;
        Bytef *out;
    } source = {data};
    stream->next_in = source.out;
    stream->avail_in = (uInt) length;
    stream->next_out = raw;
    stream->avail_out = (uInt) raw_length;
    bool whole = inflate(stream, Z_FINISH) == Z_STREAM_END && stream->avail_out == 0 &&
                 stream->avail_in == 0;
    return whole ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
}

enum step_status step_decompress(struct step_decompressor *decompressor, uint64_t method,
                                 const uint8_t *data, size_t length, uint8_t *raw,
                                 size_t raw_length)
{
    switch (method) {
    case STEP_COMPRESSION_NONE:
        if (length != raw_length)
            return STEP_STATUS_CORRUPT;
        if (length > 0)
            memcpy(raw, data, length);
        return STEP_STATUS_OK;
    case STEP_COMPRESSION_ZLIB:
        return undo_zlib(decompressor, data, length, raw, raw_length);
#if STEPTRACE_ZSTD
    case STEP_COMPRESSION_ZSTD: {
        size_t result = ZSTD_decompressDCtx(decompressor->zstd, raw, raw_length, data, length);
        return result == raw_length ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
    }
#endif
    default:
        return STEP_STATUS_UNSUPPORTED;
    }
}
