/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as in RFC 3629: shortest form only, no surrogates, at most U+10FFFF. */
#include "converter/cli/utf8_text.h"

#include <string.h>

#include "format/core/utf8.h"

/* Returns the length of the UTF-8 sequence at `at`; 0 if there is no valid one. */
static size_t utf8_sequence(const uint8_t *at, size_t left)
{
    uint32_t code;
    size_t length = step_utf8_decode(at, left, &code);
    return step_utf8_is_surrogate(code) ? 0 : length;
}

/* Returns the length of the valid bytes that the text begins with. */
static size_t valid_length(struct step_bytes text)
{
    size_t valid = 0, length;
    while (valid < text.length &&
           (length = utf8_sequence(text.data + valid, text.length - valid)) > 0)
        valid += length;
    return valid;
}

bool utf8_append(struct step_buffer *out, struct step_bytes text)
{
    bool good = true;
    for (size_t i = 0; good && i < text.length; i++) {
        size_t length = valid_length((struct step_bytes){text.data + i, text.length - i});
        good = length == 0 || step_buffer_append(out, text.data + i, length);
        i += length;
        if (good && i < text.length)
            good = step_buffer_append(out, UTF8_REPLACEMENT, sizeof UTF8_REPLACEMENT - 1);
    }
    return good;
}

void utf8_print(struct step_bytes text, FILE *out)
{
    for (size_t i = 0; i < text.length; i++) {
        size_t length = valid_length((struct step_bytes){text.data + i, text.length - i});
        fwrite(text.data + i, 1, length, out);
        i += length;
        if (i < text.length)
            fputs(UTF8_REPLACEMENT, out);
    }
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

int utf8_order(struct step_bytes a, struct step_bytes b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = length > 0 ? memcmp(a.data, b.data, length) : 0;
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}
