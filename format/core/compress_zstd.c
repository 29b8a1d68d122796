/* SPDX-License-Identifier: Apache-2.0 */
/* Compression by zstd, the default. */
#include <zstd.h>

#include "format/core/compress_method.h"

enum { DEFAULT_LEVEL = 5 };

static size_t compress_zstd(void **context, int level, const uint8_t *data, size_t length,
                            uint8_t *out, size_t room)
{
    if (*context == NULL)
        *context = ZSTD_createCCtx();
    if (*context == NULL)
        return 0;
    size_t result = ZSTD_compressCCtx(*context, out, room, data, length, level);
    return ZSTD_isError(result) ? 0 : result;
}

/* Short matches in dense bytes are accidental, and searching only long ones is faster.
 * ZSTD_compressCCtx() ignores parameters, hence ZSTD_compress2(). */
static size_t compress_dense(void **context, const uint8_t *data, size_t length, uint8_t *out,
                             size_t room)
{
    enum { LEAST_MATCH = 6, TABLE_BITS = 15, FEW = 32 << 10 };
    if (*context == NULL)
        *context = ZSTD_createCCtx();
    if (*context == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(*context, ZSTD_c_compressionLevel, DEFAULT_LEVEL)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(*context, ZSTD_c_strategy,
                                            length <= FEW ? ZSTD_dfast : ZSTD_greedy)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(*context, ZSTD_c_minMatch, LEAST_MATCH)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(*context, ZSTD_c_hashLog, TABLE_BITS)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(*context, ZSTD_c_chainLog, TABLE_BITS)))
        return 0;
    size_t result = ZSTD_compress2(*context, out, room, data, length);
    return ZSTD_isError(result) ? 0 : result;
}

static void free_compressor(void *context)
{
    ZSTD_freeCCtx(context);
}

static enum step_status decompress_zstd(void **context, const uint8_t *data, size_t length,
                                        uint8_t *raw, size_t raw_length)
{
    if (*context == NULL)
        *context = ZSTD_createDCtx();
    if (*context == NULL)
        return STEP_STATUS_NO_MEMORY;
    size_t result = ZSTD_decompressDCtx(*context, raw, raw_length, data, length);
    return result == raw_length ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
}

static void free_decompressor(void *context)
{
    ZSTD_freeDCtx(context);
}

const struct step_method step_method_zstd = {
    .id = STEP_COMPRESSION_ZSTD,
    .default_level = DEFAULT_LEVEL,
    .quick_level = 1,
    .most_level = 19,
    .compress = compress_zstd,
    .compress_dense = compress_dense,
    .free_compressor = free_compressor,
    .decompress = decompress_zstd,
    .free_decompressor = free_decompressor,
};
