/* SPDX-License-Identifier: Apache-2.0 */
/* A line is made in one piece: printf is too slow for one an allocation. */
#include "converter/formats/heaptrack/heaptrack_lines.h"

enum { NUMBERS_MOST = 8, DIGITS_MOST = 16 };

void heaptrack_put_numbers(FILE *out, char kind, const uint64_t *numbers, size_t count)
{
    char line[NUMBERS_MOST * (DIGITS_MOST + 1) + 2];
    size_t at = sizeof line;
    line[--at] = '\n';
    for (size_t i = count; i-- > 0;) {
        uint64_t number = numbers[i];
        do
            line[--at] = "0123456789abcdef"[number & 15];
        while ((number >>= 4) != 0);
        line[--at] = ' ';
    }
    line[--at] = kind;
    fwrite_unlocked(line + at, 1, sizeof line - at, out);
}

void heaptrack_put_text(FILE *out, char kind, struct step_bytes text)
{
    putc_unlocked(kind, out);
    putc_unlocked(' ', out);
    for (size_t i = 0; i < text.length; i++)
        putc_unlocked(text.data[i] < 0x20 || text.data[i] == 0x7f ? '?' : text.data[i], out);
    putc_unlocked('\n', out);
}
