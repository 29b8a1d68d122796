/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the blocks of a trace, as a reader does that has no index. */
#include "tests/fuzz/step/seal.h"

#include <string.h>

#include "format/core/bytes.h"
#include "format/core/checksum.h"
#include "format/step/layout.h"

/* `left`: what the file has after the header. */
static size_t seal_block(uint8_t *head, size_t left)
{
    const uint8_t *start = head + STEP_BLOCK_HEADER_BYTES;
    uint64_t payload = step_load_u64(head + 16);
    uint64_t summary = step_load_u32(head + 8);
    payload = payload <= left ? payload : left;
    summary = summary <= payload ? summary : payload;
    memcpy(head, step_block_magic, sizeof step_block_magic);
    step_store_u32(head + 8, (uint32_t) summary);
    step_store_u32(head + 12, (uint32_t) step_checksum(start, (size_t) summary));
    step_store_u64(head + 16, payload);
    step_store_u64(head + 24, step_checksum(start, (size_t) payload));
    step_store_u64(head + 88, step_checksum(head, 88));
    return STEP_BLOCK_HEADER_BYTES + (size_t) payload;
}

void seal_trace(uint8_t *bytes, size_t length)
{
    if (length < STEP_FILE_HEADER_BYTES)
        return;
    step_file_header_pack(bytes);
    size_t at = STEP_FILE_HEADER_BYTES;
    while (length - at >= STEP_BLOCK_HEADER_BYTES)
        at += seal_block(bytes + at, length - at - STEP_BLOCK_HEADER_BYTES);
}

enum { CHANGES = 8, CHANGE_BYTES = 3 };

size_t seal_head_bytes(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] % 2 == 1 ? 1 + CHANGES * CHANGE_BYTES : 1;
}

void seal_changed_trace(const uint8_t *head, size_t head_bytes, uint8_t *bytes, size_t length)
{
    for (size_t i = 1; i + CHANGE_BYTES <= head_bytes; i += CHANGE_BYTES)
        bytes[(head[i] | (size_t) head[i + 1] << 8) % length] = head[i + 2];
    if (head_bytes > 1)
        seal_trace(bytes, length);
}
