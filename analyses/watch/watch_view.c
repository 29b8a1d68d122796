/* SPDX-License-Identifier: Apache-2.0 */
/* Handles keys, and parses selections with the option tables of the verbs. */
#include "analyses/watch/watch_view.h"

#include <stdio.h>
#include <string.h>

#include "converter/trace/selection_options.h"

/* Sort columns, in the order in which a key selects them. */
static const enum watch_column object_columns[] = {
    WATCH_LIVE_BYTES, WATCH_LIVE_OBJECTS, WATCH_BYTES, WATCH_OBJECTS,
    WATCH_RATE,       WATCH_GROWTH,       WATCH_NAME};
static const enum watch_column sampled_columns[] = {WATCH_LIVE_BYTES, WATCH_LIVE_OBJECTS,
                                                    WATCH_BYTES, WATCH_OBJECTS, WATCH_NAME};
static const enum watch_column method_columns[] = {WATCH_CALLS, WATCH_RATE, WATCH_GROWTH,
                                                   WATCH_BYTES, WATCH_NAME};

void watch_view_init(struct watch_view *view, struct watch_feed *feed, long pid)
{
    memset(view, 0, sizeof *view);
    view->feed = feed;
    view->pid = pid;
    view->by[WATCH_METHODS] = watch_feed_is_sampled(feed) ? WATCH_BYTES : WATCH_CALLS;
    view->by[WATCH_THREADS] = WATCH_BYTES;
}

static bool watch_view_make_table(struct watch_view *view)
{
    const struct watch_order order = {.axis = view->axis,
                                      .by = view->by[view->axis],
                                      .reversed = view->reversed,
                                      .name = view->name,
                                      .seconds = watch_view_rates(view).seconds};
    return watch_table_make(&view->table, view->feed, &order);
}

bool watch_view_look(struct watch_view *view, double seconds)
{
    double taken = watch_feed_settle(view->feed, seconds);
    if (taken >= 0) {
        view->before = view->total;
        view->estimates_before = view->estimates;
        view->seconds = taken;
    }
    view->total = view->feed->model.total.shown;
    view->estimates = watch_estimates_now(&view->feed->model, &view->feed->model.total_estimates);
    return watch_view_make_table(view);
}

struct watch_rates watch_view_rates(const struct watch_view *view)
{
    const struct watch_feed *feed = view->feed;
    struct watch_sums now = view->total, before = view->before;
    struct watch_rates rates = {.seconds = view->seconds};
    if (feed->tail.state != WATCH_RUNNING) {
        memset(&before, 0, sizeof before);
        rates.seconds = (double) feed->tail.last_ns / 1e9;
    }
    bool has_no_clock =
        feed->tail.state != WATCH_RUNNING && feed->tail.decoder.java.unit == TIME_STEPS;
    if (rates.seconds <= 0 || has_no_clock)
        return (struct watch_rates){.seconds = 0};
    rates.bytes = ((double) now.bytes - (double) before.bytes) / rates.seconds;
    rates.objects = ((double) now.objects - (double) before.objects) / rates.seconds;
    rates.freed_objects =
        ((double) now.freed_objects - (double) before.freed_objects) / rates.seconds;
    rates.calls = ((double) now.calls - (double) before.calls) / rates.seconds;
    return rates;
}

/* ---- keys ---- */

static void say(struct watch_view *view, const char *text)
{
    snprintf(view->message, sizeof view->message, "%s", text);
}

static void choose_axis(struct watch_view *view, unsigned axis)
{
    view->axis = axis % WATCH_AXES;
    view->top = 0;
}

static void sort_by_next(struct watch_view *view, bool back)
{
    const enum watch_column *columns = object_columns;
    size_t count = sizeof object_columns / sizeof *object_columns, at = 0;
    if (watch_feed_is_sampled(view->feed)) {
        columns = sampled_columns;
        count = sizeof sampled_columns / sizeof *sampled_columns;
    } else if (view->axis == WATCH_METHODS) {
        columns = method_columns;
        count = sizeof method_columns / sizeof *method_columns;
    }
    while (at + 1 < count && columns[at] != view->by[view->axis])
        at++;
    view->by[view->axis] = columns[(at + (back ? count - 1 : 1)) % count];
    view->top = 0;
}

static void mark(struct watch_view *view)
{
    struct watch_model *model = &view->feed->model;
    if (watch_feed_is_sampled(view->feed)) {
        say(view, "the trace has a sample of the objects: growth since a mark is not estimated");
        return;
    }
    if (model->has_mark && model->marked_ns == model->last_ns) {
        model->has_mark = false;
        say(view, "the mark is gone");
        return;
    }
    watch_model_mark(model);
    say(view, "marked: growth is counted from now (press again to remove the mark)");
}

static void begin_input(struct watch_view *view, enum watch_input input)
{
    view->input = input;
    snprintf(view->typed, sizeof view->typed, "%s",
             input == WATCH_INPUT_NAME ? view->name : view->selection);
}

/* A selection with a syntax error stays in the prompt. */
static bool is_good(struct watch_view *view)
{
    struct event_selection selected;
    char words[WATCH_INPUT_MOST], fault[160];
    event_selection_init(&selected);
    memcpy(words, view->typed, sizeof words);
    bool good = watch_selection_parse(words, &selected, fault, sizeof fault);
    if (!good)
        say(view, fault);
    return good;
}

