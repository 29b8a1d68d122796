/* SPDX-License-Identifier: Apache-2.0 */
/* The server of the Model Context Protocol, in this process: what each message is answered, and
 * what becomes of calls.  A call runs this program itself, which then is the command
 * (be_command()).
 */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyses/mcp/mcp.h"
#include "converter/cli/verb.h"
#include "tests/unit/analyses/verb_output.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

VERB(mcp);

#define CALL(id, tool, arguments)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool    \
    "\",\"arguments\":{" arguments "}}}\n"
#define MESSAGE(id, method) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}\n"

/* ---- the command ---- */

/* The command that the server starts is this program again, which acts by the command's name. */
static void be_command(void)
{
    char words[2048] = "", first = 0;
    int file = open("/proc/self/cmdline", O_RDONLY);
    ssize_t length = read(file, words, sizeof words - 1);
    for (ssize_t i = 0; i < length - 1; i++)
        words[i] = words[i] == '\0' ? '|' : words[i];
    if (strcmp(suite_argument, "info") == 0) {
        printf("%s\n", words);
        exit(0);
    }
    if (strcmp(suite_argument, "stats") == 0) { /* fails, after a message */
        fputs("no \"such\" class\n", stderr);
        exit(3);
    }
    if (strcmp(suite_argument, "leaks") == 0) /* does not end */
        for (;;)
            pause();
    if (strcmp(suite_argument, "sql") == 0) { /* prints too much */
        for (unsigned i = 0; i < 100000; i++)
            puts("a row of many");
        exit(0);
    }
    if (strcmp(suite_argument, "heap") == 0) /* is killed */
        raise(SIGKILL);
    /* what a command may not have: input, files to write */
    char name[] = "/tmp/confined-XXXXXX";
    int written = mkstemp(name);
    bool is_written = written >= 0 && write(written, "x", 1) == 1;
    unlink(name);
    printf("%zd %s\n", read(STDIN_FILENO, &first, 1), is_written ? "written" : "not written");
    exit(0);
}

/* ---- the server ---- */

struct serving {
    const struct mcp_traces *traces;
    const struct mcp_limits *limits;
    enum step_status status;
};

static void serve(const void *user)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct serving *serving = (struct serving *) (uintptr_t) user;
    serving->status = mcp_serve(serving->traces, serving->limits, &error);
}

static struct mcp_limits limits;

/* Gives the server these lines, and nothing after them.  Its answers are lines of run_out(). */
static void ask(const char *lines)
{
    struct mcp_traces traces = {.count = 0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct serving serving = {&traces, &limits, STEP_STATUS_IO};
    char *directory = scratch_path("");
    CU_ASSERT_EQUAL_FATAL(mcp_traces_add(&traces, directory, &error), STEP_STATUS_OK);
    int usual = dup(STDIN_FILENO), input = open(scratch_put_text("input", lines), O_RDONLY);
    unlink(scratch_path("input"));
    CU_ASSERT_FATAL(input >= 0 && dup2(input, STDIN_FILENO) == STDIN_FILENO);
    run_printing(serve, &serving);
    CU_ASSERT_EQUAL(serving.status, STEP_STATUS_OK);
    if (usual >= 0)
        dup2(usual, STDIN_FILENO);
    close(usual);
    close(input);
    mcp_traces_close(&traces);
}

/* Parses the line with this number, from 0. */
static bool answer(size_t number)
{
    char *lines = strdup(run_out()), *rest = lines, *line = NULL;
    for (size_t i = 0; i <= number; i++)
        line = strsep(&rest, "\n");
    bool is_there = line != NULL && *line != '\0' && json_parse(line);
    free(lines);
    return is_there;
}

static void test_messages(void)
{
    limits = (struct mcp_limits){.call_ns = 60000000000, .answer_bytes = 65536};
    ask("{\"jsonrpc\":\"2.0\",\"id\":\"a\\\"</script>\",\"method\":\"initialize\",\"params\":"
        "{\"protocolVersion\":\"2024-11-05\"}}\n" MESSAGE("2", "ping") "\r\n   \n" MESSAGE(
            "3", "tools/list") MESSAGE("4", "resources/list"));
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "a\"</script>");
    CU_ASSERT_STRING_EQUAL(json_at("result.protocolVersion"), "2024-11-05");
    CU_ASSERT_STRING_EQUAL(json_at("result.serverInfo.name"), "steptrace");
    CU_ASSERT_TRUE_FATAL(answer(1));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "2");
    CU_ASSERT_STRING_EQUAL(json_at("result"), "{");
    CU_ASSERT_TRUE_FATAL(answer(2));
    CU_ASSERT_STRING_EQUAL(json_at("result.tools[0].name"), "list_traces");
    CU_ASSERT_STRING_EQUAL(json_at("result.tools[1].inputSchema.type"), "object");
    CU_ASSERT_TRUE_FATAL(answer(3));
    CU_ASSERT_STRING_EQUAL(json_at("error.code"), "-32601");
    CU_ASSERT_FALSE(answer(4)); /* blank lines have no answer */
}

