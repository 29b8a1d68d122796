/* SPDX-License-Identifier: Apache-2.0 */
/* When what is read, and when it is shown. */
#include "converter/watch_screen/watch_loop.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "converter/base/no_memory.h"
#include "converter/watch/watch_selection.h"
#include "converter/watch_screen/watch_json.h"
#include "converter/watch_screen/watch_terminal.h"

#define SLICE_NS UINT64_C(100000000)
#define FIRST_SLICE_NS UINT64_C(300000000)
#define IDLE_MS 3600000u
#define ONCE_NS 1.0e9  /* processor time that one look may take */
#define FIXED_ROWS 10u /* of a screen with a small curve, without the table's */
#define CURVE_FROM 14u /* rows that a screen with a curve has at least, */
#define LARGE_FROM 20u /* and with a large one, which */
#define LARGE_MORE 2u  /* takes more */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * UINT64_C(1000000000) + (uint64_t) now.tv_nsec;
}

/* ---- once ---- */

static void wait_for(uint64_t ns)
{
    struct timespec left = {(time_t) (ns / UINT64_C(1000000000)),
                            (long) (ns % UINT64_C(1000000000))};
    while (nanosleep(&left, &left) != 0)
        ;
}

static enum step_status read_all(struct watch_view *view, double seconds, struct step_error *error)
{
    bool more = true;
    enum step_status status = STEP_STATUS_OK;
    view->feed->first_ns = ONCE_NS;
    while (status == STEP_STATUS_OK && more)
        status = watch_feed_read(view->feed, SLICE_NS, &more, error);
    if (status == STEP_STATUS_OK && !watch_view_look(view, seconds))
        status = no_memory(error);
    return status;
}

static void print_text(struct watch_view *view, size_t top)
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

enum step_status watch_once(struct watch_view *view, const struct watch_settings *settings,
                            struct step_error *error)
{
    enum step_status status = watch_feed_refresh(view->feed, 0, error);
    uint64_t start = now_ns();
    if (status == STEP_STATUS_OK)
        status = read_all(view, 0, error);
    if (status == STEP_STATUS_OK && view->feed->tail.state == WATCH_RUNNING) {
        wait_for(settings->interval_ns);
        double seconds = (double) (now_ns() - start) / 1e9;
        status = watch_feed_refresh(view->feed, settings->interval_ns, error);
        if (status == STEP_STATUS_OK)
            status = read_all(view, seconds, error);
    }
    if (status != STEP_STATUS_OK)
        return status;
    if (!settings->json)
        print_text(view, settings->top);
    else if (!watch_print_json(view, settings->top, stdout))
        status = no_memory(error);
    return status;
}

/* ---- on a terminal ---- */

struct watching {
    struct watch_view *view;
    const struct watch_settings *settings;
    struct watch_screen screen;
    char words[WATCH_INPUT_MOST]; /* of the selection, cut apart */
    struct event_selection given; /* that of the command line */
    uint64_t looked_ns;
    bool more;
};

static void show(struct watching *watching)
{
    watch_terminal_size(&watching->screen);
    watch_view_draw(watching->view, &watching->screen);
    watch_terminal_show(&watching->screen);
}

static enum step_status look(struct watching *watching, struct step_error *error)
{
    struct watch_view *view = watching->view;
    uint64_t now = now_ns(), elapsed = now - watching->looked_ns;
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
    char fault[160], words[WATCH_INPUT_MOST];
    memcpy(words, view->selection, sizeof words);
    if (!watch_selection_parse(words, &selected, fault, sizeof fault)) {
        snprintf(view->message, sizeof view->message, "%s", fault);
        return STEP_STATUS_OK;
    }
    selected = watching->given; /* once more, with words that stay */
    memcpy(watching->words, view->selection, sizeof watching->words);
    watch_selection_parse(watching->words, &selected, fault, sizeof fault);
    view->before_is_good = false;
    view->frozen = false;
    watching->looked_ns = 0;
    enum step_status status = watch_feed_select(view->feed, &selected, error);
    return status == STEP_STATUS_OK ? look(watching, error) : status;
}

/* How long a key may be waited for. */
static unsigned wait_of(const struct watching *watching)
{
    const struct watch_view *view = watching->view;
    uint64_t passed = now_ns() - watching->looked_ns;
    if (view->frozen || (view->feed->tail.state != WATCH_RUNNING && !watching->more))
        return IDLE_MS;
    if (watching->more || passed >= watching->settings->interval_ns)
        return 0;
    return (unsigned) ((watching->settings->interval_ns - passed) / 1000000) + 1;
}

static enum step_status watch(struct watching *watching, struct step_error *error)
{
    bool ended = false;
    enum step_status status = look(watching, error);
    while (status == STEP_STATUS_OK && !ended) {
        show(watching);
        int key = watch_terminal_key(wait_of(watching), &ended);
        enum watch_wish wish = watch_view_key(watching->view, key);
        ended |= wish == WATCH_QUIT;
        if (wish == WATCH_SELECT)
            status = select_anew(watching, error);
        else if (!ended && wait_of(watching) == 0)
            status = look(watching, error);
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
