/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: decoding of untrusted bytes, and encoding.  An inline header, as all layers may use it. */
#ifndef FORMAT_CORE_UTF8_H
#define FORMAT_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool step_utf8_is_surrogate(uint32_t code)
{
    return code >= 0xd800 && code <= 0xdfff;
}

/* Sets the code of the character at `at`, where `left` bytes (at least 1) are, and returns its
 * length.  A surrogate has three bytes.  Returns 0 for other invalid bytes: overlong forms, codes
 * beyond U+10FFFF. */
static inline size_t step_utf8_decode(const uint8_t *at, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    *code = at[0];
    if (at[0] < 0x80)
        return 1;
    size_t length = at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    *code &= 0x7fu >> length;
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    return *code >= least[length] && *code <= 0x10ffff ? length : 0;
}

/* Writes a code, up to 4 bytes, a surrogate with three.  Returns its length. */
static inline size_t step_utf8_encode(uint8_t *out, uint32_t code)
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, code >>= 6)
        out[i] = (uint8_t) (0x80 | (code & 0x3f));
    out[0] = (uint8_t) (length == 1 ? code : code | (0xf00u >> length & 0xff));
    return length;
}

#endif
