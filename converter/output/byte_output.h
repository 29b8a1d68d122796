/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that binary formats append to, one value after the other.  The first lack of memory stays,
 * so that only the end has to ask for it. */
#ifndef CONVERTER_OUTPUT_BYTE_OUTPUT_H
#define CONVERTER_OUTPUT_BYTE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/bytes.h"
#include "steptrace/value.h"

/* Zero-initialise. */
struct byte_output {
    struct step_buffer bytes;
    struct step_buffer text; /* scratch */
    bool failed;             /* memory ran out: something is missing */
};

void bytes_reset(struct byte_output *out); /* frees the storage */

/* Makes it empty, and keeps the storage. */
static inline void bytes_clear(struct byte_output *out)
{
    out->bytes.length = 0;
}

static inline struct step_bytes bytes_of(const struct byte_output *out)
{
    return (struct step_bytes){out->bytes.data, out->bytes.length};
}

void bytes_put(struct byte_output *out, const void *data, size_t length);
/* Makes room for `length` bytes, which the caller writes to the result; NULL if memory runs out. */
uint8_t *bytes_put_room(struct byte_output *out, size_t length);
void bytes_put_varint(struct byte_output *out, uint64_t value);
/* Put the lowest `length` bytes of a number, at most 8: the lowest first, or the highest first. */
void bytes_put_little(struct byte_output *out, uint64_t value, size_t length);
void bytes_put_big(struct byte_output *out, uint64_t value, size_t length);
/* Puts 64-bit numbers, each with its lowest byte first. */
void bytes_put_numbers(struct byte_output *out, const uint64_t *numbers, size_t count);
/* Puts what another one has, and its failure. */
void bytes_put_part(struct byte_output *out, const struct byte_output *part);
/* Returns the text as valid UTF-8 (utf8_text.h), until the next call. */
struct step_bytes bytes_valid_text(struct byte_output *out, struct step_bytes text);

#endif
