/* SPDX-License-Identifier: Apache-2.0 */
/* What commands that record share: their options, names, the command that they run, and the traces
 * that it has left. */
#include <CUnit/Basic.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "converter/recorders/recording.h"
#include "tests/unit/converter/recorders/small_heap_trace.h"
#include "tests/unit/run_suite.h"

typedef bool taker(void *target, const char *value, const char **fault);

static bool takes(taker *take, const char *value, const char *pair)
{
    static struct recording_options options;
    const char *fault = NULL;
    options.text[0] = '\0';
    bool taken = take(&options, value, &fault);
    return taken ? pair != NULL && strcmp(options.text, pair) == 0
                 : pair == NULL && fault != NULL && options.text[0] == '\0';
}

static void test_options(void)
{
    static const struct {
        taker *take;
        const char *value, *pair; /* NULL: refused */
    } cases[] = {
        {recording_take_stack, "0", ",stack=0"},
        {recording_take_stack, "1024", ",stack=1024"},
        {recording_take_stack, "1025", NULL},
        {recording_take_stack, "", NULL},
        {recording_take_stack, "-1", NULL},
        {recording_take_stack, "18446744073709551616", NULL},
        {recording_take_stack, "7 ", NULL},
        {recording_take_mode, "600", ",mode=600"},
        {recording_take_mode, "0666", ",mode=666"},
        {recording_take_mode, "644", ",mode=644"},
        {recording_take_mode, "700", NULL},
        {recording_take_mode, "1644", NULL},
        {recording_take_mode, "400", NULL},
        {recording_take_mode, "-600", NULL},
        {recording_take_mode, "600x", NULL},
        {recording_take_mode, "", NULL},
        {recording_take_events, "class,alloc", ",events=class+alloc"},
        {recording_take_events, "all", ",events=all"},
        {recording_take_events, "", NULL},
        {recording_take_pair, "a=b", ",a=b"},
        {recording_take_pair, "=b", NULL},
        {recording_take_pair, "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CU_ASSERT_TRUE(takes(cases[i].take, cases[i].value, cases[i].pair));
}

/* Pairs fill the room to its last byte; one more is refused, and what was there stays. */
static void test_room(void)
{
    static struct recording_options options;
    static char value[sizeof options.text];
    const char *fault;
    memset(value, 'v', sizeof value - 3);
    CU_ASSERT_TRUE(recording_take_pair(&options, "k", &fault));
    value[sizeof value - 4] = '\0';
    CU_ASSERT_TRUE(recording_take_pair(&options, value, &fault));
    size_t used = strlen(options.text);
    CU_ASSERT(used < sizeof options.text);
    CU_ASSERT_FALSE(recording_take_pair(&options, "more", &fault));
    CU_ASSERT_EQUAL(strlen(options.text), used);
    memset(value, 'e', 300);
    value[300] = '\0';
    options.text[0] = '\0';
    CU_ASSERT_FALSE(recording_take_events(&options, value, &fault));
}

/* The last pair of a key counts, and a key is not the end of another. */
static void test_last_pair(void)
{
    static const struct recording_options options = {
        ",mode=644,overwrite=yes,noverwrite=no,mode=640,required=yes"};
    static const struct recording_options none = {""};
    CU_ASSERT_EQUAL(recording_mode(&options), 0640);
    CU_ASSERT_EQUAL(recording_mode(&none), 0600);
    CU_ASSERT_TRUE(recording_overwrites(&options));
    CU_ASSERT_FALSE(recording_overwrites(&none));
    CU_ASSERT_TRUE(recording_has_pair(&options, "required=yes"));
    CU_ASSERT_FALSE(recording_has_pair(&options, "required=ye"));
    CU_ASSERT_FALSE(recording_has_pair(&options, "verwrite=no"));
    CU_ASSERT_FALSE(
        recording_overwrites(&(const struct recording_options){",overwrite=yes,overwrite=no"}));
}

static void test_handlers(void)
{
    static const struct {
        struct recording_options options;
        bool has;
    } cases[] = {{{""}, false},
                 {{",events=method"}, true},
                 {{",events=all"}, true},
                 {{",events=class+method"}, true},
                 {{",events=methods"}, false},
                 {{",events=method,events=alloc"}, false},
                 {{",events=all,engine=jvmti"}, false},
                 {{",engine=bytecode,events=all"}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CU_ASSERT_EQUAL(recording_has_handlers(&cases[i].options), cases[i].has);
}

static void test_names(void)
{
    char page[64], escaped[64], name[2 * PATH_MAX], directory[PATH_MAX], wanted[2 * PATH_MAX];
    report_page_path("d/run.step", page, sizeof page);
    CU_ASSERT_STRING_EQUAL(page, "d/run.html");
    report_page_path(".step", page, sizeof page);
    CU_ASSERT_STRING_EQUAL(page, ".step.html");
    report_page_path("run", page, sizeof page);
    CU_ASSERT_STRING_EQUAL(page, "run.html");
    escape_percents("a%b%", escaped);
    CU_ASSERT_STRING_EQUAL(escaped, "a%%b%%");
    CU_ASSERT_TRUE(recording_file_name("/x/run-%p.step", name, sizeof name));
    CU_ASSERT_STRING_EQUAL(name, "/x/run-%p.step");
    CU_ASSERT_TRUE(recording_file_name("run.step", name, sizeof name));
    snprintf(wanted, sizeof wanted, "%s/run.step", getcwd(directory, sizeof directory));
    CU_ASSERT_STRING_EQUAL(name, wanted);
    scratch_listen();
    bool comma = recording_file_name("/x/a,b.step", name, sizeof name);
    bool is_long = recording_file_name("/x/run.step", name, 5);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_FALSE(comma || is_long);
    CU_ASSERT(strstr(heard.err, "no comma") != NULL && strstr(heard.err, "too long") != NULL);
}

/* Of a working directory, % sequences are its name, not the agent's. */
static void test_percent_directory(void)
{
    char name[2 * PATH_MAX], before[PATH_MAX];
    const char *directory = scratch_path("50%p");
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof before));
    CU_ASSERT_FATAL(mkdir(directory, 0700) == 0 && chdir(directory) == 0);
    CU_ASSERT_TRUE(recording_file_name("run-%p.step", name, sizeof name));
    CU_ASSERT_PTR_NOT_NULL(strstr(name, "/50%%p/run-%p.step"));
    CU_ASSERT_EQUAL(chdir(before), 0);
}

/* ---- commands ---- */

static enum step_status run(char **words)
{
    pid_t process = 0;
    verb_exit_code = 0;
    enum step_status status = command_run("record", words, NULL, NULL, &process);
    CU_ASSERT(process > 0);
    return status;
}

/* The exit status of the command is the verb's, and a signal that ended it the shell's number. */
static void test_exit_status(void)
{
    char *seven[] = {"sh", "-c", "exit 7", NULL}, *killed[] = {"sh", "-c", "kill -TERM $$", NULL};
    CU_ASSERT_EQUAL(run(seven), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 7);
    CU_ASSERT_EQUAL(command_signal(), 0);
    CU_ASSERT_EQUAL(run(killed), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 128 + SIGTERM);
    CU_ASSERT_EQUAL(command_signal(), SIGTERM);
}

/* A command that cannot be run is said to be so; an ELF file is never given to a shell. */
static void test_not_started(void)
{
    char *none[] = {"/no/such/program", NULL};
    scratch_listen();
    enum step_status status = run(none);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_EQUAL(status, STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "steptrace record: /no/such/program: No such file"));
    char *broken[] = {(char *) scratch_put("broken", "\177ELF", 4), NULL};
    CU_ASSERT_EQUAL(chmod(broken[0], 0700), 0);
    scratch_listen();
    status = run(broken);
    heard = scratch_hear();
    CU_ASSERT_EQUAL(status, STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "this system cannot run the file"));
    char *script[] = {(char *) scratch_put_text("script", "exit 3\n"), NULL};
    CU_ASSERT_EQUAL(chmod(script[0], 0700), 0);
    CU_ASSERT_EQUAL(run(script), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 3);
}