/* A version that the server does not know, or none: the newest that it knows. */
static void test_versions(void)
{
    ask(MESSAGE("1",
                "initialize") "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":"
                              "{\"protocolVersion\":\"2099-01-01\"}}\n");
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_TRUE_FATAL(answer(i));
        CU_ASSERT_STRING_EQUAL(json_at("result.protocolVersion"), "2025-06-18");
    }
}

/* Each bad line is answered, and the next one is read. */
static void test_bad_lines(void)
{
    char *long_line = malloc((2 << 20) + 200);
    CU_ASSERT_PTR_NOT_NULL_FATAL(long_line);
    strcpy(long_line, "no JSON\n{}\n[1]\n" MESSAGE("1.5e3", "ping"));
    size_t length = strlen(long_line);
    memset(long_line + length, 'x', 2 << 20);
    strcpy(long_line + length + (2 << 20), "\n" MESSAGE("9", "ping"));
    ask(long_line);
    free(long_line);
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("error.code"), "-32700");
    CU_ASSERT_STRING_EQUAL(json_at("id"), "null");
    CU_ASSERT_TRUE_FATAL(answer(1));
    CU_ASSERT_STRING_EQUAL(json_at("error.code"), "-32600");
    CU_ASSERT_TRUE_FATAL(answer(2));
    CU_ASSERT_STRING_EQUAL(json_at("error.code"), "-32600");
    CU_ASSERT_TRUE_FATAL(answer(3));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "1.5e3"); /* a number as it stood */
    CU_ASSERT_TRUE_FATAL(answer(4));
    CU_ASSERT_STRING_EQUAL(json_at("error.message"), "the message is longer than 1 MiB");
    CU_ASSERT_TRUE_FATAL(answer(5));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "9");
    CU_ASSERT_FALSE(answer(6));
}

