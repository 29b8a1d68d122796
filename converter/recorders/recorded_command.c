/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the command that is recorded, and waits for it. */
#include "converter/recorders/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "converter/recorders/elf_program.h"

#define COMMAND_NOT_STARTED 127

bool command_find(const char *command, char *path, size_t size)
{
    const char *directories = getenv("PATH");
    if (strchr(command, '/') != NULL)
        return snprintf(path, size, "%s", command) < (int) size;
    for (const char *at = directories; at != NULL && *at != '\0';) {
        int length = (int) strcspn(at, ":");
        int written = snprintf(path, size, "%.*s/%s", length, at, command);
        if (written < (int) size && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

void command_exec(char **words)
{
    char path[PATH_MAX];
    if (command_find(words[0], path, sizeof path) && elf_has_magic(path))
        execv(path, words);
    else
        execvp(words[0], words);
}

const char *command_error(int code)
{
    return code == ENOEXEC ? "this system cannot run the file: a program that is damaged, or of "
                             "another kind of machine"
                           : strerror(code);
}

enum step_status command_fail(const char *verb, const char *what, const char *why)
{
    fprintf(stderr, "steptrace %s: %s: %s\n", verb, what, why);
    return STEP_STATUS_IO;
}

static volatile sig_atomic_t child_process;
static int child_signal;

int command_signal(void)
{
    return child_signal;
}

/* What the terminal sends has reached the child too. */
static void command_pass_on(int number, siginfo_t *from, void *context)
{
    (void) context;
    if (child_process > 0 && from->si_code != SI_KERNEL)
        kill((pid_t) child_process, number);
}

/* As a container's first process, this is also the parent of all orphans, including drains. */
static void command_wait_for(pid_t child)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(-1, &status, 0);
    while (ended != child && (ended >= 0 || errno == EINTR));
    child_process = 0;
    child_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    verb_exit_code = child_signal != 0 ? 128 + child_signal : WEXITSTATUS(status);
}

enum step_status command_run(const char *verb, char **words, bool (*prepare)(const void *user),
                             const void *user, pid_t *process)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    enum { SIGNALS = sizeof signals / sizeof signals[0] };
    struct sigaction before[SIGNALS], passing = {.sa_flags = SA_SIGINFO | SA_RESTART};
    int report[2], code = 0;
    passing.sa_sigaction = command_pass_on;
    sigemptyset(&passing.sa_mask);
    if (pipe2(report, O_CLOEXEC) != 0)
        return command_fail(verb, words[0], strerror(errno));
    fflush(NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], NULL, &before[i]);
    pid_t child = *process = fork(); /* what is ignored, as by nohup, stays so */
    if (child == 0) {
        if (prepare == NULL || prepare(user))
            command_exec(words);
        code = errno;
        _exit(write(report[1], &code, sizeof code) > 0 ? COMMAND_NOT_STARTED - 1
                                                       : COMMAND_NOT_STARTED);
    }
    child_process = (sig_atomic_t) child;
    for (size_t i = 0; i < SIGNALS; i++)
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &passing, NULL);
    code = child < 0 ? errno : 0;
    close(report[1]);
    if (child > 0 && read(report[0], &code, sizeof code) != (ssize_t) sizeof code)
        code = 0; /* it was started */
    close(report[0]);
    if (child > 0)
        command_wait_for(child);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL); /* what is still to be done can be interrupted */
    return code == 0 ? STEP_STATUS_OK : command_fail(verb, words[0], command_error(code));
}
