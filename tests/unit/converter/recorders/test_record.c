/* SPDX-License-Identifier: Apache-2.0 */
/* `record` and `record-malloc`: what the command gets, its exit status, and what is refused. */
#include <CUnit/Basic.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "tests/unit/converter/recorders/small_heap_trace.h"
#include "tests/unit/run_suite.h"

VERB(record);
VERB(record_malloc);

static struct scratch_heard heard;

/* In a child: `record` may become the command. */
static int run_words(verb_function verb, const char *const *words)
{
    static char texts[16][512];
    char *arguments[17] = {NULL};
    int count = 0, code = 0;
    for (; words[count] != NULL; count++) {
        snprintf(texts[count], sizeof texts[0], "%s", words[count]);
        arguments[count] = texts[count];
    }
    scratch_listen();
    pid_t child = fork();
    if (child == 0) {
        verb_exit_code = 0;
        enum step_status status = verb(count, arguments);
        fflush(NULL);
        _exit(status == STEP_STATUS_OK ? verb_exit_code : 100 + (int) status);
    }
    waitpid(child, &code, 0);
    heard = scratch_hear();
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

#define RECORD(...) run_words(verb_record, (const char *const[]){__VA_ARGS__, NULL})
#define RECORD_MALLOC(...) run_words(verb_record_malloc, (const char *const[]){__VA_ARGS__, NULL})

static const char *script(const char *name, const char *text)
{
    const char *path = scratch_put_text(name, text);
    CU_ASSERT_EQUAL(chmod(path, 0700), 0);
    return path;
}

static bool says(const char *text)
{
    return strstr(heard.err, text) != NULL;
}

/* java gets the agent's option before its own arguments, and its exit status is the verb's. */
static void test_java(void)
{
    const char *agent = scratch_put_text("libtracer.so", "");
    const char *java = script("java", "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 5\n");
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "-o", "x.step", "-e", "alloc,free", "--stack=8", "-O",
                           "level=3", "--", java, "-cp", "a b", "Main"),
                    5);
    char wanted[1024];
    snprintf(wanted, sizeof wanted,
             "-agentpath:%s=file=x.step,events=alloc+free,stack=8,level=3\n-cp\na b\nMain\n",
             agent);
    CU_ASSERT_STRING_EQUAL(heard.out, wanted);
    const char *javac = script("javac", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "-e", "method", javac, "A.java"), 0);
    CU_ASSERT_EQUAL(strncmp(heard.out, "-J-agentpath:", 13), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "\n-J-XX:-OmitStackTraceInFastThrow\nA.java\n"));
}

/* What starts a JVM gets a variable, in whose name of the trace is the process. */
static void test_other(void)
{
    const char *agent = scratch_put_text("libtracer.so", ""), *to = scratch_path("o-%p.step");
    char command[1024], wanted[1024];
    put_heap_trace(scratch_path("made.step"), NULL, 0, (const char *const[]){NULL});
    snprintf(command, sizeof command, "echo \"$JAVA_TOOL_OPTIONS\"; cp %s %s; exit 4",
             scratch_path("made.step"), scratch_path("o-77.step"));
    setenv("JAVA_TOOL_OPTIONS", "-Xmx1g", 1);
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "-o", to, "sh", "-c", command), 4);
    snprintf(wanted, sizeof wanted, "-agentpath:%s=file=%s -Xmx1g\n", agent, to);
    CU_ASSERT_STRING_EQUAL(heard.out, wanted);
    unsetenv("JAVA_TOOL_OPTIONS");
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "-o", scratch_path("q.step"), "-O", "x=a \"b\"", "sh",
                           "-c", "eval \"echo $JAVA_TOOL_OPTIONS\""),
                    100 + STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, "/q-%p.step,x=a \"b\"\n")); /* as the JVM reads it */
    CU_ASSERT(says("no trace was written"));
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "-o", scratch_path("q.step"), "sh", "-c", "exit 9"),
                    9); /* the command's own failure */
}

/* --report and --summary of the trace that the command has left. */
static void test_answers(void)
{
    const char *agent = scratch_put_text("libtracer.so", ""), *to = scratch_path("rep.step");
    char text[1024];
    put_heap_trace(scratch_path("made.step"), NULL, 0, (const char *const[]){NULL});
    snprintf(text, sizeof text, "#!/bin/sh\necho \"$1\"; cp %s %s\n", scratch_path("made.step"),
             to);
    const char *java = script("java", text);
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "--report", "--summary", "-o", to, java), 0);
    CU_ASSERT(says("the summary\n") && says("rep.html"));
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, ",stack=64,snapshot=end:1s\n"));
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "--report", "--no-snapshot", "-o", to, java), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.out, ",stack=64\n"));
}

