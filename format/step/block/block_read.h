/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder for blocks.  The bytes are untrusted: every number is checked before use.  A checksum
 * protects from damage, not from a file that somebody made to do harm. */
#ifndef FORMAT_STEP_BLOCK_BLOCK_READ_H
#define FORMAT_STEP_BLOCK_BLOCK_READ_H

#include "format/step/columns/columns_of_records.h"
#include "format/step/columns/decoding.h"
#include "steptrace/reader.h"

/* The record types of a block, from its summary. */
struct step_summary {
    const uint8_t *bytes; /* pairs of varints, `count` of them; checked */
    size_t length;
    uint64_t count;
};

/* Checks a summary against the header.  On failure sets the reason. */
bool step_summary_parse(const uint8_t *bytes, const struct step_block_header *header,
                        size_t record_types, struct step_summary *summary, const char **fault);

/* Fills `counts` from a checked summary, `summary->count` of them. */
void step_summary_counts(const struct step_summary *summary, struct step_record_count *counts);

enum step_status step_block_reader_init(struct step_block_reader *reader,
                                        const struct step_plan *plan);
void step_block_reader_reset(struct step_block_reader *reader);
/* A part of a block that this library cannot decode. */
struct step_block_gap {
    uint64_t records; /* skipped records */
    char message[120];
};

/* The requested parts of a block, as in step_reader_load() and step_reader_load_fields(). */
struct step_block_request {
    const uint8_t *wanted;
    const uint8_t *const *fields; /* if not NULL, used instead of `wanted` */
};

/* Decodes a block of layout COLUMNS or ROWS. */
enum step_status step_block_decode(struct step_block_reader *reader,
                                   const struct step_payload *payload,
                                   const struct step_block_request *request, uint64_t memory_limit,
                                   struct step_block *block, struct step_block_gap *gap,
                                   struct step_error *error);

/* Appends the bytes of a block of layout BYTES to `out`, at most `most`. */
enum step_status step_block_decode_bytes(struct step_block_reader *reader,
                                         const struct step_payload *payload, uint64_t most,
                                         struct step_buffer *out, struct step_error *error);

#endif
