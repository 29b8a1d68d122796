/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compression by xz, as a bare LZMA2 stream without header and checksum, as the block has both.
 * pb=0 because the bytes of columns have no alignment.
 */
#include <lzma.h>
#include <string.h>

#include "format/core/compress_method.h"

/* Both sides use the same dictionary size, so it is not stored. */
enum { DICTIONARY_BYTES = 64 << 20, MOST_LEVEL = 9 };

static bool set_options(lzma_options_lzma *options, lzma_filter filters[2], uint32_t preset,
                        size_t length)
{
    if (lzma_lzma_preset(options, preset))
        return false;
    options->dict_size = length < LZMA_DICT_SIZE_MIN ? LZMA_DICT_SIZE_MIN
                         : length < DICTIONARY_BYTES ? (uint32_t) length
                                                     : DICTIONARY_BYTES;
    options->pb = 0;
    options->lc = 4;
    options->lp = 0;
    filters[0] = (lzma_filter){.id = LZMA_FILTER_LZMA2, .options = options};
    filters[1] = (lzma_filter){.id = LZMA_VLI_UNKNOWN};
    return true;
}

static size_t compress_xz(void **context, int level, const uint8_t *data, size_t length,
                          uint8_t *out, size_t room)
{
    lzma_options_lzma options;
    lzma_filter filters[2];
    size_t written = 0;
    uint32_t preset = (uint32_t) level | (level >= MOST_LEVEL ? LZMA_PRESET_EXTREME : 0);
    (void) context;
    if (!set_options(&options, filters, preset, length))
        return 0;
    return lzma_raw_buffer_encode(filters, NULL, data, length, out, &written, room) == LZMA_OK
               ? written
               : 0;
}

static enum step_status decompress_xz(void **context, const uint8_t *data, size_t length,
                                      uint8_t *raw, size_t raw_length)
{
    lzma_options_lzma options;
    lzma_filter filters[2];
    size_t read = 0;
    size_t written = 0;
    (void) context;
    if (!set_options(&options, filters, 0, raw_length))
        return STEP_STATUS_NO_MEMORY;
    lzma_ret result =
        lzma_raw_buffer_decode(filters, NULL, data, &read, length, raw, &written, raw_length);
    if (result == LZMA_MEM_ERROR)
        return STEP_STATUS_NO_MEMORY;
    return result == LZMA_OK && read == length && written == raw_length ? STEP_STATUS_OK
                                                                        : STEP_STATUS_CORRUPT;
}

static void free_nothing(void *context)
{
    (void) context;
}

const struct step_method step_method_xz = {
    .id = STEP_COMPRESSION_XZ,
    .default_level = 6,
    .quick_level = 1,
    .most_level = MOST_LEVEL,
    .level_for_dense = 6,
    .compress = compress_xz,
    .free_compressor = free_nothing,
    .decompress = decompress_xz,
    .free_decompressor = free_nothing,
};