static enum watch_action end_input(struct watch_view *view, bool taken)
{
    bool is_name = view->input == WATCH_INPUT_NAME;
    if (taken && !is_name && !is_good(view))
        return WATCH_GOES_ON;
    view->input = WATCH_NO_INPUT;
    if (!taken)
        return WATCH_GOES_ON;
    view->top = 0;
    memcpy(is_name ? view->name : view->selection, view->typed, sizeof view->typed);
    return is_name ? WATCH_GOES_ON : WATCH_SELECT;
}

static enum watch_action input_key(struct watch_view *view, int key)
{
    size_t length = strlen(view->typed);
    if (key == WATCH_KEY_ENTER || key == WATCH_KEY_ESCAPE)
        return end_input(view, key == WATCH_KEY_ENTER);
    if (key == WATCH_KEY_BACKSPACE && length > 0)
        view->typed[length - 1] = '\0';
    else if (key >= ' ' && key < 127 && length + 1 < sizeof view->typed) {
        view->typed[length] = (char) key;
        view->typed[length + 1] = '\0';
    }
    return WATCH_GOES_ON;
}

static void scroll(struct watch_view *view, int key)
{
    size_t page = view->page > 1 ? view->page - 1 : 1;
    size_t last = view->table.count > view->page ? view->table.count - view->page : 0;
    switch (key) {
    case WATCH_KEY_UP:
        view->top -= view->top > 0;
        break;
    case WATCH_KEY_DOWN:
        view->top++;
        break;
    case WATCH_KEY_PAGE_UP:
        view->top = view->top > page ? view->top - page : 0;
        break;
    case WATCH_KEY_PAGE_DOWN:
        view->top += page;
        break;
    case WATCH_KEY_HOME:
        view->top = 0;
        break;
    default:
        view->top = last;
        break;
    }
    view->top = view->top < last ? view->top : last;
}

static enum watch_action plain_key(struct watch_view *view, int key)
{
    switch (key) {
    case 'q':
    case 'Q':
        return WATCH_QUIT;
    case '1':
    case '2':
    case '3':
    case '4':
        choose_axis(view, (unsigned) (key - '1'));
        break;
    case '\t':
        choose_axis(view, view->axis + 1u);
        break;
    case 's':
    case 'S':
        sort_by_next(view, key == 'S');
        break;
    case 'r':
        view->reversed = !view->reversed;
        break;
    case ' ':
        view->frozen = !view->frozen;
        break;
    case 'm':
        mark(view);
        break;
    case '/':
        begin_input(view, WATCH_INPUT_NAME);
        break;
    case 'f':
        begin_input(view, WATCH_INPUT_SELECTION);
        break;
    case '?':
    case 'h':
        view->help = !view->help;
        break;
    default:
        break;
    }
    return WATCH_GOES_ON;
}

enum watch_action watch_view_key(struct watch_view *view, int key)
{
    enum watch_action action = WATCH_GOES_ON;
    if (key == WATCH_KEY_NONE) {
        if (view->table.search.left > 0 && !watch_view_make_table(view))
            say(view, "out of memory");
        return action;
    }
    view->message[0] = '\0';
    if (view->input != WATCH_NO_INPUT)
        action = input_key(view, key);
    else if (key >= WATCH_KEY_UP && key <= WATCH_KEY_END)
        scroll(view, key);
    else if (view->help)
        view->help = false;
    else
        action = plain_key(view, key);
    if (action == WATCH_GOES_ON && view->input == WATCH_NO_INPUT && !watch_view_make_table(view))
        say(view, "out of memory");
    return action;
}

static bool take_key(char *word, size_t column, struct event_selection *selected, char *fault,
                     size_t fault_size)
{
    const struct option_row rows[] = {OBJECT_SELECTION_ROWS(selected)};
    word += strncmp(word, "--", 2) == 0 ? 2 : 0;
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *why = "is not a valid value";
        if (strlen(rows[i].name) != length || memcmp(rows[i].name, word, length) != 0 ||
            rows[i].value == NULL || rows[i].target == &selected->dtd_path)
            continue;
        if (word[length] == '=' && rows[i].take(rows[i].target, word + length + 1, &why))
            return true;
        snprintf(fault, fault_size, "column %zu: %.40s: %.100s", column, rows[i].name,
                 word[length] == '=' ? why : "=VALUE is missing");
        return false;
    }
    snprintf(fault, fault_size,
             "column %zu: class=, site=, method=, thread=, size= or time= is expected", column);
    return false;
}

const char *watch_selection_fault(const struct event_selection *selected)
{
    return selected->lifetime.is_set                                ? "lifetime"
           : selected->has_alive_at                                 ? "alive-at"
           : selected->temporary || selected->temporary_allocs != 0 ? "temporary"
                                                                    : NULL;
}

bool watch_selection_parse(char *text, struct event_selection *selected, char *fault,
                           size_t fault_size)
{
    const char *begin = text;
    while (*text != '\0') {
        text += strspn(text, " ");
        char *word = text;
        text += strcspn(text, " ");
        if (*text != '\0')
            *text++ = '\0';
        if (*word != '\0' &&
            !take_key(word, (size_t) (word - begin) + 1, selected, fault, fault_size))
            return false;
    }
    const char *late = watch_selection_fault(selected);
    if (late != NULL)
        snprintf(fault, fault_size, "%s needs a trace that has ended; use stats or heap", late);
    return late == NULL;
}
