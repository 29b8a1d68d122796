/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks from bytes.  All bytes are hostile: every number is checked before it is used. */
#ifndef STEP_STEP_BLOCK_READ_H
#define STEP_STEP_BLOCK_READ_H

#include "format/step/block/block_arena.h"
#include "format/step/columns/columns_of_records.h"
#include "format/step/layout.h"
#include "steptrace/reader.h"

/* The record types of a block, as its summary says. */
struct step_summary {
    const uint8_t *bytes; /* pairs of varints, `count` of them; checked */
    size_t length;
    uint64_t count;
};

/* Checks a summary against the header; on failure says what is wrong. */
bool step_summary_parse(const uint8_t *bytes, const struct step_block_header *header,
                        size_t record_types, struct step_summary *summary, const char **fault);

/* Fills `counts` with those of a checked summary, `summary->count` of them. */
void step_summary_counts(const struct step_summary *summary, struct step_record_count *counts);

struct step_row_reader;

/* What decoding needs, kept from block to block. */
struct step_block_reader {
    const struct step_plan *plan;
    struct step_decompressor *decompressor;
    struct step_scratch scratch;
    struct step_arena temporary;  /* of one decoding */
    struct step_row_reader *rows; /* made when first used */
};

enum step_status step_block_reader_init(struct step_block_reader *reader,
                                        const struct step_plan *plan);
void step_block_reader_reset(struct step_block_reader *reader);
void step_row_reader_destroy(struct step_row_reader *rows);

/* A slot's values, one for each record that has the slot; `step` 0: all are the same. */
struct step_slot_cursor {
    const uint64_t *next;
    size_t step;
};

struct step_block_type {
    uint32_t record;
    bool wanted;
    uint64_t count;
    size_t slot_count;
    struct step_slot_cursor **slots; /* of a wanted type: one for each slot; else those to move */
};

struct step_block {
    struct step_arena arena;
    uint16_t *types; /* NULL: all records are of the first type */
    uint64_t record_count;
    uint64_t at;
    struct step_block_type *block_types;
    size_t type_count;
    uint64_t *slots; /* of the record given last */
};

/* Where part of a block cannot be decoded by this library. */
struct step_block_gap {
    uint64_t records; /* passed over */
    char message[120];
};

/* A payload in memory, whose checksum is good, and where it stands in the file. */
struct step_payload {
    const struct step_block_header *header;
    const uint8_t *bytes;
    uint64_t offset;
    const char *file;
};

/* Decodes a block of layout COLUMNS or ROWS.  `wanted` as in step_reader_load(). */
enum step_status step_block_decode(struct step_block_reader *reader,
                                   const struct step_payload *payload, const uint8_t *wanted,
                                   uint64_t memory_limit, struct step_block *block,
                                   struct step_block_gap *gap, struct step_error *error);

/* The compressed bytes after a block's summary (layouts BYTES and ROWS), appended to `out` (at most
 * `most`). */
enum step_status step_block_expand(struct step_block_reader *reader,
                                   const struct step_payload *payload, uint64_t most,
                                   struct step_buffer *out, struct step_error *error);

/* The bytes of a block of layout BYTES, appended to `out` (at most `most`). */
enum step_status step_block_decode_bytes(struct step_block_reader *reader,
                                         const struct step_payload *payload, uint64_t most,
                                         struct step_buffer *out, struct step_error *error);

#endif
