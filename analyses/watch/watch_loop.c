/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules reading and display. */
#include "analyses/watch/watch_view.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "converter/containers/no_memory.h"
#include "converter/files/monotonic_time.h"
#include "converter/files/sampled_trace.h"
#include "format/json/json_output.h"
#include "steptrace/text.h"

/* ---- the figures of the screen, unrounded ---- */

#define CURVE_POINTS 100u

static const char *const plurals[WATCH_AXES] = {"classes", "sites", "threads", "methods"};

static void watch_loop_put_curve(const struct watch_feed *feed, struct json_output *json)
{
    uint64_t levels[CURVE_POINTS];
    uint64_t until_ns = watch_feed_read_ns(feed);
    watch_curve_live(&feed->model.curve, until_ns, levels, CURVE_POINTS);
    json_begin_object(json, "live_bytes_over_time");
    json_number(json, "until_ns", until_ns);
    json_begin_array(json, "bytes");
    for (size_t i = 0; i < CURVE_POINTS; i++)
        json_number(json, NULL, levels[i]);
    json_end_array(json);
    json_end_object(json);
}

/* The names with the longest phases. */
static void put_phases(const struct watch_feed *feed, struct json_output *json)
{
    const struct watch_phases *phases = &feed->phases;
    if (phases->band_count == 0)
        return;
    json_begin_array(json, "phases");
    for (size_t i = 0; i < phases->band_count; i++) {
        const struct watch_band *band = &phases->bands[i];
        const struct trace_phase_name *name = id_table_find(&feed->tail.names.phases, band->number);
        json_begin_object(json, NULL);
        json_bytes(json, "name", name != NULL ? name->name : step_text("?"));
        json_number(json, "phases", band->phases);
        json_number(json, "total_ns", band->total_ns);
        json_bool(json, "program", band->of_program);
        json_end_object(json);
    }
    json_end_array(json);
}

static bool put_table(struct watch_view *view, enum watch_axis axis, size_t top,
                      struct json_output *json)
{
    double seconds = watch_view_rates(view).seconds;
    const struct watch_order order = {
        .axis = axis, .by = view->by[axis], .name = view->name, .seconds = seconds};
    char name[WATCH_NAME_TEXT];
    bool sampled = watch_feed_is_sampled(view->feed);
    if (!watch_table_make(&view->table, view->feed, &order))
        return false;
    json_begin_array(json, plurals[axis]);
    for (size_t i = 0; i < view->table.count && (top == 0 || i < top); i++) {
        struct watch_line *line = &view->table.lines[i];
        size_t length = watch_name(view->feed, axis, line->id, name, sizeof name);
        watch_sampled_note_class(line, axis, name, length);
        json_begin_object(json, NULL);
        json_bytes(json, "name", (struct step_bytes){(const uint8_t *) name, length});
        watch_put_sums(&view->feed->model, &line->now, &line->estimates, json);
        if (seconds > 0 && !sampled)
            json_real(json, axis == WATCH_METHODS ? "calls_a_second" : "bytes_a_second",
                      line->rate);
        json_end_object(json);
    }
    json_end_array(json);
    return true;
}

static void put_total(const struct watch_view *view, struct json_output *json)
{
    const struct watch_feed *feed = view->feed;
    bool sampled = watch_feed_is_sampled(feed);
    if (sampled)
        sampled_trace_put_json(json, feed->tail.path, feed->tail.sample_bytes);
    json_begin_object(json, "total");
    watch_put_sums(&feed->model, &view->total, &view->estimates, json);
    json_end_object(json);
    watch_put_rates(view, json);
    if (!sampled)
        watch_loop_put_curve(feed, json);
}

/* `top`: rows of each table, by the view's sort column; 0: all.  Returns false if memory runs
 * out. */
