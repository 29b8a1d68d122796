/* SPDX-License-Identifier: Apache-2.0 */
/* The program that attaches, as the agent sees it: it waits, or it has gone. */
#include <CUnit/Basic.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "capture/attach_client.h"
#include "capture/log.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

static char options_text[700];

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(listener >= 0 &&
                    bind(listener, (const struct sockaddr *) &address, sizeof address) == 0 &&
                    listen(listener, 1) == 0);
    return listener;
}

static const char *options_for(const char *path, const char *rest)
{
    snprintf(options_text, sizeof options_text, "client=%s%s", path, rest);
    return options_text;
}

struct program {
    int listener;
    bool answers;
    char text[256];
};

/* Takes the connection, answers it, and reads what comes until its end. */
static void *wait_as_program(void *data)
{
    struct program *program = data;
    size_t used = 0;
    ssize_t got;
    int client = accept(program->listener, NULL, NULL);
    if (program->answers && send(client, "", 1, MSG_NOSIGNAL) == 1)
        while ((got = read(client, program->text + used, sizeof program->text - 1 - used)) > 0)
            used += (size_t) got;
    close(client);
    return NULL;
}

/* Commands of an older program, or of jcmd, have no client. */
static void test_none(void)
{
    const char *options = "start,file=x";
    int client = 7;
    CU_ASSERT_TRUE(attach_client_take(&options, &client));
    CU_ASSERT_EQUAL(client, -1);
    CU_ASSERT_STRING_EQUAL(options, "start,file=x");
    options = NULL;
    CU_ASSERT_TRUE(attach_client_take(&options, &client));
    CU_ASSERT_EQUAL(client, -1);
    attach_client_leave(client);
}

/* One that waits gets this thread's messages until it is left. */
static void test_waits(void)
{
    struct program program = {listen_at(scratch_path("waits")), true, ""};
    pthread_t thread;
    const char *options = options_for(scratch_path("waits"), ",stop,duration=1ms");
    int client = -1;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wait_as_program, &program), 0);
    CU_ASSERT_TRUE(attach_client_take(&options, &client));
    CU_ASSERT(client >= 0);
    CU_ASSERT_STRING_EQUAL(options, "stop,duration=1ms");
    scratch_listen();
    log_message("a message");
    attach_client_leave(client);
    log_message("another");
    struct scratch_heard heard = scratch_hear();
    pthread_join(thread, NULL);
    CU_ASSERT_STRING_EQUAL(program.text, "steptrace: a message\n");
    CU_ASSERT_STRING_EQUAL(heard.err, "steptrace: a message\nsteptrace: another\n");
    close(program.listener);
}

/* A socket that nobody listens at any more is removed, and its command is not carried out; a file
 * that is none stays. */
static void test_gone(void)
{
    const char *path = scratch_path("gone"), *file = scratch_put_text("file", "text");
    int client = 7;
    close(listen_at(path));
    const char *options = options_for(path, ",start");
    scratch_listen();
    bool taken = attach_client_take(&options, &client);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_FALSE(taken);
    CU_ASSERT_EQUAL(client, -1);
    CU_ASSERT_STRING_EQUAL(options, "start");
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "a command was ignored"));
    CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
    options = options_for(file, ",start");
    scratch_listen();
    taken = attach_client_take(&options, &client);
    scratch_hear();
    CU_ASSERT_FALSE(taken);
    CU_ASSERT_EQUAL(access(file, F_OK), 0);
}

/* One that takes the connection and closes it does not wait. */
static void test_closes(void)
{
    struct program program = {listen_at(scratch_path("closes")), false, ""};
    pthread_t thread;
    const char *options = options_for(scratch_path("closes"), ",start");
    int client = 7;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wait_as_program, &program), 0);
    scratch_listen();
    bool taken = attach_client_take(&options, &client);
    scratch_hear();
    pthread_join(thread, NULL);
    CU_ASSERT_FALSE(taken);
    CU_ASSERT_EQUAL(client, -1);
    close(program.listener);
}

static void test_long(void)
{
    char path[300];
    int client = 7;
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    const char *options = options_for(path, ",start");
    CU_ASSERT_FALSE(attach_client_take(&options, &client));
    CU_ASSERT_EQUAL(client, -1);
    options = "client=";
    scratch_listen();
    bool taken = attach_client_take(&options, &client);
    scratch_hear();
    CU_ASSERT_FALSE(taken);
    CU_ASSERT_STRING_EQUAL(options, "");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("attaching programs", scratch_begin, scratch_end);
    CU_add_test(suite, "none", test_none);
    CU_add_test(suite, "one that waits", test_waits);
    CU_add_test(suite, "one that has gone", test_gone);
    CU_add_test(suite, "one that closes", test_closes);
    CU_add_test(suite, "long paths", test_long);
}
