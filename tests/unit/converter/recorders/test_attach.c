/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching to a process: what is known of it, the protocol, and the command, with a process that
 * answers as a JVM does. */
#include <CUnit/Basic.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "converter/recorders/attach.h"
#include "converter/recorders/attach_progress.h"
#include "converter/recorders/foreign_traces.h"
#include "converter/recorders/recording.h"
#include "tests/unit/converter/recorders/fake_jvm.h"
#include "tests/unit/converter/recorders/small_heap_trace.h"
#include "tests/unit/run_suite.h"

VERB(attach);

static const char loaded[] = "0\nreturn code: 0\n";
static const char *const no_properties[] = {NULL};

static struct fake_jvm jvm_that(const char *answer, const char *messages)
{
    return (struct fake_jvm){
        .answer = answer, .messages = messages, .handles_quit = 1, .has_libjvm = 1};
}

/* ---- the process ---- */

static void test_facts(void)
{
    struct fake_jvm jvm = jvm_that(loaded, NULL);
    struct jvm_process process;
    struct step_error error = {.message = ""};
    pid_t pid = fake_jvm_start(&jvm);
    CU_ASSERT_EQUAL(jvm_process_find(pid, &process, &error), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(error.message, "");
    CU_ASSERT(process.pid == pid && process.inner_pid == pid && process.uid == geteuid());
    CU_ASSERT_EQUAL(process.java_version, 17);
    CU_ASSERT_STRING_EQUAL(process.agent, "");
    CU_ASSERT_FALSE(process.is_elsewhere || jvm_process_is_foreign(&process));
    CU_ASSERT_TRUE(jvm_process_is_there(&process));
    process.start_ticks++; /* a later process with its id */
    CU_ASSERT_FALSE(jvm_process_is_there(&process));
    process.start_ticks--;
    fake_jvm_end(pid);
    CU_ASSERT_FALSE(jvm_process_is_there(&process));
    jvm_process_close(&process);
    CU_ASSERT(process.root == -1 && process.groups == NULL);
}

static void expect_refused(pid_t pid, const char *reason)
{
    struct jvm_process process;
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(jvm_process_find(pid, &process, &error), STEP_STATUS_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, reason));
    jvm_process_close(&process);
}

/* A signal would end a process that does not handle it: none is sent. */
static void test_refused(void)
{
    struct fake_jvm other = {.handles_quit = 1}, deaf = {.has_libjvm = 1};
    expect_refused(0, "there is no process 0");
    expect_refused(-1, "there is no process -1");
    expect_refused(INT_MAX, "there is no process");
    pid_t pid = fake_jvm_start(&other);
    expect_refused(pid, "is not a JVM");
    struct jvm_process process;
    CU_ASSERT_EQUAL(jvm_process_find_files(pid, &process, NULL), STEP_STATUS_OK);
    jvm_process_close(&process);
    fake_jvm_end(pid);
    pid = fake_jvm_start(&deaf);
    expect_refused(pid, "does not handle SIGQUIT");
    CU_ASSERT_EQUAL(kill(pid, 0), 0);
    fake_jvm_end(pid);
}

/* ---- the protocol ---- */

static enum step_status load(const char *answer, const char *messages, struct scratch_heard *heard,
                             struct step_error *error)
{
    struct fake_jvm jvm = jvm_that(answer, messages);
    struct jvm_process process;
    pid_t pid = fake_jvm_start(&jvm);
    CU_ASSERT_EQUAL_FATAL(jvm_process_find(pid, &process, error), STEP_STATUS_OK);
    scratch_listen();
    enum step_status status = attach_load(&process, "/x/libtracer.so", "start,file=/y", error);
    *heard = scratch_hear();
    jvm_process_close(&process);
    fake_jvm_end(pid);
    return status;
}

