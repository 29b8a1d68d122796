/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes the fixed parts of a trace file. */
#include "format/step/layout.h"

#include <string.h>

#include "format/core/bytes.h"
#include "format/core/checksum.h"

/* A byte over 127, the name, and line ends, which careless transfers change: a transfer of 7 bits
 * loses the first, one as text turns "\r\n" or "\n" into the other, and some end at 0x1a.  The
 * magics of blocks and of the footer begin with other bytes over 127. */
const uint8_t step_file_magic[8] = {0x9e, 'S', 'T', 'P', '\r', '\n', 0x1a, '\n'};
const uint8_t step_block_magic[STEP_BLOCK_MAGIC_BYTES] = {0xb5, 'b', 0xd3, 0x0c};
const uint8_t step_footer_magic[8] = {0xe5, 'S', 'T', 'P', 'E', 'N', 'D', '\n'};

void step_file_header_pack(uint8_t out[STEP_FILE_HEADER_BYTES])
{
    memset(out, 0, STEP_FILE_HEADER_BYTES);
    memcpy(out, step_file_magic, sizeof step_file_magic);
    step_store_u16(out + 8, STEP_FILE_VERSION);
    step_store_u16(out + 12, STEP_FILE_HEADER_BYTES);
    step_store_u64(out + 24, step_checksum(out, 24));
}

/* The name alone distinguishes a mangled trace from a foreign file: the user gets another message
 * for each. The version is read only when the checksum is right, since damage must not look like a
 * later version. */
enum step_file_header_fault step_file_header_check(const uint8_t *in, size_t length)
{
    if (length < 4 || memcmp(in, step_file_magic, 4) != 0) {
        bool named = length >= 4 && memcmp(in + 1, step_file_magic + 1, 3) == 0;
        return named ? STEP_FILE_HEADER_MANGLED : STEP_FILE_HEADER_FOREIGN;
    }
    if (length < STEP_FILE_HEADER_BYTES ||
        memcmp(in, step_file_magic, sizeof step_file_magic) != 0 ||
        step_load_u64(in + 24) != step_checksum(in, 24))
        return STEP_FILE_HEADER_MANGLED;
    if (step_load_u16(in + 8) != STEP_FILE_VERSION ||
        step_load_u16(in + 12) != STEP_FILE_HEADER_BYTES)
        return STEP_FILE_HEADER_VERSION;
    return STEP_FILE_HEADER_GOOD;
}

void step_block_header_pack(const struct step_block_header *header,
                            uint8_t out[STEP_BLOCK_HEADER_BYTES])
{
    memcpy(out, step_block_magic, sizeof step_block_magic);
    out[4] = header->kind;
    out[5] = header->layout;
    step_store_u16(out + 6, 0);
    step_store_u32(out + 8, header->summary_bytes);
    step_store_u32(out + 12, header->summary_checksum);
    step_store_u64(out + 16, header->payload_bytes);
    step_store_u64(out + 24, header->payload_checksum);
    step_store_u64(out + 32, header->record_count);
    step_store_u64(out + 40, header->stream);
    step_store_u64(out + 48, header->first_record);
    step_store_u64(out + 56, header->time_min);
    step_store_u64(out + 64, header->time_max);
    step_store_u64(out + 72, header->thread_min);
    step_store_u64(out + 80, header->thread_max);
    step_store_u64(out + 88, step_checksum(out, 88));
}

/* The magic comes first: a search calls this at many places, and few get to the checksum.  The
 * limit of the length keeps sums of offsets and lengths from overflowing. */
bool step_block_header_unpack(const uint8_t in[STEP_BLOCK_HEADER_BYTES],
                              struct step_block_header *header)
{
    if (memcmp(in, step_block_magic, sizeof step_block_magic) != 0 ||
        step_load_u64(in + 88) != step_checksum(in, 88))
        return false;
    *header = (struct step_block_header){
        .kind = in[4],
        .layout = in[5],
        .summary_bytes = step_load_u32(in + 8),
        .summary_checksum = step_load_u32(in + 12),
        .payload_bytes = step_load_u64(in + 16),
        .payload_checksum = step_load_u64(in + 24),
        .record_count = step_load_u64(in + 32),
        .stream = step_load_u64(in + 40),
        .first_record = step_load_u64(in + 48),
        .time_min = step_load_u64(in + 56),
        .time_max = step_load_u64(in + 64),
        .thread_min = step_load_u64(in + 72),
        .thread_max = step_load_u64(in + 80),
    };
    return header->summary_bytes <= header->payload_bytes &&
           header->payload_bytes <= UINT64_MAX / 2;
}

void step_footer_pack(uint64_t index_offset, uint64_t file_bytes, uint8_t out[STEP_FOOTER_BYTES])
{
    step_store_u64(out, index_offset);
    step_store_u64(out + 8, file_bytes);
    step_store_u64(out + 16, step_checksum(out, 16));
    memcpy(out + 24, step_footer_magic, sizeof step_footer_magic);
}

bool step_footer_unpack(const uint8_t in[STEP_FOOTER_BYTES], uint64_t *index_offset,
                        uint64_t *file_bytes)
{
    if (memcmp(in + 24, step_footer_magic, sizeof step_footer_magic) != 0 ||
        step_load_u64(in + 16) != step_checksum(in, 16))
        return false;
    *index_offset = step_load_u64(in);
    *file_bytes = step_load_u64(in + 8);
    return true;
}
