/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to a stderr that nobody reads. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "capture/log.h"
#include "tests/unit/run_suite.h"

/* Empties the pipe; whether the text stood in the last bytes. */
static bool read_rest(int reader, const char *wanted)
{
    char block[4096 + 1] = "", last[4096 + 1] = "";
    for (ssize_t got; (got = read(reader, block, sizeof block - 1)) > 0;) {
        block[got] = '\0';
        memcpy(last, block, sizeof last);
    }
    return strstr(last, wanted) != NULL;
}

static void test_full_pipe(void)
{
    int ends[2], own = dup(STDERR_FILENO);
    char bytes[4096];
    memset(bytes, 'x', sizeof bytes);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], bytes, sizeof bytes) > 0)
        continue;
    fcntl(ends[1], F_SETFL, 0); /* as a program's stderr is: who writes waits */
    dup2(ends[1], STDERR_FILENO);
    log_message("lost"); /* returns */
    bool was_written = read_rest(ends[0], "lost");
    log_message("number %d", 2);
    bool is_written = read_rest(ends[0], "steptrace: number 2\n");
    dup2(own, STDERR_FILENO);
    CU_ASSERT_FALSE(was_written);
    CU_ASSERT_TRUE(is_written);
}

/* Names of traces are what a user typed, or another process. */
static void test_control_characters(void)
{
    int ends[2], own = dup(STDERR_FILENO);
    char line[256] = "", all[2048];
    memset(all, '\n', sizeof all - 1);
    all[sizeof all - 1] = '\0';
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    log_message("cannot make %s", "a\nsteptrace: b\033[2J.step");
    ssize_t got = read(ends[0], line, sizeof line - 1);
    log_message("%s", all);
    ssize_t cut = read(ends[0], all, sizeof all);
    dup2(own, STDERR_FILENO);
    CU_ASSERT(got > 0);
    CU_ASSERT_STRING_EQUAL(line, "steptrace: cannot make a\\x0asteptrace: b\\x1b[2J.step\n");
    CU_ASSERT(cut > 1000 && cut <= 1024);
    CU_ASSERT_PTR_EQUAL(memchr(all, '\n', (size_t) cut), &all[cut - 1]);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("log", NULL, NULL);
    CU_add_test(suite, "control characters", test_control_characters);
    CU_add_test(suite, "a pipe that is full", test_full_pipe);
}
