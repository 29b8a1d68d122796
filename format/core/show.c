/* SPDX-License-Identifier: Apache-2.0 */
/* Escapes text for display on a terminal. */
#include "steptrace/show.h"

#include <string.h>

#include "format/core/utf8.h"

enum { ESCAPED_BYTES = 4 };

bool step_show_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

size_t step_show_length(const uint8_t *at, size_t left)
{
    uint32_t code;
    size_t length = step_utf8_decode(at, left, &code);
    return !step_utf8_is_surrogate(code) && !step_show_is_control(code) ? length : 0;
}

size_t step_show(struct step_bytes text, char *out, size_t out_size)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; i < text.length;) {
        size_t length = step_show_length(text.data + i, text.length - i);
        if (used + (length > 0 ? length : ESCAPED_BYTES) >= out_size)
            break;
        if (length > 0) {
            memcpy(out + used, text.data + i, length);
        } else {
            const char escaped[ESCAPED_BYTES] = {'\\', 'x', digits[text.data[i] >> 4],
                                                 digits[text.data[i] & 15]};
            memcpy(out + used, escaped, sizeof escaped);
        }
        used += length > 0 ? length : ESCAPED_BYTES;
        i += length > 0 ? length : 1;
    }
    if (out_size > 0)
        out[used] = '\0';
    return used;
}
