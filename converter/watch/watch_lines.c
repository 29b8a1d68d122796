/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a screen, in cells of the terminal. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "converter/watch/watch_drawing.h"
#include "steptrace/show.h"

/* Copies as much of the text as has room, in cells of the terminal; returns how many it takes. */
static size_t fit(const struct watch_screen *screen, const char *text, size_t width, char *out)
{
    const uint8_t *at = (const uint8_t *) text;
    size_t cells = 0, left = strlen(text), length = 0;
    while (left > 0 && cells < width) {
        size_t bytes = step_show_length(at, left);
        bytes = bytes > 0 ? bytes : 1;
        if (bytes > 1 && !screen->unicode)
            out[length++] = '?';
        else
            for (size_t i = 0; i < bytes; i++)
                out[length++] = (char) at[i];
        cells++;
        at += bytes;
        left -= bytes;
    }
    out[length] = '\0';
    return cells;
}

void drawing_line(struct drawing *drawing, enum watch_look look, const char *text)
{
    struct watch_screen *screen = drawing->screen;
    if (drawing->row >= screen->height)
        return;
    char *line = screen->lines[drawing->row];
    size_t cells = fit(screen, text, screen->width, line);
    size_t length = strlen(line);
    for (; look == WATCH_TURNED && cells < screen->width; cells++)
        line[length++] = ' ';
    line[length] = '\0';
    screen->looks[drawing->row++] = look;
}

void drawing_put(struct drawing *drawing, enum watch_look look, const char *format, ...)
{
    char text[WATCH_LINE_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    drawing_line(drawing, look, text);
}

struct quantity drawing_signed_bytes(double bytes)
{
    struct quantity quantity = quantity_of_bytes(fabs(bytes)), out;
    snprintf(out.text, sizeof out.text, "%c%.30s", bytes < 0 ? '-' : '+', quantity.text);
    return out;
}

/* "12.3k": a number for a narrow column. */
struct quantity drawing_count(double value, bool with_sign)
{
    static const char units[] = " kMGTPE";
    struct quantity out;
    double size = fabs(value);
    size_t unit = 0;
    for (; size >= 99999.5 && units[unit + 1] != '\0'; unit++)
        size /= 1000;
    const char *sign = value < 0 ? "-" : with_sign ? "+" : "";
    if (unit == 0)
        snprintf(out.text, sizeof out.text, "%s%.0f", sign, size);
    else
        snprintf(out.text, sizeof out.text, "%s%.0f%c", sign, size, units[unit]);
    return out;
}
