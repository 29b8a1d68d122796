/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A column: an array of 64-bit values, or a run of bytes, on its way to and from the file: through
 * a chain of transforms, a form, and compression.  What was done is said in the file beside the
 * bytes, so that reading it back needs no knowledge of how it was chosen.
 */
#ifndef FORMAT_CODEC_COLUMN_H
#define FORMAT_CODEC_COLUMN_H

#include "format/codec/forms/form.h"
#include "format/codec/strategies/candidates.h"
#include "format/core/bytes.h"
#include "format/core/compress.h"

/* How a column stands in the file. */
struct step_coding {
    struct step_chain chain;
    uint64_t method; /* enum step_compression */
    uint64_t raw_length;
    uint64_t stored_length;
    unsigned strings;    /* of a run of bytes: flags of packed_strings.h */
    const char *unknown; /* when not NULL: what kind of number this library does not know */
    uint64_t unknown_number;
    char unknown_name[STEP_TRANSFORM_NAME + 1]; /* as the file tells it; may be "" */
};

/* "transform 77 (spiral)", for messages. */
void step_coding_print_unknown(const struct step_coding *coding, char *out, size_t room);

/* Storage that calls share; zero-initialised is empty. */
struct step_scratch {
    uint64_t *work; /* values under way */
    size_t work_capacity;
    const uint64_t *result; /* what a chain made: `work`, or the values that it was given */
    struct step_buffer raw; /* bytes before compression */
};

void step_scratch_reset(struct step_scratch *scratch);
bool step_scratch_reserve(struct step_scratch *scratch, size_t count);

/* Applies the chain's transforms to `values`.  scratch->result is what comes of it: `values`
 * themselves if there are none. */
enum step_status step_chain_forward(const struct step_chain *chain,
                                    const struct step_series *series, const uint64_t *values,
                                    size_t count, struct step_scratch *scratch);

/* Writes scratch->result in the chain's form, compresses it, appends it to `out`, and fills
 * `coding`. */
enum step_status step_column_write(const struct step_chain *chain, size_t count,
                                   struct step_compressor *compressor, struct step_scratch *scratch,
                                   struct step_buffer *out, struct step_coding *coding);
/* The same for a run of bytes. */
enum step_status step_column_write_bytes(const uint8_t *bytes, size_t length,
                                         struct step_compressor *compressor,
                                         struct step_buffer *out, struct step_coding *coding);

/* Reads `count` values back from `coding->stored_length` bytes.  `series` may be NULL where no
 * transform uses one. */
enum step_status step_column_read(const struct step_coding *coding, const uint8_t *stored,
                                  const struct step_series *series, uint64_t *values, size_t count,
                                  struct step_decompressor *decompressor,
                                  struct step_scratch *scratch);

/* A coding in the file: all numbers are varints (docs/formats/step.md). */
bool step_coding_append(const struct step_coding *coding, struct step_buffer *out);
/* False where the bytes are no coding; an unknown number is not that, it is noted in `coding`. */
bool step_coding_parse(struct step_cursor *cursor, struct step_coding *coding);

#endif
