/* SPDX-License-Identifier: Apache-2.0 */
/* Writes messages in the encoding of Protocol Buffers, for the formats that use it. */
#ifndef CONVERTER_BASE_PROTOBUF_OUTPUT_H
#define CONVERTER_BASE_PROTOBUF_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/core/bytes.h"
#include "steptrace/value.h"

/* A message, or the values of a packed field.  Zero-initialise. */
struct protobuf {
    struct step_buffer bytes;
    struct step_buffer text; /* scratch */
    bool failed;             /* memory ran out: the message is not complete */
};

void protobuf_reset(struct protobuf *message); /* frees the storage */
/* Makes the message empty, and keeps the storage. */
static inline void protobuf_clear(struct protobuf *message)
{
    message->bytes.length = 0;
}

/* Add a field to the message. */
void protobuf_number(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_fixed64(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned field, struct step_bytes bytes);
/* Replaces invalid UTF-8 by U+FFFD, as the type `string` allows none. */
void protobuf_text(struct protobuf *message, unsigned field, struct step_bytes text);
/* Adds a part that is a message or a packed field, and its failure. */
void protobuf_part(struct protobuf *message, unsigned field, const struct protobuf *part);
/* Adds a value of a packed field, without key. */
void protobuf_varint(struct protobuf *message, uint64_t value);

/* Write a field of the outermost message.  Errors are those of the stream. */
void protobuf_write_number(FILE *out, unsigned field, uint64_t value);
void protobuf_write_part(FILE *out, unsigned field, const struct protobuf *part);
/* Writes the key and length of a field whose bytes the caller writes next. */
void protobuf_write_head(FILE *out, unsigned field, uint64_t length);
/* Returns the number of bytes of that head and of what follows it. */
uint64_t protobuf_field_size(unsigned field, uint64_t length);

#endif
