/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bzip3: a block-sorting compressor with context mixing.  Only versions from 1.2.3 on are used:
 * earlier ones crash on hostile data.
 */
#include <libbz3.h>
#include <stdlib.h>
#include <string.h>

#include "compress_method.h"

enum { BLOCK_LEAST = 65 << 10, BLOCK_MOST = 64 << 20 };

/* Both sides derive the block size from the length. */
static int32_t block_size_of(size_t length)
{
    return length < BLOCK_LEAST ? BLOCK_LEAST : (int32_t) length;
}

static size_t compress_bzip3(void **context, int level, const uint8_t *data, size_t length,
                             uint8_t *out, size_t room)
{
    size_t result = 0;
    (void) context;
    (void) level;
    if (length > BLOCK_MOST)
        return 0;
    struct bz3_state *state = bz3_new(block_size_of(length));
    uint8_t *buffer = malloc(bz3_bound(length));
    if (state != NULL && buffer != NULL) {
        memcpy(buffer, data, length);
        int32_t size = bz3_encode_block(state, buffer, (int32_t) length);
        if (size > 0 && (size_t) size <= room)
            memcpy(out, buffer, result = (size_t) size);
    }
    free(buffer);
    if (state != NULL)
        bz3_free(state);
    return result;
}

static enum step_status decompress_bzip3(void **context, const uint8_t *data, size_t length,
                                         uint8_t *raw, size_t raw_length)
{
    enum step_status status = STEP_STATUS_CORRUPT;
    (void) context;
    if (raw_length > BLOCK_MOST || length > bz3_bound(raw_length))
        return status;
    struct bz3_state *state = bz3_new(block_size_of(raw_length));
    uint8_t *buffer = malloc(bz3_bound(raw_length));
    if (state == NULL || buffer == NULL) {
        status = STEP_STATUS_NO_MEMORY;
    } else {
        memcpy(buffer, data, length);
        int32_t size = bz3_decode_block(state, buffer, (int32_t) length, (int32_t) raw_length);
        if (size >= 0 && (size_t) size == raw_length) {
            memcpy(raw, buffer, raw_length);
            status = STEP_STATUS_OK;
        }
    }
    free(buffer);
    if (state != NULL)
        bz3_free(state);
    return status;
}

static void free_nothing(void *context)
{
    (void) context;
}

const struct step_method step_method_bzip3 = {
    .id = STEP_COMPRESSION_BZIP3,
    .default_level = 1,
    .quick_level = 1,
    .most_level = 1,
    .compress = compress_bzip3,
    .free_compressor = free_nothing,
    .decompress = decompress_bzip3,
    .free_decompressor = free_nothing,
};
