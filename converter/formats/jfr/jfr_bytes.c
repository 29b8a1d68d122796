/* SPDX-License-Identifier: Apache-2.0 */
/* Appends what a recording consists of to a buffer. */
#include "converter/formats/jfr/jfr_bytes.h"

#include <string.h>

#include "converter/base/utf8_text.h"

enum text_encoding { TEXT_NULL = 0, TEXT_UTF8 = 3 };

void jfr_bytes_reset(struct jfr_bytes *bytes)
{
    step_buffer_reset(&bytes->buffer);
    step_buffer_reset(&bytes->text);
}

static void append(struct jfr_bytes *bytes, const void *data, size_t length)
{
    if (length > 0 && !step_buffer_append(&bytes->buffer, data, length))
        bytes->failed = true;
}

void jfr_put_byte(struct jfr_bytes *bytes, unsigned byte)
{
    const uint8_t one = (uint8_t) byte;
    append(bytes, &one, 1);
}

void jfr_put_number(struct jfr_bytes *bytes, uint64_t value)
{
    uint8_t out[9];
    size_t length = 0;
    for (; length < 8 && value >= 0x80; value >>= 7)
        out[length++] = (uint8_t) (value | 0x80);
    out[length++] = (uint8_t) value;
    append(bytes, out, length);
}

void jfr_put_big_endian(struct jfr_bytes *bytes, uint64_t value, unsigned byte_count)
{
    while (byte_count-- > 0)
        jfr_put_byte(bytes, (unsigned) (value >> byte_count * 8) & 0xff);
}

void jfr_put_text(struct jfr_bytes *bytes, struct step_bytes text)
{
    bytes->text.length = 0;
    bytes->failed = !utf8_append(&bytes->text, text) || bytes->failed;
    jfr_put_byte(bytes, TEXT_UTF8);
    jfr_put_number(bytes, bytes->text.length);
    append(bytes, bytes->text.data, bytes->text.length);
}

void jfr_put_optional_text(struct jfr_bytes *bytes, const char *text)
{
    if (text == NULL)
        jfr_put_byte(bytes, TEXT_NULL);
    else
        jfr_put_text(bytes, (struct step_bytes){(const uint8_t *) text, strlen(text)});
}

void jfr_put_bytes(struct jfr_bytes *bytes, const struct jfr_bytes *more)
{
    append(bytes, more->buffer.data, more->buffer.length);
    bytes->failed = bytes->failed || more->failed;
}

void jfr_put_event(struct jfr_bytes *bytes, const struct jfr_bytes *body)
{
    size_t own = 1; /* the size counts itself */
    while (own < 9 && (body->buffer.length + own) >> (7 * own) != 0)
        own++;
    jfr_put_number(bytes, body->buffer.length + own);
    jfr_put_bytes(bytes, body);
}
