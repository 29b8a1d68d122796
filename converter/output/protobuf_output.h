/* SPDX-License-Identifier: Apache-2.0 */
/* Writes messages in the encoding of Protocol Buffers, for the formats that use it. */
#ifndef CONVERTER_OUTPUT_PROTOBUF_OUTPUT_H
#define CONVERTER_OUTPUT_PROTOBUF_OUTPUT_H

#include <stdint.h>
#include <stdio.h>

#include "converter/output/byte_output.h"

/* A message, or the values of a packed field, which are varints, is a struct byte_output. */

/* Add a field to the message. */
void protobuf_number(struct byte_output *message, unsigned field, uint64_t value);
void protobuf_fixed64(struct byte_output *message, unsigned field, uint64_t value);
void protobuf_bytes(struct byte_output *message, unsigned field, struct step_bytes bytes);
/* Replaces invalid UTF-8 by U+FFFD, as the type `string` allows none. */
void protobuf_text(struct byte_output *message, unsigned field, struct step_bytes text);
/* Adds a part that is a message or a packed field, and its failure. */
void protobuf_part(struct byte_output *message, unsigned field, const struct byte_output *part);

/* Write a field of the outermost message.  Errors are those of the stream. */
void protobuf_write_number(FILE *out, unsigned field, uint64_t value);
void protobuf_write_part(FILE *out, unsigned field, const struct byte_output *part);
/* Writes the key and length of a field whose bytes the caller writes next. */
void protobuf_write_head(FILE *out, unsigned field, uint64_t length);
/* Returns the number of bytes of that head and of what follows it. */
uint64_t protobuf_field_size(unsigned field, uint64_t length);

#endif
