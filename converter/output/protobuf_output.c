/* SPDX-License-Identifier: Apache-2.0 */
/* A field is a key, (number << 3) | wire type, and a value. */
#include "converter/output/protobuf_output.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void put_key(struct byte_output *message, unsigned field, enum wire_type type)
{
    bytes_put_varint(message, (uint64_t) field << 3 | type);
}

void protobuf_number(struct byte_output *message, unsigned field, uint64_t value)
{
    put_key(message, field, WIRE_VARINT);
    bytes_put_varint(message, value);
}

void protobuf_fixed64(struct byte_output *message, unsigned field, uint64_t value)
{
    put_key(message, field, WIRE_FIXED64);
    bytes_put_little(message, value, sizeof value);
}

void protobuf_bytes(struct byte_output *message, unsigned field, struct step_bytes bytes)
{
    put_key(message, field, WIRE_BYTES);
    bytes_put_varint(message, bytes.length);
    bytes_put(message, bytes.data, bytes.length);
}

void protobuf_text(struct byte_output *message, unsigned field, struct step_bytes text)
{
    protobuf_bytes(message, field, bytes_valid_text(message, text));
}

void protobuf_part(struct byte_output *message, unsigned field, const struct byte_output *part)
{
    message->failed = message->failed || part->failed;
    protobuf_bytes(message, field, bytes_of(part));
}

/* ---- the outermost message ---- */

static size_t varint_size(uint64_t value)
{
    uint8_t bytes[STEP_VARINT_MAX];
    return (size_t) (step_varint_put(bytes, value) - bytes);
}

static void write_varint(FILE *out, uint64_t value)
{
    uint8_t bytes[STEP_VARINT_MAX];
    step_varint_put(bytes, value);
    fwrite(bytes, 1, varint_size(value), out);
}

void protobuf_write_number(FILE *out, unsigned field, uint64_t value)
{
    write_varint(out, (uint64_t) field << 3 | WIRE_VARINT);
    write_varint(out, value);
}

void protobuf_write_head(FILE *out, unsigned field, uint64_t length)
{
    write_varint(out, (uint64_t) field << 3 | WIRE_BYTES);
    write_varint(out, length);
}

void protobuf_write_part(FILE *out, unsigned field, const struct byte_output *part)
{
    protobuf_write_head(out, field, part->bytes.length);
    if (part->bytes.length > 0)
        fwrite(part->bytes.data, 1, part->bytes.length, out);
}

uint64_t protobuf_field_size(unsigned field, uint64_t length)
{
    return varint_size((uint64_t) field << 3) + varint_size(length) + length;
}