static bool set_variable(const void *user)
{
    return setenv("STEPTRACE_UNIT", user, 1) == 0;
}

static bool fail_with(const void *user)
{
    errno = *(const int *) user;
    return false;
}

/* What prepares the command does so in its process alone. */
static void test_prepare(void)
{
    char *words[] = {"sh", "-c", "test \"$STEPTRACE_UNIT\" = on", NULL};
    pid_t process;
    verb_exit_code = 9;
    CU_ASSERT_EQUAL(command_run("record", words, set_variable, "on", &process), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 0);
    CU_ASSERT_PTR_NULL(getenv("STEPTRACE_UNIT"));
    int code = EPERM;
    scratch_listen();
    enum step_status status = command_run("record", words, fail_with, &code, &process);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_EQUAL(status, STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, strerror(EPERM)));
}

/* A signal to this program goes on to the command, and the handlers are as before. */
static void test_signal_goes_on(void)
{
    char *words[] = {"sh", "-c", "kill -HUP $PPID; exec sleep 5", NULL};
    struct sigaction before, after;
    sigaction(SIGHUP, NULL, &before);
    CU_ASSERT_EQUAL(run(words), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(verb_exit_code, 128 + SIGHUP);
    sigaction(SIGHUP, NULL, &after);
    CU_ASSERT_EQUAL(before.sa_handler, after.sa_handler);
}

static void test_find(void)
{
    char path[PATH_MAX], small[4], real[PATH_MAX];
    CU_ASSERT_TRUE(command_find("sh", path, sizeof path));
    CU_ASSERT_EQUAL(access(path, X_OK), 0);
    CU_ASSERT_FALSE(command_find("no-such-program-here", path, sizeof path));
    CU_ASSERT_FALSE(command_find("/bin/sh", small, sizeof small));
    CU_ASSERT_TRUE(command_find("./x", path, sizeof path)); /* a path is as it is */
    const char *library = scratch_put_text("libx.so", "");
    CU_ASSERT_TRUE(component_find("libx.so", ".", library, "STEPTRACE_UNIT_X", path));
    CU_ASSERT_STRING_EQUAL(path, realpath(library, real));
    /* what the user names is the only one */
    CU_ASSERT_FALSE(component_find("libx.so", ".", "/no/libx.so", "STEPTRACE_UNIT_X", path));
    setenv("STEPTRACE_UNIT_X", library, 1);
    CU_ASSERT_TRUE(component_find("libx.so", ".", NULL, "STEPTRACE_UNIT_X", path));
    struct jvm_process process = {.agent = "/loaded/libtracer.so"};
    CU_ASSERT_TRUE(agent_of(&process, library, path));
    CU_ASSERT_STRING_EQUAL(path, "/loaded/libtracer.so");
}

/* ---- traces ---- */

static char seen[512];

static enum step_status see(const char *trace)
{
    strcat(seen, strrchr(trace, '/') + 1);
    strcat(seen, " ");
    return strstr(trace, "bad") != NULL ? STEP_STATUS_CORRUPT : STEP_STATUS_OK;
}

static void put_trace(const char *name, const char *process, time_t modified)
{
    const char *const properties[] = {"process-id", process, NULL};
    const char *path = scratch_path(name);
    const struct timespec times[2] = {{.tv_sec = modified}, {.tv_sec = modified}};
    put_heap_trace(path, NULL, 0, properties);
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, times, 0), 0);
}