static bool watch_print_json(struct watch_view *view, size_t top, FILE *out)
{
    static const char *const states[] = {"running", "ended", "cut"};
    struct watch_feed *feed = view->feed;
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "trace", feed->tail.path);
    json_text(&json, "state", states[feed->tail.state]);
    if (view->pid != 0)
        json_number(&json, "process", (uint64_t) view->pid);
    json_number(&json, "time_ns", watch_feed_now_ns(feed));
    json_number(&json, "events_in_file", feed->tail.events);
    json_number(&json, "dropped", feed->tail.dropped);
    json_number(&json, "damaged", step_reader_damage_count(watch_feed_reader(feed)));
    json_bool(&json, "exact", watch_feed_is_exact(feed));
    json_number(&json, "behind_ns", watch_feed_behind_ns(feed));
    json_real(&json, "read", watch_feed_progress(feed));
    put_total(view, &json);
    put_phases(feed, &json);
    bool ok = true;
    for (int axis = 0; axis < WATCH_AXES && ok; axis++)
        ok = put_table(view, (enum watch_axis) axis, top, &json);
    json_close(&json);
    return ok;
}

#define SLICE_NS UINT64_C(100000000)
#define FIRST_SLICE_NS UINT64_C(300000000)
#define IDLE_MS 3600000u
#define LOOKS_MOST 3u  /* additional looks after the first */
#define FIXED_ROWS 10u /* rows of a screen with a small curve, without the table */
#define CURVE_FROM 14u /* minimum rows of a screen with a curve, */
#define LARGE_FROM 20u /* and with a large curve, which */
#define LARGE_MORE 2u  /* needs this many more */
#define SAMPLED_MORE                                                                               \
    24u /* of a sampled trace, whose lines wrap; those that stay empty are left out */

/* ---- once ---- */

static void watch_loop_wait_for(uint64_t ns)
{
    struct timespec left = {(time_t) (ns / UINT64_C(1000000000)),
                            (long) (ns % UINT64_C(1000000000))};
    while (nanosleep(&left, &left) != 0)
        ;
}

static enum step_status watch_loop_read_all(struct watch_view *view, double seconds,
                                            struct step_error *error)
{
    bool more = true;
    enum step_status status = STEP_STATUS_OK;
    while (status == STEP_STATUS_OK && more)
        status = watch_feed_read(view->feed, SLICE_NS, &more, error);
    if (status == STEP_STATUS_OK && !watch_view_look(view, seconds))
        status = no_memory(error);
    return status;
}

static void watch_loop_print_text(struct watch_view *view, size_t top)
{
    static struct watch_screen screen;
    const char *columns = getenv("COLUMNS");
    long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
    setlocale(LC_CTYPE, "");
    screen.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    setlocale(LC_CTYPE, "C");
    screen.width = width >= 20 && width <= (long) WATCH_WIDTH_MOST ? (size_t) width : 80;
    if (top != 0 && top < view->table.count)
        view->table.count = top;
    screen.height = FIXED_ROWS + view->table.count;
    screen.height = screen.height > CURVE_FROM ? screen.height : CURVE_FROM;
    screen.height += screen.height >= LARGE_FROM ? LARGE_MORE : 0;
    if (view->feed->phases.band_count > 0)
        screen.height += WATCH_BANDS;
    if (watch_feed_is_sampled(view->feed))
        screen.height += SAMPLED_MORE;
    snprintf(view->message, sizeof view->message, " ");
    watch_view_draw(view, &screen);
    for (size_t i = 0; i + 1 < screen.height; i++) {
        size_t length = strlen(screen.lines[i]);
        while (length > 0 && screen.lines[i][length - 1] == ' ')
            length--;
        if (length > 0)
            printf("%.*s\n", (int) length, screen.lines[i]);
    }
}

static bool lacks_rates(const struct watch_view *view)
{
    return view->feed->tail.state == WATCH_RUNNING && view->seconds <= 0;
}

static enum step_status look_again(struct watch_view *view, const struct watch_settings *settings,
                                   struct step_error *error)
{
    uint64_t start = monotonic_ns();
    watch_loop_wait_for(settings->interval_ns);
    double seconds = (double) (monotonic_ns() - start) / 1e9;
    enum step_status status = watch_feed_refresh(view->feed, settings->interval_ns, error);
    return status == STEP_STATUS_OK ? watch_loop_read_all(view, seconds, error) : status;
}

/* Rates need two looks; a third is needed if the trace had to be read anew, because the rate of its
 * clock had become known. */
