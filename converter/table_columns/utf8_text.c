/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences as RFC 3629 has them: no longer than need be, no surrogates, up to U+10FFFF. */
#include "converter/table_columns/utf8_text.h"

/* The bytes of the sequence at `at`; 0: it is none. */
static size_t sequence(const uint8_t *at, size_t left)
{
    uint8_t first = at[0];
    if (first < 0x80)
        return 1;
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) ||
        (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

bool utf8_append(struct step_buffer *out, struct step_bytes text)
{
    static const uint8_t replacement[] = {0xef, 0xbf, 0xbd};
    bool good = true;
    size_t from = 0; /* of what is good */
    for (size_t i = 0; good && i < text.length;) {
        size_t length = sequence(text.data + i, text.length - i);
        if (length == 0) {
            good = (i == from || step_buffer_append(out, text.data + from, i - from)) &&
                   step_buffer_append(out, replacement, sizeof replacement);
            from = i + 1;
        }
        i += length > 0 ? length : 1;
    }
    return good &&
           (from == text.length || step_buffer_append(out, text.data + from, text.length - from));
}
