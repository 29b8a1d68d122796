/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: arrays of 64-bit values, or byte strings, encoded through a chain of transforms, a form,
 * and compression.  The coding is described in the file beside the bytes, so a reader need not know
 * how it was chosen.
 */
#ifndef FORMAT_CODEC_COLUMN_H
#define FORMAT_CODEC_COLUMN_H

#include "format/codec/forms/form.h"
#include "format/codec/strategies/candidates.h"
#include "format/core/bytes.h"
#include "format/core/compress.h"

/* The coding of a column in the file. */
struct step_coding {
    struct step_chain chain;
    uint64_t method; /* enum step_compression */
    uint64_t raw_length;
    uint64_t stored_length;
    unsigned strings;    /* for byte strings: flags of packed_strings.h */
    const char *unknown; /* if not NULL: the kind of number that this library does not know */
    uint64_t unknown_number;
    char unknown_name[STEP_TRANSFORM_NAME + 1]; /* as stored in the file; may be "" */
};

/* Prints for example "transform 77 (spiral)", for messages. */
void step_coding_print_unknown(const struct step_coding *coding, char *out, size_t room);

/* Storage shared by calls.  Zero-initialise. */
struct step_scratch {
    uint64_t *work; /* intermediate values */
    size_t work_capacity;
    const uint64_t *result; /* result of a chain: `work`, or its input */
    struct step_buffer raw; /* bytes before compression */
};

void step_scratch_reset(struct step_scratch *scratch);
bool step_scratch_reserve(struct step_scratch *scratch, size_t count);

/* Applies the chain's transforms to `values`. scratch->result is the result: `values` itself if
 * there are none. */
enum step_status step_chain_forward(const struct step_chain *chain,
                                    const struct step_series *series, const uint64_t *values,
                                    size_t count, struct step_scratch *scratch);

/* Encodes scratch->result in the chain's form, compresses it, appends it to `out`, and fills
 * `coding`. */
enum step_status step_column_write(const struct step_chain *chain, size_t count,
                                   struct step_compressor *compressor, struct step_scratch *scratch,
                                   struct step_buffer *out, struct step_coding *coding);
/* Like step_column_write(), for a byte string. */
enum step_status step_column_write_bytes(const uint8_t *bytes, size_t length,
                                         struct step_compressor *compressor,
                                         struct step_buffer *out, struct step_coding *coding);

/* Decodes `count` values from `coding->stored_length` bytes.  `series` may be NULL if no transform
 * uses one. */
enum step_status step_column_read(const struct step_coding *coding, const uint8_t *stored,
                                  const struct step_series *series, uint64_t *values, size_t count,
                                  struct step_decompressor *decompressor,
                                  struct step_scratch *scratch);

/* Appends the description of a coding; all numbers are varints (docs/formats/step.md). */
bool step_coding_append(const struct step_coding *coding, struct step_buffer *out);
/* Parses a description.  Returns false if it is malformed.  An unknown number is not an error; it
 * is noted in `coding`. */
bool step_coding_parse(struct step_cursor *cursor, struct step_coding *coding);

#endif
