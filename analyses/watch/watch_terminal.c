/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal, with ncurses. */
#include "analyses/watch/watch_view.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#undef lines /* of term.h */
#include <unistd.h>

#define ESCAPE_WAIT_MS 25
#define GRAPH_COLOR 1

static SCREEN *terminal;
static bool has_unicode, shows_color;
static volatile sig_atomic_t stopped;

static void note_stop(int number)
{
    (void) number;
    stopped = 1;
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_stop}; /* without SA_RESTART, so that waiting
                                                            ends */
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

/* Opens a terminal whose cursor can be moved: a dumb one shows no more than the last line. */
static bool open_screen(void)
{
    terminal = newterm(NULL, stdout, stdin);
    if (terminal == NULL)
        return false;
    set_term(terminal);
    const char *moves_cursor = tigetstr("cup");
    if (moves_cursor != NULL && moves_cursor != (const char *) -1)
        return true;
    watch_terminal_close();
    return false;
}

enum step_status watch_terminal_open(struct step_error *error)
{
    const char *no_color = getenv("NO_COLOR");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, NULL, STEP_NO_OFFSET,
                              "input and output must be a terminal; --once and --json need none");
    setlocale(LC_CTYPE, "");
    has_unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    catch_signals();
    if (!open_screen()) {
        const char *name = getenv("TERM");
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, NULL, STEP_NO_OFFSET,
                              "this terminal (TERM=%.40s) cannot be used; --once needs none",
                              name != NULL ? name : "");
    }
    set_escdelay(ESCAPE_WAIT_MS);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    shows_color = has_colors() && (no_color == NULL || no_color[0] == '\0');
    if (shows_color) {
        start_color();
        use_default_colors();
        init_pair(GRAPH_COLOR, COLOR_CYAN, -1);
    }
    return STEP_STATUS_OK;
}

void watch_terminal_close(void)
{
    endwin();
    delscreen(terminal);
    terminal = NULL;
}

void watch_terminal_size(struct watch_screen *screen)
{
    screen->width = COLS > 0 ? (size_t) COLS : 0;
    screen->height = LINES > 0 ? (size_t) LINES : 0;
    screen->unicode = has_unicode;
}

static attr_t attributes_of(enum watch_look look)
{
    switch (look) {
    case WATCH_STRONG:
        return A_BOLD;
    case WATCH_TURNED:
        return A_REVERSE;
    case WATCH_DIM:
        return shows_color ? A_DIM : A_NORMAL;
    case WATCH_GRAPH:
        return shows_color ? (attr_t) COLOR_PAIR(GRAPH_COLOR) : A_NORMAL;
    default:
        return A_NORMAL;
    }
}

void watch_terminal_show(const struct watch_screen *screen)
{
    erase();
    for (size_t i = 0; i < screen->height; i++) {
        attrset((int) attributes_of(screen->looks[i]));
        mvaddnstr((int) i, 0, screen->lines[i], -1);
    }
    attrset((int) A_NORMAL);
    refresh();
}

int watch_terminal_key(unsigned wait_ms, bool *ended)
{
    static const struct {
        int code;
        enum watch_key key;
    } keys[] = {{KEY_UP, WATCH_KEY_UP},
                {KEY_DOWN, WATCH_KEY_DOWN},
                {KEY_PPAGE, WATCH_KEY_PAGE_UP},
                {KEY_NPAGE, WATCH_KEY_PAGE_DOWN},
                {KEY_HOME, WATCH_KEY_HOME},
                {KEY_END, WATCH_KEY_END},
                {KEY_ENTER, WATCH_KEY_ENTER},
                {'\n', WATCH_KEY_ENTER},
                {'\r', WATCH_KEY_ENTER},
                {27, WATCH_KEY_ESCAPE},
                {KEY_BACKSPACE, WATCH_KEY_BACKSPACE},
                {127, WATCH_KEY_BACKSPACE},
                {'\b', WATCH_KEY_BACKSPACE}};
    timeout((int) wait_ms);
    int code = getch();
    *ended = stopped != 0 || (code == ERR && !isatty(STDIN_FILENO));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].code == code)
            return (int) keys[i].key;
    return code >= 0 && code < KEY_MIN ? code : WATCH_KEY_NONE;
}
