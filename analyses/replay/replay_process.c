/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the replay driver. */
#include "analyses/replay/replay_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/cli/memory_limit.h"

/* The driver ends with `replay`, whatever ends that: else it would wait for its next piece. */
static void become_driver(const char *program, const char *library, int file, pid_t replay)
{
    char number[16];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != replay)
        _exit(127);
    snprintf(number, sizeof number, "%d", dup(file)); /* a descriptor without close-on-exec */
    if (library[0] != '\0')
        setenv("LD_PRELOAD", library, 1);
    else
        unsetenv("LD_PRELOAD");
    memory_limit_lift();
    execl(program, program, number, (char *) NULL);
    _exit(127);
}

enum step_status replay_system_error(struct step_error *error, const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

enum step_status replay_process_start(struct replay_process *process, const char *program,
                                      const char *library, int file, struct step_error *error)
{
    process->has_ended = false;
    fflush(NULL);
    const pid_t self = getpid();
    process->id = fork();
    if (process->id < 0)
        return replay_system_error(error, "the driver");
    if (process->id == 0)
        become_driver(program, library, file, self);
    return STEP_STATUS_OK;
}

bool replay_process_has_ended(struct replay_process *process)
{
    if (!process->has_ended)
        process->has_ended = waitpid(process->id, &process->wait_status, WNOHANG) == process->id;
    return process->has_ended;
}

enum step_status replay_process_failed(const struct replay_process *process, const char *program,
                                       const char *allocator, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, program, STEP_NO_OFFSET,
                          "%s: the driver failed (exit code %d)", allocator,
                          WEXITSTATUS(process->wait_status));
}

enum step_status replay_process_wait(struct replay_process *process, const char *program,
                                     const char *allocator, struct step_error *error)
{
    while (!process->has_ended && waitpid(process->id, &process->wait_status, 0) != process->id)
        if (errno != EINTR)
            return replay_system_error(error, "the driver");
    process->has_ended = true;
    if (WIFSIGNALED(process->wait_status))
        return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                              "%s: the driver was killed by signal %d (%s)", allocator,
                              WTERMSIG(process->wait_status),
                              strsignal(WTERMSIG(process->wait_status)));
    return WEXITSTATUS(process->wait_status) == 0
               ? STEP_STATUS_OK
               : replay_process_failed(process, program, allocator, error);
}