static enum step_status see_since(const char *pattern, time_t start, pid_t process)
{
    seen[0] = '\0';
    return traces_since(scratch_path(pattern), &(struct timespec){.tv_sec = start}, process, see);
}

static void test_traces_since(void)
{
    put_trace("t-11.step", "11", 1000);
    put_trace("t-12.step", "12", 2000);
    put_trace("t-12.2.step", "12", 3000);
    put_trace("tx12.step", "12", 3000);
    CU_ASSERT_EQUAL(see_since("t-%p.step", 1500, 0), STEP_STATUS_OK);
    CU_ASSERT(strstr(seen, "t-12.step ") != NULL && strstr(seen, "t-12.2.step ") != NULL);
    CU_ASSERT(strstr(seen, "t-11.step") == NULL && strstr(seen, "tx12") == NULL);
    /* of one process if it has written any, else of all */
    CU_ASSERT_EQUAL(see_since("t-%p.step", 500, 11), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(seen, "t-11.step ");
    CU_ASSERT_EQUAL(see_since("t-%p.step", 1500, 11), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(seen, "t-12.step"));
    CU_ASSERT_TRUE(traces_exist(scratch_path("t-%p.step"), &(struct timespec){.tv_sec = 3000}));
    CU_ASSERT_FALSE(traces_exist(scratch_path("t-%p.step"), &(struct timespec){.tv_sec = 3001}));
    put_trace("bad-1.step", "1", 1000);
    CU_ASSERT_EQUAL(see_since("bad-%p.step", 0, 0), STEP_STATUS_CORRUPT);
    scratch_listen();
    enum step_status status = see_since("none-%p.step", 0, 0);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_EQUAL(status, STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "there is no trace"));
}

