/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the view as lines.  Leaves out the least important parts if the screen is small. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analyses/watch/watch_view.h"
#include "converter/numbers/amount.h"
#include "converter/numbers/quantity.h"
#include "steptrace/show.h"

/* Screen heights from which more is drawn than the state, the live amounts and the table. */
#define ROWS_FOR_KEYS 8u
#define ROWS_FOR_NUMBERS 10u
#define ROWS_FOR_CURVE 14u
#define ROWS_FOR_LARGE_CURVE 22u
#define LABEL_CELLS 11u /* left of the curve and the bands */

/* A screen being drawn, from its first row to its last. */
struct drawing {
    struct watch_view *view;
    struct watch_screen *screen;
    size_t row;
};

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

/* Marks live amounts as approximate if not everything was read. */
static const char *drawing_about(const struct watch_view *view)
{
    return watch_feed_is_exact(view->feed) ? "" : "~";
}

/* ---- lines ---- */

/* Copies as much of the text as fits into `width` terminal cells, and returns the cells used. */
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

static void drawing_line(struct drawing *drawing, enum watch_look look, const char *text)
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

__attribute__((format(printf, 3, 4))) static void drawing_put(struct drawing *drawing,
                                                              enum watch_look look,
                                                              const char *format, ...)
{
    char text[WATCH_LINE_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    drawing_line(drawing, look, text);
}

static struct quantity drawing_signed_bytes(double bytes)
{
    struct quantity quantity = quantity_of_bytes(fabs(bytes)), out;
    snprintf(out.text, sizeof out.text, "%c%.30s", bytes < 0 ? '-' : '+', quantity.text);
    return out;
}

/* Formats a number for a narrow column: "12.3k". */
static struct quantity drawing_count(double value, bool with_sign)
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

/* ---- the head ---- */

static uint64_t whole(double value)
{
    return value >= 1 ? estimate_whole(floor(value)) : 0;
}

static const char *state_text(const struct watch_view *view)
{
    const struct watch_tail *tail = &view->feed->tail;
    return tail->state == WATCH_RUNNING ? "running"
           : tail->state == WATCH_WHOLE ? "ended"
                                        : "cut: its process did not end it";
}

static void put_state(struct drawing *drawing)
{
    struct watch_view *view = drawing->view;
    const struct watch_tail *tail = &view->feed->tail;
    enum time_unit unit = tail->decoder.java.unit;
    char pid[32] = "", damage[48] = "", behind[48] = "", name[512];
    size_t damaged = step_reader_damage_count(watch_feed_reader(view->feed));
    const char *path = strrchr(tail->path, '/') != NULL ? strrchr(tail->path, '/') + 1 : tail->path;
    step_show((struct step_bytes){(const uint8_t *) path, strlen(path)}, name, sizeof name);
    if (view->pid != 0)
        snprintf(pid, sizeof pid, ", process %ld", view->pid);
    if (damaged > 0)
        snprintf(damage, sizeof damage, ", damaged: %zu", damaged);
    if (!watch_feed_is_exact(view->feed))
        snprintf(behind, sizeof behind, ", %s behind",
                 quantity_of_time((double) watch_feed_behind_ns(view->feed), unit).text);
    drawing_put(drawing, WATCH_TURNED, "%s%s %s%s%s, %s%s", view->frozen ? "[frozen] " : "", name,
                state_text(view), pid, damage,
                quantity_of_time((double) watch_feed_now_ns(view->feed), unit).text, behind);
}

static void put_live(struct drawing *drawing)
{
    const struct watch_view *view = drawing->view;
    const struct watch_model *model = &view->feed->model;
    char growth[96] = "";
    if (model->has_mark)
        snprintf(growth, sizeof growth, "  %s since the mark, %s ago",
                 drawing_signed_bytes((double) watch_live_bytes(&view->total) -
                                      (double) watch_live_bytes(&model->total.marked))
                     .text,
                 quantity_of_time((double) (model->last_ns - model->marked_ns),
                                  view->feed->tail.decoder.java.unit)
                     .text);
    drawing_put(drawing, WATCH_STRONG, "live %s%s in %s object%s%s", drawing_about(view),
                quantity_of_bytes((double) watch_live_bytes(&view->total)).text,
                quantity_of_count(watch_live_objects(&view->total)).text,
                plural(watch_live_objects(&view->total)), growth);
}

static void put_numbers(struct drawing *drawing)
{
    const struct watch_view *view = drawing->view;
    const struct watch_feed *feed = view->feed;
    struct watch_rates rates = watch_view_rates(view);
    char read[64] = "";
    if (!watch_feed_is_exact(feed))
        snprintf(read, sizeof read, "  read: %.0f %%", 100 * watch_feed_progress(feed));
    else if (feed->tail.dropped > 0)
        snprintf(read, sizeof read, "  dropped: %s", quantity_of_count(feed->tail.dropped).text);
    drawing_put(drawing, WATCH_PLAIN, "allocated %s in %s objects%s",
                quantity_of_bytes((double) view->total.bytes).text,
                quantity_of_count(view->total.objects).text, read);
    if (rates.seconds <= 0)
        drawing_put(drawing, WATCH_PLAIN, "a second: -");
    else if (view->total.objects + view->total.existing_objects == 0)
        drawing_put(drawing, WATCH_PLAIN, "a second: %s calls",
                    quantity_of_count(whole(rates.calls)).text);
    else
        drawing_put(drawing, WATCH_PLAIN, "a second: %s in %s objects, %s freed%s%s%s",
                    quantity_of_bytes(rates.bytes > 0 ? rates.bytes : 0).text,
                    quantity_of_count(whole(rates.objects)).text,
                    quantity_of_count(whole(rates.freed_objects)).text,
                    view->total.calls > 0 ? ", " : "",
                    view->total.calls > 0 ? quantity_of_count(whole(rates.calls)).text : "",
                    view->total.calls > 0 ? " calls" : "");
}

/* Puts an ASCII text on as many lines as it takes, so that no number is cut. */
static void put_wrapped(struct drawing *drawing, enum watch_look look, char *text)
{
    size_t width = drawing->screen->width;
    while (strlen(text) > width) {
        size_t end = width;
        while (end > 0 && text[end] != ' ')
            end--;
        if (end == 0)
            break;
        text[end] = '\0';
        drawing_line(drawing, look, text);
        text += end + 1;
    }
    drawing_line(drawing, look, text);
}

/* Of a sampled trace: what the figures are is never left out. */
static void put_estimates(struct drawing *drawing)
{
    char lines[WATCH_SAMPLED_LINES][WATCH_SAMPLED_TEXT];
    size_t count = drawing->screen->height >= ROWS_FOR_NUMBERS ? WATCH_SAMPLED_LINES : 2;
    watch_sampled_lines(drawing->view, lines);
    for (size_t i = 0; i < count; i++)
        put_wrapped(drawing, i == 1 ? WATCH_STRONG : WATCH_PLAIN, lines[i]);
}

/* ---- the curve ---- */

static void watch_draw_put_curve(struct drawing *drawing, size_t rows)
{
    static const char *const eighths[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                          "\u2585", "\u2586", "\u2587", "\u2588"};
    const struct watch_feed *feed = drawing->view->feed;
    uint64_t levels[WATCH_WIDTH_MOST], most = 1;
    size_t width = drawing->screen->width;
    size_t columns = width > LABEL_CELLS + 4 ? width - LABEL_CELLS : 0;
    watch_curve_live(&feed->model.curve, watch_feed_read_ns(feed), levels, columns);
    for (size_t i = 0; i < columns; i++)
        most = levels[i] > most ? levels[i] : most;
    for (size_t row = 0; columns > 0 && row < rows; row++) {
        char text[WATCH_LINE_BYTES];
        double below = (double) (rows - 1 - row);
        int at = snprintf(text, sizeof text, "%10s ",
                          row == 0          ? quantity_of_bytes((double) most).text
                          : row == rows - 1 ? "0 B"
                                            : "");
        for (size_t i = 0; i < columns; i++) {
            double level = (double) levels[i] / (double) most * (double) rows - below;
            int eighth = level >= 1 ? 8 : level > 0 ? (int) (level * 8) : 0;
            eighth += eighth == 0 && row == rows - 1 && levels[i] > 0;
            const char *mark = drawing->screen->unicode ? eighths[eighth]
                               : eighth >= 4            ? "#"
                               : eighth > 0             ? "."
                                                        : " ";
            at += snprintf(text + at, sizeof text - (size_t) at, "%s", mark);
        }
        drawing_line(drawing, WATCH_GRAPH, text);
    }
}

/* Escapes the name, and keeps its last part if it is too long.  Returns its cells. */
static size_t band_label(const struct drawing *drawing, struct step_bytes name, char *out)
{
    enum { MOST = LABEL_CELLS - 1 };
    char text[1024];
    const struct step_bytes end =
        name.length > 200 ? (struct step_bytes){name.data + name.length - 200, 200} : name;
    step_show(end, text, sizeof text);
    size_t length = strlen(text);
    const char *from = text;
    if (length > MOST)
        for (from += length - (MOST - 2); (*from & 0xc0) == 0x80; from++)
            ;
    out += snprintf(out, 3, "%s", from != text ? ".." : "");
    return (from != text ? 2 : 0) + fit(drawing->screen, from, MOST - 2 + (from == text) * 2, out);
}

/* A row for each of the names with the longest phases, in the curve's columns. */
static void watch_draw_put_band(struct drawing *drawing, const struct watch_band *band)
{
    const struct watch_phases *phases = &drawing->view->feed->phases;
    const struct trace_phase_name *name =
        id_table_find(&drawing->view->feed->tail.names.phases, band->number);
    char label[LABEL_CELLS * 4 + 8], text[WATCH_LINE_BYTES];
    size_t width = drawing->screen->width, at;
    size_t columns = width > LABEL_CELLS + 4 ? width - LABEL_CELLS : 0;
    size_t shown = band_label(drawing, name != NULL ? name->name : step_text("?"), label);
    at = (size_t) snprintf(text, sizeof text, "%*s%s ", (int) (LABEL_CELLS - 1 - shown), "", label);
    double until_ns = (double) watch_feed_read_ns(drawing->view->feed);
    for (size_t i = 0; i < columns; i++) {
        bool is_in = watch_band_covers(phases, band, until_ns * (double) i / (double) columns,
                                       until_ns * (double) (i + 1) / (double) columns);
        const char *mark = !is_in ? " " : drawing->screen->unicode ? "\u2594" : "-";
        at += (size_t) snprintf(text + at, sizeof text - at, "%s", mark);
    }
    drawing_line(drawing, WATCH_GRAPH, text);
}

static void put_tabs(struct drawing *drawing)
{
    static const char *const names[WATCH_AXES] = {"classes", "sites", "threads", "methods"};
    const struct watch_view *view = drawing->view;
    char text[WATCH_LINE_BYTES];
    size_t at = 0;
    for (unsigned i = 0; i < WATCH_AXES; i++)
        at += (size_t) snprintf(text + at, sizeof text - at,
                                i == view->axis ? "[%u %s] " : " %u %s  ", i + 1, names[i]);
    if (view->name[0] != '\0')
        at += (size_t) snprintf(text + at, sizeof text - at, " /%s", view->name);
    if (view->table.search.left > 0)
        at += (size_t) snprintf(text + at, sizeof text - at, " searching: %s left",
                                quantity_of_count(view->table.search.left).text);
    if (view->selection[0] != '\0')
        snprintf(text + at, sizeof text - at, " only %s", view->selection);
    drawing_line(drawing, WATCH_PLAIN, text);
}

/* ---- the table: its columns, as space permits, and its rows ---- */

static const struct drawing_column object_table[] = {
    {WATCH_LIVE_BYTES, "live", 11}, {WATCH_LIVE_OBJECTS, "objects", 9},
    {WATCH_GROWTH, "growth", 12},   {WATCH_BYTES, "allocated", 11},
    {WATCH_RATE, "a second", 11},   {WATCH_OBJECTS, "all", 9}};
static const struct drawing_column method_table[] = {{WATCH_CALLS, "calls", 9},
                                                     {WATCH_GROWTH, "growth", 9},
                                                     {WATCH_RATE, "a second", 9},
                                                     {WATCH_BYTES, "allocated", 11},
                                                     {WATCH_LIVE_BYTES, "live", 11}};

/* Each value has its range: estimate_range_title() stands after the title. */
static const struct drawing_column sampled_table[] = {{WATCH_LIVE_BYTES, "live", 33},
                                                      {WATCH_BYTES, "allocated", 33},
                                                      {WATCH_LIVE_OBJECTS, "objects", 28},
                                                      {WATCH_OBJECTS, "all", 28}};

static void watch_draw_add_column(struct drawing_layout *layout,
                                  const struct drawing_column *column, size_t least)
{
    for (size_t i = 0; i < layout->count; i++)
        if (layout->columns[i] == column)
            return;
    if (layout->name_width < least + column->width)
        return;
    layout->columns[layout->count++] = column;
    layout->name_width -= column->width;
}

/* The sort column is always shown; other columns follow as space permits. */
static void drawing_lay_out(const struct drawing *drawing, struct drawing_layout *layout)
{
    const struct watch_view *view = drawing->view;
    bool sampled = watch_feed_is_sampled(view->feed);
    bool calls = view->axis == WATCH_METHODS && !sampled, marked = view->feed->model.has_mark;
    const struct drawing_column *table = sampled ? sampled_table
                                         : calls ? method_table
                                                 : object_table;
    size_t rows = sampled ? sizeof sampled_table / sizeof *table
                  : calls ? sizeof method_table / sizeof *table
                          : sizeof object_table / sizeof *table;
    size_t width = drawing->screen->width, least = width / 3 < 16 ? width / 3 : 16;
    *layout = (struct drawing_layout){.name_width = width > 1 ? width - 1 : 0, .calls = calls};
    for (size_t i = 0; i < rows; i++)
        if (table[i].column == view->by[view->axis])
            watch_draw_add_column(layout, &table[i], 0);
    for (size_t i = 0; i < rows; i++)
        if (marked || table[i].column != WATCH_GROWTH)
            watch_draw_add_column(layout, &table[i], least);
}

static struct quantity cell(const struct drawing_layout *layout, const struct watch_line *line,
                            enum watch_column column, bool has_rates, bool marked)
{
    bool is_growth = column == WATCH_GROWTH, is_rate = column == WATCH_RATE;
    bool is_bytes = column == WATCH_LIVE_BYTES || column == WATCH_BYTES ||
                    ((is_growth || is_rate) && !layout->calls);
    double value = watch_line_value(line, column);
    if ((is_growth && !marked) || (is_rate && !has_rates))
        return (struct quantity){"-"};
    if (!is_bytes)
        return drawing_count(value, is_growth);
    return is_growth ? drawing_signed_bytes(value) : quantity_of_bytes(value > 0 ? value : 0);
}

static void drawing_titles(struct drawing *drawing, const struct drawing_layout *layout)
{
    static const char *const names[WATCH_AXES] = {"class", "call site", "thread", "method"};
    const struct watch_view *view = drawing->view;
    bool sampled = watch_feed_is_sampled(view->feed);
    char text[WATCH_LINE_BYTES];
    size_t at = 0;
    for (size_t i = 0; i < layout->count; i++) {
        enum watch_column column = layout->columns[i]->column;
        bool sorts = column == view->by[view->axis], lives = column <= WATCH_LIVE_OBJECTS;
        char title[32];
        snprintf(title, sizeof title, "%s%s%s%s%s", sorts ? (view->reversed ? "^" : "v") : "",
                 lives ? drawing_about(view) : "", layout->columns[i]->title, sampled ? " " : "",
                 sampled ? estimate_range_title(view->feed->model.weights.sampling) : "");
        at += (size_t) snprintf(text + at, sizeof text - at, "%*s", (int) layout->columns[i]->width,
                                title);
    }
    snprintf(text + at, sizeof text - at, " %s%s", view->by[view->axis] == WATCH_NAME ? "v" : "",
             names[view->axis]);
    drawing_line(drawing, WATCH_STRONG, text);
}

/* Keeps the last part of a class name that does not fit: it is the most informative. */
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

static void drawing_rows(struct drawing *drawing, const struct drawing_layout *layout, size_t rows)
{
    struct watch_view *view = drawing->view;
    bool has_rates = view->feed->tail.state != WATCH_RUNNING || view->seconds > 0;
    bool marked = view->feed->model.has_mark, sampled = watch_feed_is_sampled(view->feed);
    size_t last = view->table.count > rows ? view->table.count - rows : 0;
    view->page = rows;
    view->top = view->top < last ? view->top : last;
    for (size_t i = view->top; i < view->table.count && i - view->top < rows; i++) {
        char text[WATCH_LINE_BYTES], name[WATCH_NAME_TEXT];
        struct watch_line *line = &view->table.lines[i];
        size_t at = 0;
        size_t length = watch_name(view->feed, view->axis, line->id, name, sizeof name);
        watch_sampled_note_class(line, view->axis, name, length);
        for (size_t k = 0; k < layout->count; k++)
            at += (size_t) snprintf(
                text + at, sizeof text - at, "%*s", (int) layout->columns[k]->width,
                sampled
                    ? watch_sampled_cell_of(&view->feed->model, line, layout->columns[k]->column)
                          .text
                    : cell(layout, line, layout->columns[k]->column, has_rates, marked).text);
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

/* ---- the foot, and help ---- */

static void put_foot(struct drawing *drawing)
{
    const struct watch_view *view = drawing->view;
    drawing->row = drawing->screen->height - 1;
    if (view->input != WATCH_NO_INPUT && view->message[0] != '\0')
        drawing_put(drawing, WATCH_TURNED, "only %s_  %s", view->typed, view->message);
    else if (view->input != WATCH_NO_INPUT)
        drawing_put(drawing, WATCH_TURNED, "%s %s_",
                    view->input == WATCH_INPUT_NAME ? "name has:"
                                                    : "only (class=GLOB site=GLOB size=>1k):",
                    view->typed);
    else if (view->message[0] != '\0')
        drawing_put(drawing, WATCH_TURNED, "%s", view->message);
    else if (drawing->screen->height >= ROWS_FOR_KEYS)
        drawing_put(drawing, WATCH_DIM,
                    "q quit  1-4 tables  s sort  / find  f only  space freeze  m mark  ? help");
}

static void put_help(struct drawing *drawing)
{
    static const char *const lines[] = {
        "1-4, Tab     classes, call sites, threads, methods",
        "s, S, r      sort by next / previous column; reverse",
        "arrows, PgUp, PgDn, Home, End: move",
        "/            only names that have a text in them",
        "f            only some events: class=GLOB site=GLOB thread=N|GLOB",
        "             method=GLOB size=RANGE time=A..B (docs/selection.md)",
        "space        freeze, and go on",
        "m            mark this moment: growth since; twice: no mark",
        "q            quit",
        "~, behind    not all is read yet (--cpu): sums are lower bounds, live is older",
        "estimated    a sample: estimates with intervals; no curve, growth, row's rate"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        drawing_line(drawing, WATCH_PLAIN, lines[i]);
}

void watch_view_draw(struct watch_view *view, struct watch_screen *screen)
{
    struct drawing drawing = {view, screen, 0};
    struct drawing_layout layout;
    screen->width = screen->width < WATCH_WIDTH_MOST ? screen->width : WATCH_WIDTH_MOST;
    screen->height = screen->height < WATCH_ROWS_MOST ? screen->height : WATCH_ROWS_MOST;
    for (size_t i = 0; i < screen->height; i++) {
        screen->lines[i][0] = '\0';
        screen->looks[i] = WATCH_PLAIN;
    }
    if (screen->width == 0 || screen->height == 0)
        return;
    size_t height = screen->height, foot = height >= ROWS_FOR_KEYS ? 1 : 0;
    const struct watch_phases *phases = &view->feed->phases;
    put_state(&drawing);
    bool sampled = watch_feed_is_sampled(view->feed);
    if (sampled)
        put_estimates(&drawing);
    else
        put_live(&drawing);
    if (view->help) {
        put_help(&drawing);
    } else {
        if (height >= ROWS_FOR_NUMBERS && !sampled)
            put_numbers(&drawing);
        if (height >= ROWS_FOR_CURVE && !sampled)
            watch_draw_put_curve(&drawing, height >= ROWS_FOR_LARGE_CURVE ? 5 : 3);
        for (size_t i = 0; height >= ROWS_FOR_CURVE + WATCH_BANDS && i < phases->band_count; i++)
            watch_draw_put_band(&drawing, &phases->bands[i]);
        put_tabs(&drawing);
        drawing_lay_out(&drawing, &layout);
        if (height >= ROWS_FOR_KEYS)
            drawing_titles(&drawing, &layout);
        drawing_rows(&drawing, &layout,
                     height > drawing.row + foot ? height - drawing.row - foot : 0);
    }
    if (foot > 0 || view->input != WATCH_NO_INPUT || view->message[0] != '\0')
        put_foot(&drawing);
}
