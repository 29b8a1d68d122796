/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed parts of a trace file (docs/formats/step.md): file header, block header, footer.
 *
 * A trace may be cut at any byte, or damaged in the middle, and the rest must still be readable.
 * So each part can be found and judged by itself.  A block header has a magic number to search for
 * and a checksum of its own, and says how long the block is, which records of which stream it has,
 * and of which time.  Even if the payload is lost, a reader knows what is missing.  A data block
 * decodes without any other data block.
 */
#ifndef FORMAT_STEP_LAYOUT_H
#define FORMAT_STEP_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STEP_FILE_HEADER_BYTES = 32,
    STEP_BLOCK_HEADER_BYTES = 96,
    STEP_FOOTER_BYTES = 32,
    STEP_FILE_VERSION = 1,
    STEP_BLOCK_MAGIC_BYTES = 4,
};

extern const uint8_t step_file_magic[8];
extern const uint8_t step_block_magic[STEP_BLOCK_MAGIC_BYTES];
extern const uint8_t step_footer_magic[8];

enum step_block_kind {
    STEP_BLOCK_DEFINITION = 1,
    STEP_BLOCK_PROPERTY = 2,
    STEP_BLOCK_DICTIONARY = 3,
    STEP_BLOCK_DATA = 4,
    STEP_BLOCK_INDEX = 5,
    STEP_BLOCK_RANGES = 6
};

enum step_block_layout { STEP_LAYOUT_BYTES = 0, STEP_LAYOUT_COLUMNS = 1, STEP_LAYOUT_ROWS = 2 };

/* Limits that readers enforce and writers observe (docs/formats/step.md). A hostile file of a few
 * bytes can claim any sizes; with these, what a reader may be asked for is known.  Writers keep to
 * the same limits, so that no file of theirs is refused: they begin a new block, or refuse a
 * record, where a reader would have to. */
#define STEP_MAX_BLOCK_RECORDS (UINT64_C(16) << 20)
#define STEP_MAX_DICTIONARY_BLOCK_RECORDS (UINT64_C(1) << 20)
#define STEP_MAX_BLOCK_MEMORY (UINT64_C(1) << 30)
/* Of all decoded blocks of one reader, dictionaries included; the limit grows with the file's
 * stored bytes. */
#define STEP_MAX_READER_MEMORY (UINT64_C(768) << 20)
#define STEP_READER_MEMORY_FACTOR UINT64_C(256)
#define STEP_MAX_RECORD_BYTES (STEP_MAX_BLOCK_MEMORY / 8) /* while it waits for its block */
#define STEP_MAX_RECORD_DECODED (UINT64_C(448) << 20)
#define STEP_MAX_DICTIONARY_MEMORY (UINT64_C(1) << 30)
/* Ids without an entry that blocks of dictionaries skip: a constant, and for each byte of the file.
 */
#define STEP_DICTIONARY_GAPS (4 * STEP_MAX_DICTIONARY_BLOCK_RECORDS)
#define STEP_DICTIONARY_GAPS_PER_BYTE 64u
#define STEP_MAX_DEFINITION_BYTES (UINT64_C(16) << 20)
#define STEP_MAX_PROPERTY_BYTES (UINT64_C(64) << 20) /* in one block */
#define STEP_MAX_FIELDS (1u << 22)                   /* of all record types, inherited ones too */
#define STEP_MAX_NODES (1u << 18)                    /* values of all fields, at all depths */
#define STEP_MAX_RECORD_TYPES 65535u
#define STEP_MAX_COLUMNS 65536u
#define STEP_MAX_NESTING 32u
#define STEP_MAX_COLUMN_CHAIN 256u /* length of a chain of columns that need each other */
#define STEP_MAX_TREE_DEPTH 1000u
#define STEP_MAX_TREE_VALUES (UINT64_C(1) << 20)

struct step_block_header {
    uint8_t kind;
    uint8_t layout;
    uint32_t summary_bytes; /* of the payload's first part */
    uint64_t payload_bytes; /* summary included */
    uint64_t record_count;
    uint64_t stream;       /* in a dictionary block: the record type */
    uint64_t first_record; /* in a dictionary block: the first entry's id, less 1 */
    uint64_t time_min;
    uint64_t time_max;
    uint64_t thread_min;
    uint64_t thread_max;
    uint32_t summary_checksum; /* low half of the summary's checksum */
    uint64_t payload_checksum;
};

void step_file_header_pack(uint8_t out[STEP_FILE_HEADER_BYTES]);
/* Result of checking a file header: 0 if it is valid and of this version, else the fault. */
enum step_file_header_fault {
    STEP_FILE_HEADER_GOOD,
    STEP_FILE_HEADER_FOREIGN, /* a different kind of file */
    STEP_FILE_HEADER_MANGLED, /* a trace that was damaged, or converted as text */
    STEP_FILE_HEADER_VERSION, /* a later version */
};
enum step_file_header_fault step_file_header_check(const uint8_t *in, size_t length);

void step_block_header_pack(const struct step_block_header *header,
                            uint8_t out[STEP_BLOCK_HEADER_BYTES]);
/* Decodes a block header.  Returns false if magic or checksum are wrong. */
bool step_block_header_unpack(const uint8_t in[STEP_BLOCK_HEADER_BYTES],
                              struct step_block_header *header);

void step_footer_pack(uint64_t index_offset, uint64_t file_bytes, uint8_t out[STEP_FOOTER_BYTES]);
bool step_footer_unpack(const uint8_t in[STEP_FOOTER_BYTES], uint64_t *index_offset,
                        uint64_t *file_bytes);

#endif