static void test_load(void)
{
    struct scratch_heard heard;
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(load(loaded, "steptrace: a warning\n", &heard, &error), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(heard.err, "steptrace: a warning\n");
    const char *request = fake_jvm_requests();
    CU_ASSERT_EQUAL(
        strncmp(request, "1 load /x/libtracer.so true client=/tmp/.steptrace-client-", 58), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(request, ",start,file=/y\n"));
    CU_ASSERT_EQUAL(load("0\n", NULL, &heard, &error), STEP_STATUS_OK); /* JDK 8 has no code */
}

/* The last message of an agent that refuses is the reason, what comes before it is passed on; of a
 * JVM that refuses, its answer. */
static void test_load_refused(void)
{
    static const struct {
        const char *answer, *messages, *reason;
    } cases[] = {
        {"0\nreturn code: 1\n", "steptrace: first\nsteptrace: the name is bad\n",
         "the agent refuses: the name is bad"},
        {"0\nreturn code: -4\n", NULL, "the agent refuses (return code: -4)"},
        {"100\nNo such file\n", NULL, "the JVM refuses: No such file"},
        {"", NULL, "the JVM refuses: no answer"},
        {"0", NULL, "the JVM refuses: no answer"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scratch_heard heard;
        struct step_error error = {.message = ""};
        CU_ASSERT_EQUAL(load(cases[i].answer, cases[i].messages, &heard, &error), STEP_STATUS_IO);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].reason));
        CU_ASSERT_STRING_EQUAL(heard.err, i == 0 ? "steptrace: first\n" : "");
    }
}

/* Nothing that a JVM says is obeyed by the terminal. */
static void test_hostile_messages(void)
{
    struct scratch_heard heard;
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(load(loaded, "\033]0;x\007\n", &heard, &error), STEP_STATUS_OK);
    CU_ASSERT(heard.err[0] != '\0' && strchr(heard.err, '\033') == NULL);
}

static enum step_status ask(const char *answer, char *out, size_t size, struct step_error *error)
{
    struct fake_jvm jvm = jvm_that(answer, NULL);
    struct jvm_process process;
    pid_t pid = fake_jvm_start(&jvm);
    CU_ASSERT_EQUAL_FATAL(jvm_process_find(pid, &process, error), STEP_STATUS_OK);
    enum step_status status = attach_ask(&process, "VM.metaspace", out, size, error);
    jvm_process_close(&process);
    fake_jvm_end(pid);
    return status;
}

static void test_ask(void)
{
    char out[64];
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(ask("0\nsome text", out, sizeof out, &error), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(out, "0\nsome text");
    CU_ASSERT_STRING_EQUAL(fake_jvm_requests(), "1 jcmd VM.metaspace  \n");
    CU_ASSERT_EQUAL(ask("1\nunknown", out, sizeof out, &error), STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "the JVM refuses: 1\nunknown"));
    CU_ASSERT_NOT_EQUAL(ask("0\nlonger than the room", out, 8, &error), STEP_STATUS_OK);
}

/* ---- the command ---- */

static enum step_status attach_words(struct scratch_heard *heard, const char *const *words)
{
    static char texts[12][512];
    char *arguments[13] = {NULL};
    int count = 0;
    for (; words[count] != NULL; count++) {
        snprintf(texts[count], sizeof texts[0], "%s", words[count]);
        arguments[count] = texts[count];
    }
    scratch_listen();
    enum step_status status = verb_attach(count, arguments);
    *heard = scratch_hear();
    return status;
}

#define ATTACH(heard, ...) attach_words(heard, (const char *const[]){__VA_ARGS__, NULL})

static char number[16];

static pid_t start(const char *answer)
{
    static struct fake_jvm jvm;
    put_heap_trace(scratch_path("made.step"), NULL, 0, no_properties);
    jvm = jvm_that(answer, NULL);
    jvm.trace = scratch_path("made.step");
    pid_t pid = fake_jvm_start(&jvm);
    snprintf(number, sizeof number, "%ld", (long) pid);
    return pid;
}

