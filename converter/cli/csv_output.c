/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the text between quotes in one piece, and each quote twice. */
#include "converter/cli/csv_output.h"

#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/cli/utf8_text.h"

static void put_doubled(struct step_bytes text, FILE *out,
                        void (*put)(struct step_bytes text, FILE *out))
{
    while (text.length > 0) {
        const uint8_t *quote = memchr(text.data, '"', text.length);
        size_t length = quote != NULL ? (size_t) (quote - text.data) : text.length;
        put((struct step_bytes){text.data, length}, out);
        if (quote != NULL)
            fputs("\"\"", out);
        length += quote != NULL;
        text.data += length;
        text.length -= length;
    }
}

void csv_put_text(struct step_bytes text, FILE *out)
{
    fputc('"', out);
    put_doubled(text, out, utf8_print);
    fputc('"', out);
}

void csv_put_shown_text(struct step_bytes text, FILE *out)
{
    fputc('"', out);
    csv_put_shown(text, out);
    fputc('"', out);
}

void csv_put_shown_bare(struct step_bytes text, FILE *out)
{
    bool needs_quotes =
        memchr(text.data, '"', text.length) != NULL || memchr(text.data, ',', text.length) != NULL;
    (needs_quotes ? csv_put_shown_text : csv_put_shown)(text, out); /* line ends are escaped */
}

void csv_put_shown(struct step_bytes text, FILE *out)
{
    put_doubled(text, out, print_shown);
}
