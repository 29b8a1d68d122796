/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and names. */
#include "converter/base/error_report.h"

#include <string.h>

#include "steptrace/show.h"

void report_text(const char *format, va_list values)
{
    char text[2048];
    vsnprintf(text, sizeof text, format, values);
    print_shown_text(text, stderr);
}

void report_line(const char *format, ...)
{
    va_list values;
    fputs("steptrace: ", stderr);
    va_start(values, format);
    report_text(format, values);
    va_end(values);
    fputc('\n', stderr);
}

void print_shown(struct step_bytes text, FILE *out)
{
    for (size_t i = 0; i < text.length;) {
        size_t plain = 0, length;
        while (i + plain < text.length &&
               (length = step_show_length(text.data + i + plain, text.length - i - plain)) > 0)
            plain += length;
        if (plain > 0)
            fwrite(text.data + i, 1, plain, out);
        i += plain;
        if (i < text.length)
            fprintf(out, "\\x%02x", text.data[i++]);
    }
}

void print_shown_text(const char *text, FILE *out)
{
    print_shown((struct step_bytes){(const uint8_t *) text, strlen(text)}, out);
}

void print_shown_label(const char *label, FILE *out)
{
    char text[256];
    step_show((struct step_bytes){(const uint8_t *) label, strlen(label)}, text, sizeof text);
    fprintf(out, "%-14s ", text);
}

void print_shown_lines(const char *text, FILE *out)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n\t");
        print_shown((struct step_bytes){(const uint8_t *) text, length}, out);
        text += length;
        if (*text != '\0')
            fputc(*text++, out);
    }
}
