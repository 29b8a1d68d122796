/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as in RFC 3629: shortest form only, no surrogates, at most U+10FFFF. */
#include "converter/base/utf8_text.h"

static const uint8_t replacement[] = UTF8_REPLACEMENT;
enum { REPLACEMENT_BYTES = sizeof replacement - 1 };

/* Returns the length of the UTF-8 sequence at `at`; 0 if there is no valid one. */
static size_t utf8_sequence(const uint8_t *at, size_t left)
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
    bool good = true;
    size_t from = 0; /* start of the valid bytes not yet copied */
    for (size_t i = 0; good && i < text.length;) {
        size_t length = utf8_sequence(text.data + i, text.length - i);
        if (length == 0) {
            good = (i == from || step_buffer_append(out, text.data + from, i - from)) &&
                   step_buffer_append(out, replacement, REPLACEMENT_BYTES);
            from = i + 1;
        }
        i += length > 0 ? length : 1;
    }
    return good &&
           (from == text.length || step_buffer_append(out, text.data + from, text.length - from));
}

void utf8_print(struct step_bytes text, FILE *out)
{
    size_t from = 0; /* start of the valid bytes not yet written */
    for (size_t i = 0; i < text.length;) {
        size_t length = utf8_sequence(text.data + i, text.length - i);
        if (length == 0) {
            fwrite(text.data + from, 1, i - from, out);
            fputs(UTF8_REPLACEMENT, out);
            from = i + 1;
        }
        i += length > 0 ? length : 1;
    }
    if (from < text.length)
        fwrite(text.data + from, 1, text.length - from, out);
}

void utf8_print_in_line(struct step_bytes text, char separator, FILE *out)
{
    for (size_t i = 0, step; i < text.length; i += step) {
        uint8_t byte = text.data[i];
        step = utf8_sequence(text.data + i, text.length - i);
        if (step == 0)
            fputs(UTF8_REPLACEMENT, out);
        else if (step > 1)
            fwrite_unlocked(text.data + i, 1, step, out);
        else if (byte < 0x20 || byte == 0x7f)
            putc_unlocked('?', out);
        else
            putc_unlocked(separator != 0 && byte == (uint8_t) separator ? ',' : byte, out);
        step += step == 0;
    }
}