/* For a time: a start and a stop, of which the agent knows the time too; the page of the trace. */
static void test_for_a_time(void)
{
    struct scratch_heard heard;
    pid_t pid = start(loaded);
    const char *agent = scratch_put_text("libtracer.so", ""), *to = scratch_path("run.step");
    CU_ASSERT_EQUAL(ATTACH(&heard, "-d", "10ms", "-o", to, "--agent", agent, "-e", "alloc", number),
                    STEP_STATUS_OK);
    char *requests = strdup(fake_jvm_requests());
    CU_ASSERT_PTR_NOT_NULL(strstr(requests, "/run.step,duration=10ms,internals=safe,events=alloc"));
    CU_ASSERT_PTR_NOT_NULL(strstr(requests, ",stop,duration=10ms\n"));
    free(requests);
    /* the trace that is there stays, and the next has another name */
    called[0] = '\0';
    CU_ASSERT_EQUAL(ATTACH(&heard, "-d", "1ms", "-o", to, "--agent", agent, "--report", number),
                    STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "exists: the trace is"));
    CU_ASSERT_PTR_NOT_NULL(strstr(called, "page run.2.step run.2.html\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(fake_jvm_requests(), ",stack=64,snapshot=end:1s,duration=1ms"));
    fake_jvm_end(pid);
}

static void test_begin_and_stop(void)
{
    struct scratch_heard heard;
    pid_t pid = start(loaded);
    const char *agent = scratch_put_text("libtracer.so", ""), *to = scratch_path("on.step");
    CU_ASSERT_EQUAL(ATTACH(&heard, "-o", to, "--agent", agent, number), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "steptrace attach --stop"));
    CU_ASSERT_EQUAL(ATTACH(&heard, "--stop", "--agent", agent, number), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(fake_jvm_requests(), ",stop\n"));
    CU_ASSERT_EQUAL(ATTACH(&heard, "--snapshot", "--agent", agent, number), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(fake_jvm_requests(), ",snapshot\n"));
    CU_ASSERT_EQUAL(ATTACH(&heard, "--sampled", "--sample=1k", "-o", scratch_path("s.step"),
                           "--agent", agent, number),
                    STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(fake_jvm_requests(), ",engine=sampled,rate=1000,sample=1024,internals=safe"));
    CU_ASSERT_EQUAL(
        ATTACH(&heard, "--window=2s", "-o", scratch_path("w.step"), "--agent", agent, number),
        STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(fake_jvm_requests(), ",window=2000ms"));
    fake_jvm_end(pid);
}

static void test_agent_refuses(void)
{
    struct scratch_heard heard;
    pid_t pid = start("0\nreturn code: 2\n");
    const char *agent = scratch_put_text("libtracer.so", "");
    CU_ASSERT_EQUAL(
        ATTACH(&heard, "-d", "10s", "-o", scratch_path("n.step"), "--agent", agent, number),
        STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "the agent refuses"));
    CU_ASSERT_EQUAL(ATTACH(&heard, "--agent", scratch_path("no.so"), number), STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "libtracer.so cannot be found"));
    CU_ASSERT_EQUAL(ATTACH(&heard, "-o", scratch_path("no/dir/x.step"), "--agent", agent, number),
                    STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "no/dir/"));
    fake_jvm_end(pid);
}

/* Estimates by the number of classes, in slices above 2,000 of them or where that is asked for. */
static void test_forecast(void)
{
    struct scratch_heard heard;
    pid_t pid = start("0\nTotal Usage - 7 loaders, 2001 classes (547 shared):\n");
    CU_ASSERT_EQUAL(ATTACH(&heard, "--dry-run", number), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "2001 loaded; changed in slices (gentle)\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "the longest 6 to 20 ms"));
    CU_ASSERT_EQUAL(ATTACH(&heard, "--dry-run", "-O", "gentle=no", number), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "changed at once (gentle=no)\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "the longest 24 to 60 ms"));
    CU_ASSERT_PTR_NULL(strstr(fake_jvm_requests(), "load")); /* nothing is changed */
    fake_jvm_end(pid);
    static const char *const unknown[] = {"0\n", "0\nTotal Usage \n loaders, 7 classes",
                                          "0\nTotal Usage - 1 loaders, x classes",
                                          "0\nTotal Usage - 1 loaders, 7 things"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        pid = start(unknown[i]);
        CU_ASSERT_EQUAL(ATTACH(&heard, "--dry-run", number), STEP_STATUS_IO);
        CU_ASSERT_STRING_EQUAL(heard.out, "");
        fake_jvm_end(pid);
    }
}

/* What excludes what, before any process is looked at. */
static void test_usage(void)
{
    static const char *const cases[][3] = {{"x", NULL, NULL},
                                           {"0", NULL, NULL},
                                           {"4294967297", NULL, NULL},
                                           {"--report", "1", NULL},
                                           {"--sample=1k", "1", NULL},
                                           {"--sample=0", "--sampled", "1"},
                                           {"--window=0s", "1", NULL},
                                           {"--window=61min", "1", NULL},
                                           {"-d0s", "1", NULL},
                                           {"--window=1s", "-d1s", "1"},
                                           {"--snapshot", "--stop", "1"},
                                           {"-oa,b", "1", NULL},
                                           {"-o-", "1", NULL},
                                           {"-orun.html", "1", NULL},
                                           {"-orun.hatf", "1", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scratch_heard heard;
        CU_ASSERT_EQUAL(attach_words(&heard, (const char *const[]){cases[i][0], cases[i][1],
                                                                   cases[i][2], NULL}),
                        STEP_STATUS_INVALID);
        CU_ASSERT_STRING_NOT_EQUAL(heard.err, "");
    }
    struct scratch_heard heard;
    snprintf(number, sizeof number, "%ld", (long) getpid());
    CU_ASSERT_EQUAL(ATTACH(&heard, "--status", number), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "is not being recorded"));
}

/* ---- progress ---- */

static void test_progress(void)
{
    static const struct small_call calls[] = {{1, 64, 8}, {2, 128, 8}};
    const char *path = scratch_path("progress.step");
    struct attach_progress progress;
    put_heap_trace(path, calls, 2, no_properties);
    attach_progress_begin(&progress, path, 60000000000);
    progress.is_shown = true; /* as on a terminal */
    scratch_listen();
    attach_progress_show(&progress);
    attach_progress_show(&progress); /* once a second at most */
    attach_progress_end(&progress);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "\rrecording: 0 of 60.0 s, 2 events, "));
    const char *first = strstr(heard.err, "recording:");
    CU_ASSERT(first != NULL && strstr(first + 1, "recording:") == NULL);
    CU_ASSERT_EQUAL(heard.err[strlen(heard.err) - 1], '\r');
    attach_progress_begin(&progress, NULL, 0);
    progress.is_shown = false;
    scratch_listen();
    attach_progress_show(&progress);
    attach_progress_end(&progress);
    CU_ASSERT_STRING_EQUAL(scratch_hear().err, "");
}

