/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the view: its columns as they have room, its rows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/watch/watch_drawing.h"

static const struct drawing_column object_table[] = {
    {WATCH_LIVE_BYTES, "live", 11}, {WATCH_LIVE_OBJECTS, "objects", 9},
    {WATCH_GROWTH, "growth", 12},   {WATCH_BYTES, "allocated", 11},
    {WATCH_RATE, "a second", 11},   {WATCH_OBJECTS, "all", 9}};
static const struct drawing_column method_table[] = {{WATCH_CALLS, "calls", 9},
                                                     {WATCH_GROWTH, "growth", 9},
                                                     {WATCH_RATE, "a second", 9},
                                                     {WATCH_BYTES, "allocated", 11},
                                                     {WATCH_LIVE_BYTES, "live", 11}};

static void add_column(struct drawing_layout *layout, const struct drawing_column *column,
                       size_t least)
{
    for (size_t i = 0; i < layout->count; i++)
        if (layout->columns[i] == column)
            return;
    if (layout->name_width < least + column->width)
        return;
    layout->columns[layout->count++] = column;
    layout->name_width -= column->width;
}

/* What the table is sorted by is there whatever the width; then the others, as they have room. */
void drawing_lay_out(const struct drawing *drawing, struct drawing_layout *layout)
{
    const struct watch_view *view = drawing->view;
    bool calls = view->axis == WATCH_METHODS, marked = view->feed->model.has_mark;
    const struct drawing_column *table = calls ? method_table : object_table;
    size_t rows = calls ? sizeof method_table / sizeof *table : sizeof object_table / sizeof *table;
    size_t width = drawing->screen->width, least = width / 3 < 16 ? width / 3 : 16;
    *layout = (struct drawing_layout){.name_width = width > 1 ? width - 1 : 0, .calls = calls};
    for (size_t i = 0; i < rows; i++)
        if (table[i].column == view->by[view->axis])
            add_column(layout, &table[i], 0);
    for (size_t i = 0; i < rows; i++)
        if (marked || table[i].column != WATCH_GROWTH)
            add_column(layout, &table[i], least);
}

static struct quantity cell(const struct drawing_layout *layout, const struct watch_line *line,
                            enum watch_column column, bool has_rates, bool marked)
{
    struct quantity none = {"-"};
    switch (column) {
    case WATCH_LIVE_BYTES:
        return quantity_of_bytes((double) watch_live_bytes(&line->now));
    case WATCH_LIVE_OBJECTS:
        return drawing_count((double) watch_live_objects(&line->now), false);
    case WATCH_BYTES:
        return quantity_of_bytes((double) line->now.bytes);
    case WATCH_OBJECTS:
        return drawing_count((double) line->now.objects, false);
    case WATCH_CALLS:
        return drawing_count((double) line->now.calls, false);
    case WATCH_GROWTH:
        if (!marked)
            return none;
        return layout->calls ? drawing_count(line->growth, true)
                             : drawing_signed_bytes(line->growth);
    case WATCH_RATE:
        if (!has_rates)
            return none;
        return layout->calls ? drawing_count(line->rate, false)
                             : quantity_of_bytes(line->rate > 0 ? line->rate : 0);
    default:
        return none;
    }
}

void drawing_titles(struct drawing *drawing, const struct drawing_layout *layout)
{
    static const char *const names[WATCH_AXES] = {"class", "call site", "thread", "method"};
    const struct watch_view *view = drawing->view;
    char text[WATCH_LINE_BYTES];
    size_t at = 0;
    for (size_t i = 0; i < layout->count; i++) {
        enum watch_column column = layout->columns[i]->column;
        bool sorts = column == view->by[view->axis], lives = column <= WATCH_LIVE_OBJECTS;
        char title[32];
        snprintf(title, sizeof title, "%s%s%s", sorts ? (view->reversed ? "^" : "v") : "",
                 lives ? drawing_about(view) : "", layout->columns[i]->title);
        at += (size_t) snprintf(text + at, sizeof text - at, "%*s", (int) layout->columns[i]->width,
                                title);
    }
    snprintf(text + at, sizeof text - at, " %s%s", view->by[view->axis] == WATCH_NAME ? "v" : "",
             names[view->axis]);
    drawing_line(drawing, WATCH_STRONG, text);
}

/* Of a class that has no room the last part is worth most. */
static const char *shortened(const struct watch_view *view, char *name, size_t length, size_t width)
{
    if (view->axis != WATCH_CLASSES || length <= width || width < 6)
        return name;
    char *tail = name + length - (width - 2);
    while ((*tail & 0xc0) == 0x80)
        tail++;
    tail -= 2;
    tail[0] = tail[1] = '.';
    return tail;
}

void drawing_rows(struct drawing *drawing, const struct drawing_layout *layout, size_t rows)
{
    struct watch_view *view = drawing->view;
    bool has_rates = view->feed->tail.state != WATCH_RUNNING || view->seconds > 0;
    bool marked = view->feed->model.has_mark;
    size_t last = view->table.count > rows ? view->table.count - rows : 0;
    view->page = rows;
    view->top = view->top < last ? view->top : last;
    for (size_t i = view->top; i < view->table.count && i - view->top < rows; i++) {
        char text[WATCH_LINE_BYTES], name[WATCH_NAME_TEXT];
        const struct watch_line *line = &view->table.lines[i];
        size_t at = 0;
        size_t length = watch_name(view->feed, view->axis, line->id, name, sizeof name);
        for (size_t k = 0; k < layout->count; k++)
            at += (size_t) snprintf(
                text + at, sizeof text - at, "%*s", (int) layout->columns[k]->width,
                cell(layout, line, layout->columns[k]->column, has_rates, marked).text);
        snprintf(text + at, sizeof text - at, " %s",
                 shortened(view, name, length, layout->name_width));
        drawing_line(drawing, WATCH_PLAIN, text);
    }
    if (view->table.count == 0 && rows > 0)
        drawing_put(drawing, WATCH_DIM, "%s",
                    view->table.search.left > 0 ? " searching"
                    : view->name[0] != '\0'     ? " no such name"
                    : view->feed->tail.is_heap
                        ? " nothing in the file yet (stack=N for call stacks)"
                    : view->axis == WATCH_SITES    ? " no call stacks (agent: stack=N)"
                    : view->axis == WATCH_METHODS  ? " no methods (agent: events=method)"
                    : view->feed->tail.events == 0 ? " nothing yet"
                                                   : " nothing");
}