enum step_status watch_once(struct watch_view *view, const struct watch_settings *settings,
                            struct step_error *error)
{
    view->feed->share = 0; /* read everything, for an exact look */
    enum step_status status = watch_feed_refresh(view->feed, 0, error);
    if (status == STEP_STATUS_OK)
        status = watch_loop_read_all(view, 0, error);
    for (unsigned i = 0; i < LOOKS_MOST && status == STEP_STATUS_OK && lacks_rates(view); i++)
        status = look_again(view, settings, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (!settings->json)
        watch_loop_print_text(view, settings->top);
    else if (!watch_print_json(view, settings->top, stdout))
        status = no_memory(error);
    return status;
}

/* ---- on a terminal ---- */

struct watching {
    struct watch_view *view;
    const struct watch_settings *settings;
    struct watch_screen screen;
    char words[WATCH_INPUT_MOST]; /* of the selection, split */
    struct event_selection given; /* of the command line */
    uint64_t looked_ns;
    bool more;
};

static void show(struct watching *watching)
{
    watch_terminal_size(&watching->screen);
    watch_view_draw(watching->view, &watching->screen);
    watch_terminal_show(&watching->screen);
}

static enum step_status watch_loop_look(struct watching *watching, struct step_error *error)
{
    struct watch_view *view = watching->view;
    uint64_t now = monotonic_ns(), elapsed = now - watching->looked_ns;
    bool first = watching->looked_ns == 0;
    enum step_status status = STEP_STATUS_OK;
    enum watch_state before = view->feed->tail.state;
    watching->looked_ns = now;
    status = watch_feed_refresh(view->feed, first ? 0 : elapsed, error);
    if (status == STEP_STATUS_OK)
        status =
            watch_feed_read(view->feed, first ? FIRST_SLICE_NS : SLICE_NS, &watching->more, error);
    if (status == STEP_STATUS_OK && !watch_view_look(view, first ? 0 : (double) elapsed / 1e9))
        status = no_memory(error);
    if (before == WATCH_RUNNING && view->feed->tail.state != WATCH_RUNNING)
        snprintf(view->message, sizeof view->message, "%s",
                 view->feed->tail.state == WATCH_WHOLE
                     ? "the trace has ended"
                     : "its process has ended without closing the trace: what it left is read");
    return status;
}

static enum step_status select_anew(struct watching *watching, struct step_error *error)
{
    struct watch_view *view = watching->view;
    struct event_selection selected = watching->given;
    char fault[160];
    memcpy(watching->words, view->selection, sizeof watching->words);
    watch_selection_parse(watching->words, &selected, fault, sizeof fault);
    view->frozen = false;
    watching->looked_ns = 0;
    enum step_status status = watch_feed_select(view->feed, &selected, error);
    return status == STEP_STATUS_OK ? watch_loop_look(watching, error) : status;
}

/* Returns milliseconds until the next look. */
static unsigned look_in(const struct watching *watching)
{
    const struct watch_view *view = watching->view;
    uint64_t passed = monotonic_ns() - watching->looked_ns;
    if (view->frozen || (view->feed->tail.state != WATCH_RUNNING && !watching->more))
        return IDLE_MS;
    if (watching->more || passed >= watching->settings->interval_ns)
        return 0;
    return (unsigned) ((watching->settings->interval_ns - passed) / 1000000) + 1;
}

/* Returns milliseconds to wait for a key. */
static unsigned wait_of(const struct watching *watching)
{
    return watching->view->table.search.left > 0 ? 0 : look_in(watching);
}

static enum step_status watch(struct watching *watching, struct step_error *error)
{
    bool ended = false;
    enum step_status status = watch_loop_look(watching, error);
    while (status == STEP_STATUS_OK && !ended) {
        show(watching);
        int key = watch_terminal_key(wait_of(watching), &ended);
        enum watch_action action = watch_view_key(watching->view, key);
        ended |= action == WATCH_QUIT;
        if (action == WATCH_SELECT)
            status = select_anew(watching, error);
        else if (!ended && look_in(watching) == 0)
            status = watch_loop_look(watching, error);
    }
    return status;
}

enum step_status watch_on_terminal(struct watch_view *view, const struct watch_settings *settings,
                                   struct step_error *error)
{
    struct watching *watching = calloc(1, sizeof *watching);
    if (watching == NULL)
        return no_memory(error);
    watching->view = view;
    watching->settings = settings;
    watching->given = view->feed->selected;
    enum step_status status = watch_terminal_open(error);
    if (status == STEP_STATUS_OK) {
        status = watch(watching, error);
        watch_terminal_close();
    }
    free(watching);
    return status;
}