/* The command itself: directories that are there, and as many as it takes. */
static void test_directories(void)
{
    char *here = scratch_path("");
    int usual = dup(STDIN_FILENO), null = open("/dev/null", O_RDONLY);
    CU_ASSERT_FATAL(null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO);
    CU_ASSERT_EQUAL(run_verb(verb_mcp, here, NULL), STEP_STATUS_OK);
    CU_ASSERT_STRING_EQUAL(run_out(), ""); /* nothing but answers */
    CU_ASSERT_STRING_EQUAL(run_err(), "");
    CU_ASSERT_EQUAL(run_verb(verb_mcp, here, scratch_path("gone"), NULL), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_TRUE(run_reported("gone"));
    CU_ASSERT_NOT_EQUAL(run_verb(verb_mcp, scratch_put_text("file", "x"), NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(run_verb(verb_mcp, NULL), STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(run_verb(verb_mcp, here, "--time=never", NULL), STEP_STATUS_INVALID);
#define FOUR here, here, here, here
    CU_ASSERT_EQUAL(run_verb(verb_mcp, FOUR, FOUR, FOUR, FOUR, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(run_verb(verb_mcp, FOUR, FOUR, FOUR, FOUR, here, NULL), STEP_STATUS_INVALID);
    if (usual >= 0)
        dup2(usual, STDIN_FILENO);
    close(usual);
    close(null);
}

/* ---- calls ---- */

/* The command gets the trace under a name of its own, which the answer does not have. */
static void test_call(void)
{
    scratch_put_text("run.step", "a trace");
    ask(CALL("1", "info", "\"trace\":\"run.step\"") CALL("2", "list_traces", ""));
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "1");
    CU_ASSERT_STRING_EQUAL(json_at("result.isError"), "false");
    CU_ASSERT_EQUAL(json_count("result.content"), 1);
    CU_ASSERT_STRING_EQUAL(json_at("result.content[0].type"), "text");
    const char *text = json_at("result.content[0].text");
    CU_ASSERT_EQUAL(strncmp(text, "steptrace|info|", 15), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "run.step"));
    CU_ASSERT_PTR_NULL(strstr(text, "/run.step"));
    CU_ASSERT_TRUE_FATAL(answer(1));
    CU_ASSERT_PTR_NOT_NULL(strstr(json_at("result.content[0].text"), "run.step"));
    CU_ASSERT_PTR_NOT_NULL(strstr(json_at("result.content[0].text"), "7"));
    limits.memory = "64m";
    ask(CALL("3", "info", "\"trace\":\"run.step\""));
    limits.memory = NULL;
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_PTR_NOT_NULL(strstr(json_at("result.content[0].text"), "info|--memory=64m|"));
}

/* Failures are answers that say so; the next call is served. */
static void test_failures(void)
{
    scratch_put_text("run.step", "a trace");
    ask(CALL("1", "stats", "\"trace\":\"run.step\"") CALL("2", "heap", "\"trace\":\"run.step\"")
            CALL("3", "nothing", "") CALL("4", "info", "\"trace\":\"../../etc/passwd\"")
                CALL("5", "info", "") CALL("6", "info", "\"trace\":\"run.step\",\"x\":1"));
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("result.isError"), "true");
    CU_ASSERT_STRING_EQUAL(json_at("result.content[0].text"), "no \"such\" class\n");
    CU_ASSERT_TRUE_FATAL(answer(1));
    CU_ASSERT_STRING_EQUAL(json_at("result.content[0].text"), "the command ended unexpectedly");
    CU_ASSERT_TRUE_FATAL(answer(2));
    CU_ASSERT_STRING_EQUAL(json_at("error.code"), "-32602");
    for (size_t i = 3; i < 6; i++) {
        CU_ASSERT_TRUE_FATAL(answer(i));
        CU_ASSERT_STRING_EQUAL(json_at("result.isError"), "true");
    }
    CU_ASSERT_STRING_EQUAL(json_at("id"), "6");
}

static void test_limits(void)
{
    scratch_put_text("run.step", "a trace");
    limits.call_ns = 20000000;
    ask(CALL("1", "leaks", "\"trace\":\"run.step\""));
    limits.call_ns = 60000000000;
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("result.isError"), "true");
    CU_ASSERT_PTR_NOT_NULL(strstr(json_at("result.content[0].text"), "took longer"));
    ask(CALL("2", "sql", "\"trace\":\"run.step\",\"query\":\"select 1\""));
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("result.isError"), "true");
    CU_ASSERT_PTR_NOT_NULL(strstr(json_at("result.content[0].text"), "longer than the server's"));
    CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
}

/* A call that is cancelled, running or waiting, has no answer. */
static void test_cancelled(void)
{
    scratch_put_text("run.step", "a trace");
    ask(CALL("1", "leaks", "\"trace\":\"run.step\"") CALL("2", "info", "\"trace\":\"run.step\"")
            CALL("\"2\"", "info",
                 "\"trace\":\"run.step\"") "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                                           "cancelled\",\"params\":{\"requestId\":2}}\n"
                                           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                                           "cancelled\",\"params\":{\"requestId\":99}}"
                                           "\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                                           "cancelled\",\"params\":{\"requestId\":1}}"
                                           "\n");
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "2");
    CU_ASSERT_TRUE(strstr(run_out(), "\"id\":\"2\"") != NULL); /* the text, not the number */
    CU_ASSERT_FALSE(answer(1));
}

/* So many calls may wait; the others are refused at once. */
static void test_many(void)
{
    static char lines[70 * 200];
    size_t length = 0;
    scratch_put_text("run.step", "a trace");
    for (unsigned i = 0; i < 70; i++)
        length +=
            (size_t) snprintf(lines + length, sizeof lines - length, CALL("%u", "nothing", ""), i);
    ask(lines);
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "64");
    CU_ASSERT_STRING_EQUAL(json_at("error.message"), "too many calls are waiting");
    CU_ASSERT_TRUE_FATAL(answer(69));
    CU_ASSERT_STRING_EQUAL(json_at("id"), "63"); /* those that waited, in their order */
    CU_ASSERT_FALSE(answer(70));
}

/* A command has no input, and cannot write files. */
static void test_confined(void)
{
    scratch_put_text("a.step", "a trace");
    ask(CALL("1", "compare", "\"before\":\"a.step\",\"after\":\"a.step\""));
    CU_ASSERT_TRUE_FATAL(answer(0));
    CU_ASSERT_STRING_EQUAL(json_at("result.content[0].text"), "0 not written\n");
}

void add_suite(void)
{
    if (suite_argument != NULL)
        be_command();
    CU_pSuite suite = CU_add_suite("the server", scratch_begin, scratch_end);
    CU_add_test(suite, "messages", test_messages);
    CU_add_test(suite, "versions", test_versions);
    CU_add_test(suite, "bad lines", test_bad_lines);
    CU_add_test(suite, "directories", test_directories);
    CU_add_test(suite, "call", test_call);
    CU_add_test(suite, "failures", test_failures);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "cancelled", test_cancelled);
    CU_add_test(suite, "many calls", test_many);
    CU_add_test(suite, "confined", test_confined);
}