/* A name with what a pattern means stands for itself. */
static void test_odd_names(void)
{
    put_trace("[ab]*.step", "1", 1000);
    put_trace("ax.step", "1", 1000);
    CU_ASSERT_EQUAL(see_since("[ab]*.step", 0, 0), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(seen, "[ab]*.step ");
    put_trace("100%.step", "1", 1000);
    CU_ASSERT_EQUAL(see_since("100%%.step", 0, 0), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(seen, "100%.step ");
}

static void test_answers(void)
{
    const char *trace = scratch_path("w.step"), *none[] = {NULL};
    put_heap_trace(trace, NULL, 0, none);
    called[0] = '\0';
    scratch_listen();
    enum step_status status = summary_of(trace), page = report_of(trace);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT(status == STEP_STATUS_OK && page == STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(called, "heap w.step --allocated --at=end --by=site --top=5 --depth=3\n"
                                   "page w.step w.html\n");
    CU_ASSERT_STRING_EQUAL(heard.out, ""); /* the program's own output */
    CU_ASSERT(strstr(heard.err, "the summary") != NULL && strstr(heard.err, "w.html") != NULL);
    CU_ASSERT_EQUAL(lacks_of(trace), STEP_STATUS_OK);
    scratch_listen();
    status = lacks_as(scratch_put_text("x.step", "nothing"), "the name");
    heard = scratch_hear();
    CU_ASSERT_NOT_EQUAL(status, STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "the name"));
}

/* ---- processes ---- */

/* A process is recorded while it has a live file mapped. */
static void test_process_trace(void)
{
    char path[PATH_MAX];
    struct step_error error = {.message = ""};
    struct watch_target target;
    CU_ASSERT_EQUAL(process_trace_find(getpid(), path, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "is not being recorded"));
    CU_ASSERT_EQUAL(process_trace_find(INT_MAX, path, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "there is no process"));
    const char *live = scratch_put_text("p.step.live", "live");
    int file = open(live, O_RDONLY);
    void *map = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, file, 0);
    CU_ASSERT_FATAL(map != MAP_FAILED);
    CU_ASSERT_EQUAL(process_trace_find(getpid(), path, &error), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(path, scratch_path("p.step"));
    char number[32];
    snprintf(number, sizeof number, "%ld", (long) getpid());
    CU_ASSERT_EQUAL(watch_target_find(number, &target, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(target.pid, getpid());
    CU_ASSERT_STRING_EQUAL(target.path, scratch_path("p.step"));
    CU_ASSERT_EQUAL(watch_target_find("some.step", &target, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(target.pid, 0);
    CU_ASSERT_EQUAL(watch_target_find("0", &target, &error), STEP_STATUS_OK); /* a file's name */
    CU_ASSERT_STRING_EQUAL(target.path, "0");
    munmap(map, 4);
    close(file);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("recording", scratch_begin, scratch_end);
    CU_add_test(suite, "options", test_options);
    CU_add_test(suite, "room for options", test_room);
    CU_add_test(suite, "the last pair", test_last_pair);
    CU_add_test(suite, "handlers", test_handlers);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "a directory with %", test_percent_directory);
    CU_add_test(suite, "exit status", test_exit_status);
    CU_add_test(suite, "commands that cannot be run", test_not_started);
    CU_add_test(suite, "preparing", test_prepare);
    CU_add_test(suite, "signals", test_signal_goes_on);
    CU_add_test(suite, "finding", test_find);
    CU_add_test(suite, "traces since", test_traces_since);
    CU_add_test(suite, "odd names", test_odd_names);
    CU_add_test(suite, "answers", test_answers);
    CU_add_test(suite, "the trace of a process", test_process_trace);
}
