/* SPDX-License-Identifier: Apache-2.0 */
/* The command `watch` of a trace that has ended, as JSON and as one look in text; a terminal of a
 * pair of pseudo-terminals, whose keys are pressed before; what it refuses. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(watch);

/* Two objects of a hostile name, 100 and 30 bytes, of which the first dies, and one of 50. */
static char *write_trace(void)
{
    small_trace_begin("watched.step");
    uint64_t hostile = small_class(HOSTILE_NAME), main_class = small_class("app/Main");
    uint64_t outer = small_frame(0, small_method(main_class, "run"), 10);
    uint64_t inner = small_frame(outer, small_method(main_class, "make"), 20);
    small_start();
    small_now = 1000;
    uint64_t dead = small_alloc(hostile, 100, inner);
    small_alloc(main_class, 50, outer);
    small_now = 2000;
    small_alloc(hostile, 30, inner);
    small_free(dead);
    small_now = 3000;
    small_death();
    return small_trace_end();
}

static void test_json(void)
{
    char *path = write_trace();
    CU_ASSERT_EQUAL(run_verb(verb_watch, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("state"), "ended");
    CU_ASSERT_STRING_EQUAL(json_at("exact"), "true");
    CU_ASSERT_STRING_EQUAL(json_at("damaged"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("behind_ns"), "0");
    CU_ASSERT_STRING_EQUAL(json_at("total.allocated_objects"), "3");
    CU_ASSERT_STRING_EQUAL(json_at("total.allocated_bytes"), "180");
    CU_ASSERT_STRING_EQUAL(json_at("total.live_objects"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("total.live_bytes"), "80");
    CU_ASSERT_EQUAL_FATAL(json_count("classes"), 2); /* most live bytes first; as on the screen */
    CU_ASSERT_STRING_EQUAL(json_at("classes[0].name"), "app/Main");
    CU_ASSERT_STRING_EQUAL(json_at("classes[1].name"), HOSTILE_SHOWN);
    CU_ASSERT_STRING_EQUAL(json_at("classes[1].live_bytes"), "30");
    CU_ASSERT_STRING_EQUAL(json_at("classes[1].allocated_bytes"), "130");
    CU_ASSERT_EQUAL(json_count("sites"), 2);
    CU_ASSERT_STRING_EQUAL(json_at("threads[0].name"), "1 main");
    CU_ASSERT_EQUAL(json_count("live_bytes_over_time.bytes"), 100);
    CU_ASSERT_STRING_EQUAL(json_at("live_bytes_over_time.bytes[99]"), "80");
    CU_ASSERT_EQUAL(
        run_verb(verb_watch, path, "--json", "--top=1", "--sort=allocated", "--class=a**", NULL),
        STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_EQUAL(json_count("classes"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("classes[0].name"), HOSTILE_SHOWN);
}

static void test_once(void)
{
    char *path = write_trace();
    setenv("LC_ALL", "C", 1);
    setenv("COLUMNS", "60", 1);
    CU_ASSERT_EQUAL(run_verb(verb_watch, path, "--once", "--sort=allocated", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("live 80 B in 2 objects"));
    CU_ASSERT_TRUE(run_printed("\\x0a\\x1b[2J"));
    CU_ASSERT_FALSE(run_printed("\x1b"));
    for (const char *at = run_out(); *at != '\0'; at = strchr(at, '\n') + 1) {
        CU_ASSERT_FATAL(strchr(at, '\n') != NULL);
        CU_ASSERT_TRUE(strchr(at, '\n') - at <= 60);
    }
    CU_ASSERT_EQUAL(run_verb(verb_watch, path, "--once", "--by=site", "--top=1", NULL),
                    STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("app/Main.run:10"));
    CU_ASSERT_FALSE(run_printed("app/Main.make:20 "));
    unsetenv("COLUMNS");
}

/* A file that is cut, or is not closed, is shown as far as it goes; the status says so. */
static void test_states(void)
{
    size_t length;
    char *bytes = scratch_read(write_trace(), &length);
    char *cut = scratch_put("cut.step", bytes, length - 40);
    CU_ASSERT_EQUAL(run_verb(verb_watch, cut, "--json", NULL), STEP_STATUS_CORRUPT);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_STRING_EQUAL(json_at("state"), "cut");
    CU_ASSERT_STRING_EQUAL(json_at("total.live_bytes"), "80");
    CU_ASSERT_TRUE(run_reported("cut.step"));
    small_trace_begin("immortal.step");
    small_property("events", "class+alloc+thread");
    small_start();
    small_alloc(1, 16, 0);
    CU_ASSERT_EQUAL(run_verb(verb_watch, small_trace_end(), "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_TRUE(run_reported("free"));
}

static void test_sampled(void)
{
    small_trace_begin("sampled.step");
    small_property("engine", "sampled");
    small_property("sample", "1000");
    small_start();
    small_now = 10;
    small_alloc(1, 1000, 0);
    char *path = small_trace_end();
    CU_ASSERT_EQUAL(run_verb(verb_watch, path, "--json", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE_FATAL(run_json());
    CU_ASSERT_TRUE(run_printed("158")); /* 1,000 / (1 - 1 / e) = 1581.98 bytes */
    CU_ASSERT_STRING_EQUAL(json_at("live_bytes_over_time"), "(none)");
    CU_ASSERT_EQUAL(run_verb(verb_watch, path, "--once", NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(run_printed("1.54 KiB"));
    CU_ASSERT_EQUAL(run_verb(verb_watch, path, "--once", "--sort=rate", NULL), STEP_STATUS_INVALID);
    CU_ASSERT_TRUE(run_reported("a sampled trace has no rates by row"));
}

static void test_faults(void)
{
    static const char *const options[] = {"--interval=9ms", "--interval=2h", "--cpu=0",
                                          "--cpu=101",      "--cpu=x",       "--cpu=nan",
                                          "--by=colour",    "--sort=growth", "--lifetime=<3ms",
                                          "--alive-at=end", "--top=181"};
    char *path = write_trace();
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        CU_ASSERT_EQUAL(run_verb(verb_watch, path, "--once", options[i], NULL),
                        STEP_STATUS_INVALID);
        CU_ASSERT_STRING_EQUAL(run_out(), "");
    }
    CU_ASSERT_EQUAL(run_verb(verb_watch, scratch_path("gone.step"), "--once", NULL),
                    STEP_STATUS_NOT_FOUND);
    CU_ASSERT_EQUAL(run_verb(verb_watch, "4194305", "--once", NULL), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_NOT_EQUAL(
        run_verb(verb_watch, scratch_put_text("text.step", "no trace"), "--once", NULL),
        STEP_STATUS_OK);
    /* what it prints to is a file here, and no terminal */
    CU_ASSERT_EQUAL(run_verb(verb_watch, path, NULL), STEP_STATUS_UNSUPPORTED);
    CU_ASSERT_TRUE(run_reported("input and output must be a terminal"));
}

/* ---- on a terminal ---- */

/* In a process that has the terminal for its input and output. */
static int be_watch(const char *terminal, char *path)
{
    int file = open(terminal, O_RDWR | O_NOCTTY);
    dup2(file, STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    setenv("TERM", "xterm", 1);
    char *words[] = {path, NULL};
    return (int) verb_watch(1, words);
}

/* Presses keys, and returns all that the terminal got. */
static const char *on_terminal(char *path, const char *keys, int *status)
{
    static char got[1 << 17];
    size_t length = 0;
    ssize_t more = 1;
    const struct winsize size = {.ws_row = 24, .ws_col = 80};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    CU_ASSERT_FATAL(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    ioctl(master, TIOCSWINSZ, &size);
    char *name = strdup(ptsname(master));
    int held = open(name, O_RDWR | O_NOCTTY); /* so that the other end is there from the first */
    CU_ASSERT_EQUAL(write(master, keys, strlen(keys)), (ssize_t) strlen(keys));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(be_watch(name, path));
    close(held);
    while (more > 0 && length + 1 < sizeof got) {
        more = read(master, got + length, sizeof got - 1 - length);
        length += more > 0 ? (size_t) more : 0;
    }
    got[length] = '\0';
    waitpid(child, status, 0);
    close(master);
    free(name);
    return got;
}

static void test_terminal(void)
{
    int status;
    const char *got = on_terminal(write_trace(), "2s?q\x1bq", &status);
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(got, "80 B"));
    CU_ASSERT_PTR_NOT_NULL(strstr(got, "classes"));
    CU_ASSERT_PTR_NOT_NULL(strstr(got, "\x1b[?1049h"));       /* its own screen, */
    CU_ASSERT_PTR_NOT_NULL(strstr(got, "\x1b[?1049l"));       /* and the user's again */
    CU_ASSERT_PTR_NULL(strstr(got, "a</script>\"\n\x1b[2J")); /* no name moves the cursor */
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("watch as a command", scratch_begin, scratch_end);
    CU_add_test(suite, "JSON", test_json);
    CU_add_test(suite, "once", test_once);
    CU_add_test(suite, "states", test_states);
    CU_add_test(suite, "sampled", test_sampled);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "terminal", test_terminal);
}