static void test_refused(void)
{
    const char *agent = scratch_put_text("libtracer.so", "");
    static const char *const outputs[] = {"a,b.step", "-", "run.html", "run.hatf"};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        CU_ASSERT_EQUAL(RECORD("--agent", agent, "-o", outputs[i], "java"),
                        100 + STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(RECORD("--agent", agent), 100 + STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(RECORD("--engine", "a,b", "java"), 100 + STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(RECORD("--agent", scratch_path("no.so"), "java"), 100 + STEP_STATUS_IO);
    CU_ASSERT(says("cannot be found"));
    CU_ASSERT_EQUAL(RECORD("--agent", scratch_put_text("a=b.so", ""), "java"),
                    100 + STEP_STATUS_IO);
    CU_ASSERT(says("no `=`"));
    CU_ASSERT_EQUAL(RECORD("--agent", agent, scratch_path("no-java/java")), 100 + STEP_STATUS_IO);
    CU_ASSERT(says("No such file"));
}

/* An agent of another machine: the program runs without it, unless the agent is required. */
static void test_other_machine(void)
{
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                         .e_machine = EM_S390};
    const char *agent = scratch_put("libtracer.so", &header, sizeof header);
    const char *java = script("java", "#!/bin/sh\necho \"ran $*\"\n");
    CU_ASSERT_EQUAL(RECORD("--agent", agent, java, "Main"), 0);
    CU_ASSERT_STRING_EQUAL(heard.out, "ran Main\n");
    CU_ASSERT(says("it is for s390") && says("the program runs untraced"));
    CU_ASSERT_EQUAL(RECORD("--agent", agent, "-O", "required=yes", java, "Main"),
                    100 + STEP_STATUS_IO);
    CU_ASSERT_STRING_EQUAL(heard.out, "");
}

/* ---- record-malloc ---- */

/* The program gets the library and the recorder's options; a path is absolute, % of a directory's
 * name doubled. */
static void test_malloc_environment(void)
{
    char before[PATH_MAX], wanted[1024];
    const char *library = scratch_put_text("libmalloctracer.so", "");
    const char *directory = scratch_path("5%");
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(before, sizeof before));
    CU_ASSERT_FATAL(mkdir(directory, 0700) == 0 && chdir(directory) == 0);
    static const char script[] = "echo \"$STEPTRACE_MALLOC\"; echo \"$LD_PRELOAD\"; "
                                 "test $$ = \"$STEPTRACE_MALLOC_PROCESS\" && exit 6";
    CU_ASSERT_EQUAL(
        RECORD_MALLOC("--library", library, "-o", "m-%p.step", "--stack=4", "sh", "-c", script), 6);
    CU_ASSERT_EQUAL(chdir(before), 0);
    snprintf(wanted, sizeof wanted, "file=%s%%/m-%%p.step,stack=4\n%s\n", directory, library);
    CU_ASSERT_STRING_EQUAL(heard.out, wanted);
}

/* The trace that the program has left is converted by the name's ending. */
static void test_malloc_converted(void)
{
    const char *library = scratch_put_text("libmalloctracer.so", ""), *to = scratch_path("m.hatf");
    char command[1024];
    put_heap_trace(scratch_path("made.step"), NULL, 0, (const char *const[]){NULL});
    snprintf(command, sizeof command, "cp %s %s.step", scratch_path("made.step"), to);
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", library, "-o", to, "sh", "-c", command), 0);
    CU_ASSERT_EQUAL(access(to, F_OK), 0);
}

static void test_malloc_refused(void)
{
    const char *library = scratch_put_text("libmalloctracer.so", "");
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", library, "-o", "a,b.step", "true"),
                    100 + STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", library, "-o", "-", "true"),
                    100 + STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(RECORD_MALLOC("--pid=7", "true"), 100 + STEP_STATUS_INVALID);
    CU_ASSERT(says("a running process cannot be recorded"));
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", scratch_path("no.so"), "true"),
                    100 + STEP_STATUS_IO);
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", scratch_put_text("a b.so", ""), "true"),
                    100 + STEP_STATUS_IO);
    CU_ASSERT(says("no colons or spaces"));
    /* no trace: the program's own status, or a fault with the reason */
    const char *to = scratch_path("none.step");
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", library, "-o", to, "sh", "-c", "exit 3"), 3);
    CU_ASSERT(says("left no trace"));
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", library, "-o", to, "sh", "-c", "kill -9 $$"), 137);
    CU_ASSERT(says("it was ended by signal 9"));
    CU_ASSERT_EQUAL(RECORD_MALLOC("--library", library, "-o", to, "sh", "-c", ":"),
                    100 + STEP_STATUS_IO);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("record", scratch_begin, scratch_end);
    CU_add_test(suite, "java", test_java);
    CU_add_test(suite, "other commands", test_other);
    CU_add_test(suite, "answers", test_answers);
    CU_add_test(suite, "what is refused", test_refused);
    CU_add_test(suite, "an agent of another machine", test_other_machine);
    CU_add_test(suite, "the environment of a native program", test_malloc_environment);
    CU_add_test(suite, "converted", test_malloc_converted);
    CU_add_test(suite, "what record-malloc refuses", test_malloc_refused);
}
