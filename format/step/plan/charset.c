/* SPDX-License-Identifier: Apache-2.0 */
/* Names of character sets, and validation of texts. */
#include "format/step/plan/charset.h"

#include <string.h>
#include <strings.h>

#include "format/core/utf8.h"

static const struct {
    const char *name;
    enum step_charset charset;
} names[] = {
    {"US-ASCII", STEP_CHARSET_ASCII},    {"ASCII", STEP_CHARSET_ASCII},
    {"ISO-8859-1", STEP_CHARSET_LATIN1}, {"UTF-8", STEP_CHARSET_UTF8},
    {"UTF-16", STEP_CHARSET_UTF16},      {"UTF-16BE", STEP_CHARSET_UTF16BE},
    {"UTF-16LE", STEP_CHARSET_UTF16LE},
};

enum step_charset step_charset_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i].name) == length && strncasecmp(names[i].name, name, length) == 0)
            return names[i].charset;
    return STEP_CHARSET_ANY;
}

/* Without a branch for each byte, so that the compiler can use vectors: texts are nearly always
 * valid, and the writer checks each string of such a field. */
static bool is_ascii(const uint8_t *text, size_t length)
{
    uint8_t all = 0;
    for (size_t i = 0; i < length; i++)
        all |= text[i];
    return all < 0x80;
}

static bool is_utf8(const uint8_t *text, size_t length)
{
    uint32_t code;
    for (size_t i = 0, count; i < length; i += count) {
        count = step_utf8_decode(text + i, length - i, &code);
        if (count == 0 || step_utf8_is_surrogate(code))
            return false;
    }
    return true;
}

/* `high` is the offset of the upper byte in each pair.  The upper six bits say what a unit is: a
 * first half must be followed by a second half, and a second half follows nothing else. */
static bool is_utf16(const uint8_t *text, size_t length, size_t high)
{
    bool pending = false; /* the first half of a pair was read */
    for (size_t i = 0; i + 1 < length; i += 2) {
        unsigned kind = text[i + high] & 0xfc;
        if ((kind == 0xdc) != pending)
            return false;
        pending = kind == 0xd8;
    }
    return length % 2 == 0 && !pending;
}

bool step_charset_valid(enum step_charset charset, const uint8_t *text, size_t length)
{
    switch (charset) {
    case STEP_CHARSET_ANY:
    case STEP_CHARSET_LATIN1:
        return true;
    case STEP_CHARSET_ASCII:
        return is_ascii(text, length);
    case STEP_CHARSET_UTF8:
        return is_utf8(text, length);
    case STEP_CHARSET_UTF16:
        return is_utf16(text, length, length >= 2 && text[0] == 0xff && text[1] == 0xfe);
    case STEP_CHARSET_UTF16BE:
        return is_utf16(text, length, 0);
    case STEP_CHARSET_UTF16LE:
        return is_utf16(text, length, 1);
    }
    return false;
}
