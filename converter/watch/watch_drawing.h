/* SPDX-License-Identifier: Apache-2.0 */
/* A screen while it is drawn, from its first row to its last. */
#ifndef CONVERTER_WATCH_WATCH_DRAWING_H
#define CONVERTER_WATCH_WATCH_DRAWING_H

#include "converter/base/quantity.h"
#include "converter/watch/watch_view.h"

struct drawing {
    struct watch_view *view;
    struct watch_screen *screen;
    size_t row;
};

/* ---- watch_draw.c ---- */

/* The next row, cut to the screen's width; no row is left: nothing. */
void drawing_line(struct drawing *drawing, enum watch_look look, const char *text);
__attribute__((format(printf, 3, 4))) void drawing_put(struct drawing *drawing,
                                                       enum watch_look look, const char *format,
                                                       ...);
struct quantity drawing_signed_bytes(double bytes);
/* "12.3k": a number for a narrow column. */
struct quantity drawing_count(double value, bool with_sign);

/* The mark of what lives where not all was read. */
static inline const char *drawing_about(const struct watch_view *view)
{
    return watch_feed_is_exact(view->feed) ? "" : "~";
}

/* ---- watch_draw_table.c ---- */

struct drawing_column {
    enum watch_column column;
    const char *title;
    unsigned width;
};

struct drawing_layout {
    const struct drawing_column *columns[8];
    size_t count;
    size_t name_width;
    bool calls;
};

/* What the table is sorted by is there whatever the width; then the others, as they have room. */
void drawing_lay_out(const struct drawing *drawing, struct drawing_layout *layout);
void drawing_titles(struct drawing *drawing, const struct drawing_layout *layout);
/* At most so many. */
void drawing_rows(struct drawing *drawing, const struct drawing_layout *layout, size_t rows);

#endif
