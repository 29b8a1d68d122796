/* SPDX-License-Identifier: Apache-2.0 */
/* A field is a key, (number << 3) | wire type, and a value. */
#include "converter/base/protobuf_output.h"

#include "converter/base/utf8_text.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

void protobuf_reset(struct protobuf *message)
{
    step_buffer_reset(&message->bytes);
    step_buffer_reset(&message->text);
}

static void append(struct protobuf *message, const void *data, size_t length)
{
    if (length > 0 && !step_buffer_append(&message->bytes, data, length))
        message->failed = true;
}

void protobuf_varint(struct protobuf *message, uint64_t value)
{
    if (!step_buffer_append_varint(&message->bytes, value))
        message->failed = true;
}

static void put_key(struct protobuf *message, unsigned field, enum wire_type type)
{
    protobuf_varint(message, (uint64_t) field << 3 | type);
}

void protobuf_number(struct protobuf *message, unsigned field, uint64_t value)
{
    put_key(message, field, WIRE_VARINT);
    protobuf_varint(message, value);
}

void protobuf_fixed64(struct protobuf *message, unsigned field, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t) (value >> (8 * i));
    put_key(message, field, WIRE_FIXED64);
    append(message, bytes, sizeof bytes);
}

void protobuf_bytes(struct protobuf *message, unsigned field, struct step_bytes bytes)
{
    put_key(message, field, WIRE_BYTES);
    protobuf_varint(message, bytes.length);
    append(message, bytes.data, bytes.length);
}

void protobuf_text(struct protobuf *message, unsigned field, struct step_bytes text)
{
    message->text.length = 0;
    if (!utf8_append(&message->text, text))
        message->failed = true;
    protobuf_bytes(message, field, (struct step_bytes){message->text.data, message->text.length});
}

void protobuf_part(struct protobuf *message, unsigned field, const struct protobuf *part)
{
    message->failed = message->failed || part->failed;
    protobuf_bytes(message, field, (struct step_bytes){part->bytes.data, part->bytes.length});
}

/* ---- the outermost message ---- */

static void write_varint(FILE *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        putc((int) (0x80 | (value & 0x7f)), out);
    putc((int) value, out);
}

static uint64_t varint_size(uint64_t value)
{
    uint64_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
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

void protobuf_write_part(FILE *out, unsigned field, const struct protobuf *part)
{
    protobuf_write_head(out, field, part->bytes.length);
    if (part->bytes.length > 0)
        fwrite(part->bytes.data, 1, part->bytes.length, out);
}

uint64_t protobuf_field_size(unsigned field, uint64_t length)
{
    return varint_size((uint64_t) field << 3) + varint_size(length) + length;
}
