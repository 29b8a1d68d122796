/* SPDX-License-Identifier: Apache-2.0 */
/* A process that looks like a JVM to `attach`: it has a library libjvm.so mapped, begins its attach
 * listener at SIGQUIT, and gives the answer that the test has chosen. */
#include "tests/unit/converter/recorders/fake_jvm.h"

#include <CUnit/Basic.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/scratch.h"

static char socket_path[64];

static void copy_file(const char *from, const char *to, size_t length)
{
    char path[512];
    size_t size;
    snprintf(path, sizeof path, "%.*s", (int) length, to);
    const char *bytes = scratch_read(from, &size);
    FILE *file = fopen(path, "wb");
    if (bytes != NULL && file != NULL)
        fwrite(bytes, 1, size, file);
    if (file != NULL)
        fclose(file);
}

/* What the agent does with its options: it says its messages to the client, and writes the trace.
 */
static void be_agent(const struct fake_jvm *jvm, const char *options)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *file = strstr(options, ",file=");
    char byte;
    if (file != NULL && jvm->trace != NULL)
        copy_file(jvm->trace, file + 6, strcspn(file + 6, ","));
    if (jvm->messages == NULL || strncmp(options, "client=", 7) != 0)
        return;
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s", (int) strcspn(options + 7, ","),
             options + 7);
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(client, (const struct sockaddr *) &address, sizeof address) == 0 &&
        read(client, &byte, 1) == 1)
        (void) !write(client, jvm->messages, strlen(jvm->messages));
    close(client);
}

/* Reads the five texts of a request, and answers. */
static void answer_one(const struct fake_jvm *jvm, int client, FILE *requests)
{
    static char texts[65536];
    size_t used = 0, ends = 0, last = 0;
    ssize_t got;
    while (ends < 5 && (got = read(client, texts + used, 1)) == 1) {
        ends += texts[used++] == '\0';
        if (ends == 4 && last == 0)
            last = used;
    }
    for (size_t i = 0; i + 1 < used; i++)
        fputc(texts[i] == '\0' ? ' ' : texts[i], requests);
    fputc('\n', requests);
    fflush(requests);
    if (strcmp(texts + 2, "load") == 0)
        be_agent(jvm, texts + last);
    (void) !write(client, jvm->answer, strlen(jvm->answer));
    close(client);
}

static volatile sig_atomic_t quits;

static void note_quit(int number)
{
    (void) number;
    quits++;
}

/* Waits for the trigger and SIGQUIT, then listens. */
static void be_jvm(const struct fake_jvm *jvm)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    sigset_t quit, before;
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/.java_pid%ld", (long) getpid());
    unlink(address.sun_path); /* of a process that had this number before */
    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    sigprocmask(SIG_BLOCK, &quit, &before);
    FILE *requests = fopen(scratch_path("requests"), "w"), *ready;
    if (jvm->handles_quit)
        sigaction(SIGQUIT, &(struct sigaction){.sa_handler = note_quit}, NULL);
    int library = open(scratch_path("jdk/lib/server/libjvm.so"), O_RDONLY);
    if (jvm->has_libjvm)
        (void) mmap(NULL, 4, PROT_READ, MAP_PRIVATE, library, 0);
    if ((ready = fopen(scratch_path("ready"), "w")) != NULL)
        fclose(ready);
    while (quits == 0)
        sigsuspend(&before);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, (const struct sockaddr *) &address, sizeof address) != 0 ||
        listen(listener, 4) != 0)
        return;
    for (int client; (client = accept(listener, NULL, NULL)) >= 0;)
        answer_one(jvm, client, requests);
}

pid_t fake_jvm_start(const struct fake_jvm *jvm)
{
    mkdir(scratch_path("jdk"), 0700);
    mkdir(scratch_path("jdk/lib"), 0700);
    mkdir(scratch_path("jdk/lib/server"), 0700);
    scratch_put_text("jdk/lib/server/libjvm.so", "JVM!");
    scratch_put_text("jdk/release", "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.9\"\n");
    unlink(scratch_path("ready"));
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            be_jvm(jvm);
        _exit(1);
    }
    CU_ASSERT_FATAL(child > 0);
    for (int i = 0; i < 5000 && access(scratch_path("ready"), F_OK) != 0; i++)
        usleep(1000);
    CU_ASSERT_EQUAL_FATAL(access(scratch_path("ready"), F_OK), 0);
    snprintf(socket_path, sizeof socket_path, "/tmp/.java_pid%ld", (long) child);
    return child;
}

void fake_jvm_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    unlink(socket_path);
}

const char *fake_jvm_requests(void)
{
    return scratch_read(scratch_path("requests"), NULL);
}
