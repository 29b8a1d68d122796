/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the text layer: the characters of names. */
#ifndef FORMAT_TEXT_TEXT_NAME_H
#define FORMAT_TEXT_TEXT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a byte means to a scanner of names. */
enum text_byte {
    TEXT_BYTE_PLAIN,  /* an ASCII character that stands for itself */
    TEXT_BYTE_ESCAPE, /* one of those that are always escaped: `:` `\` LF CR */
    TEXT_BYTE_MULTI   /* part of a character of several bytes, or no UTF-8 at all */
};
extern const uint8_t text_byte_class[256];

/* Decodes the character at `bytes` (surrogates in three bytes included) and returns its length, or
 * 0 where there is none.  `available` is at least 1. */
size_t text_decode(const uint8_t *bytes, size_t available, uint32_t *code);

static inline bool text_is_surrogate(uint32_t code)
{
    return code >= 0xd800 && code <= 0xdfff;
}

static inline bool text_is_high_surrogate(uint32_t code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static inline bool text_is_low_surrogate(uint32_t code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

#endif