/* ---- another user's traces ---- */

static struct jvm_process own_process(void)
{
    static gid_t groups[64];
    int count = getgroups(64, groups);
    return (struct jvm_process){.pid = getpid(),
                                .uid = geteuid(),
                                .gid = getegid(),
                                .groups = groups,
                                .group_count = count > 0 ? (size_t) count : 0,
                                .root = -1,
                                .mount_namespace = -1};
}

static void test_foreign(void)
{
    const struct jvm_process process = own_process();
    const struct timespec start_time = {0};
    const char *trace = scratch_path("their.step");
    put_heap_trace(trace, NULL, 0, no_properties);
    scratch_listen();
    enum step_status page = foreign_traces_report(&process, trace, &start_time);
    enum step_status lack = foreign_traces_lack(&process, trace, &start_time);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT(page == STEP_STATUS_OK && lack == STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "their.html"));
    CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path("their.html"), NULL),
                           "<title>their.step</title>\n");
    size_t length;
    const char *bytes = scratch_read(trace, &length);
    const char *cut = scratch_put("cut.step", bytes, length - 8);
    scratch_listen();
    lack = foreign_trace_lacks(&process, cut, "the name");
    heard = scratch_hear();
    CU_ASSERT_EQUAL(lack, STEP_STATUS_CORRUPT);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "the name: "));
    scratch_listen();
    lack = foreign_traces_lack(&process, scratch_path("none.step"), &start_time);
    heard = scratch_hear();
    CU_ASSERT_EQUAL(lack, STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "there is no trace"));
}

/* Root reads with the rights of the other user: what that user may not read stays unread. */
static void test_foreign_rights(void)
{
    struct jvm_process process = own_process();
    const char *trace = scratch_path("secret.step");
    if (geteuid() != 0)
        return;
    process.uid = process.gid = 4242;
    process.group_count = 0;
    put_heap_trace(trace, NULL, 0, no_properties);
    scratch_listen();
    enum step_status lack = foreign_trace_lacks(&process, trace, "secret");
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_EQUAL(lack, STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "secret"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("attach", scratch_begin, scratch_end);
    CU_add_test(suite, "facts", test_facts);
    CU_add_test(suite, "processes that are refused", test_refused);
    CU_add_test(suite, "loading", test_load);
    CU_add_test(suite, "refusals", test_load_refused);
    CU_add_test(suite, "hostile messages", test_hostile_messages);
    CU_add_test(suite, "asking", test_ask);
    CU_add_test(suite, "for a time", test_for_a_time);
    CU_add_test(suite, "begin and stop", test_begin_and_stop);
    CU_add_test(suite, "an agent that refuses", test_agent_refuses);
    CU_add_test(suite, "forecast", test_forecast);
    CU_add_test(suite, "usage", test_usage);
    CU_add_test(suite, "progress", test_progress);
    CU_add_test(suite, "another user's traces", test_foreign);
    CU_add_test(suite, "another user's rights", test_foreign_rights);
}
