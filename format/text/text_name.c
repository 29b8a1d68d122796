/* SPDX-License-Identifier: Apache-2.0 */
/* Names: decoding UTF-8 with surrogates, and escaping what a line cannot hold. */
#include "format/text/text_name.h"

#include <string.h>

#include "steptrace/text.h"

#define FOUR(x) x, x, x, x
#define SIXTEEN(x) FOUR(x), FOUR(x), FOUR(x), FOUR(x)

const uint8_t text_byte_class[256] = {
    ['\n'] = TEXT_BYTE_ESCAPE,         ['\r'] = TEXT_BYTE_ESCAPE,
    [':'] = TEXT_BYTE_ESCAPE,          ['\\'] = TEXT_BYTE_ESCAPE,
    [0x80] = SIXTEEN(TEXT_BYTE_MULTI), [0x90] = SIXTEEN(TEXT_BYTE_MULTI),
    [0xa0] = SIXTEEN(TEXT_BYTE_MULTI), [0xb0] = SIXTEEN(TEXT_BYTE_MULTI),
    [0xc0] = SIXTEEN(TEXT_BYTE_MULTI), [0xd0] = SIXTEEN(TEXT_BYTE_MULTI),
    [0xe0] = SIXTEEN(TEXT_BYTE_MULTI), [0xf0] = SIXTEEN(TEXT_BYTE_MULTI),
};

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

static size_t decode_two(const uint8_t *bytes, uint32_t *code)
{
    *code = (uint32_t) (bytes[0] & 0x1f) << 6 | (bytes[1] & 0x3f);
    return is_continuation(bytes[1]) && *code >= 0x80 ? 2 : 0;
}

static size_t decode_three(const uint8_t *bytes, uint32_t *code)
{
    *code =
        (uint32_t) (bytes[0] & 0x0f) << 12 | (uint32_t) (bytes[1] & 0x3f) << 6 | (bytes[2] & 0x3f);
    return is_continuation(bytes[1]) && is_continuation(bytes[2]) && *code >= 0x800 ? 3 : 0;
}

static size_t decode_four(const uint8_t *bytes, uint32_t *code)
{
    *code = (uint32_t) (bytes[0] & 0x07) << 18 | (uint32_t) (bytes[1] & 0x3f) << 12 |
            (uint32_t) (bytes[2] & 0x3f) << 6 | (bytes[3] & 0x3f);
    bool follow =
        is_continuation(bytes[1]) && is_continuation(bytes[2]) && is_continuation(bytes[3]);
    return follow && *code >= 0x10000 && *code <= 0x10ffff ? 4 : 0;
}

size_t text_decode(const uint8_t *bytes, size_t available, uint32_t *code)
{
    if (bytes[0] < 0x80) {
        *code = bytes[0];
        return 1;
    }
    if (bytes[0] >= 0xc2 && bytes[0] <= 0xdf && available >= 2)
        return decode_two(bytes, code);
    if (bytes[0] >= 0xe0 && bytes[0] <= 0xef && available >= 3)
        return decode_three(bytes, code);
    if (bytes[0] >= 0xf0 && bytes[0] <= 0xf4 && available >= 4)
        return decode_four(bytes, code);
    return 0;
}

static size_t put_escape(char *out, uint32_t code)
{
    static const char hex[] = "0123456789abcdef";
    out[0] = '\\';
    out[1] = 'u';
    for (unsigned i = 0; i < 4; i++)
        out[2 + i] = hex[code >> (12 - 4 * i) & 0xf];
    return 6;
}

/* A pair of surrogates as the one character that it stands for. */
static size_t put_pair(char *out, uint32_t high, uint32_t low)
{
    uint32_t code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    out[0] = (char) (0xf0 | code >> 18);
    out[1] = (char) (0x80 | (code >> 12 & 0x3f));
    out[2] = (char) (0x80 | (code >> 6 & 0x3f));
    out[3] = (char) (0x80 | (code & 0x3f));
    return 4;
}

/* Escapes the character of several bytes at `*in` and moves on; 0 where there is none. */
static size_t escape_multi(const uint8_t **in, const uint8_t *end, char *out)
{
    uint32_t code;
    size_t length = text_decode(*in, (size_t) (end - *in), &code);
    if (length == 0)
        return 0;
    const uint8_t *from = *in;
    *in += length;
    if (!text_is_surrogate(code)) {
        memcpy(out, from, length);
        return length;
    }
    uint32_t low;
    if (text_is_high_surrogate(code) && *in < end &&
        text_decode(*in, (size_t) (end - *in), &low) == 3 && text_is_low_surrogate(low)) {
        *in += 3;
        return put_pair(out, code, low);
    }
    return put_escape(out, code);
}

bool step_text_escape(struct step_bytes name, char *out, size_t *length)
{
    const uint8_t *in = name.data;
    char *start = out;
    if (name.length == 0)
        return false;
    for (const uint8_t *end = in + name.length; in < end;) {
        uint8_t byte = *in;
        if (text_byte_class[byte] == TEXT_BYTE_PLAIN) {
            *out++ = (char) byte;
            in++;
        } else if (text_byte_class[byte] == TEXT_BYTE_ESCAPE) {
            out += put_escape(out, byte);
            in++;
        } else {
            size_t put = escape_multi(&in, end, out);
            if (put == 0)
                return false;
            out += put;
        }
    }
    *length = (size_t) (out - start);
    return true;
}
