/* SPDX-License-Identifier: Apache-2.0 */
/* A call of a tool: the verb runs as a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyses/mcp/mcp.h"
#include "converter/files/monotonic_time.h"

/* No tool writes a file: a query that sorts does so in memory, which is limited. */
static void forbid_files(void)
{
    const struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN); /* a write fails, and the verb says so */
    setrlimit(RLIMIT_FSIZE, &none);
}

/* In the new process: nothing of the server's but the open traces, which the links lead to. */
static void become_verb(const struct mcp_command *command, const int *output, const int *messages,
                        pid_t server, const sigset_t *mask)
{
    const char *words[MCP_WORDS_MOST + 2] = {"steptrace"};
    int nothing = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server)
        _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    dup2(messages[1], STDERR_FILENO);
    for (size_t i = 0; i < command->trace_count; i++) {
        fcntl(command->traces[i].file, F_SETFD, 0);
        if (command->traces[i].live >= 0)
            fcntl(command->traces[i].live, F_SETFD, 0);
    }
    memcpy(&words[1], command->words, sizeof command->words);
    setpgid(0, 0);
    forbid_files();
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv("/proc/self/exe", (char *const *) words);
    _exit(127);
}

static void close_pipe(const int *ends)
{
    close(ends[0]);
    close(ends[1]);
}

bool mcp_call_start(struct mcp_call *call, uint64_t limit_ns, const sigset_t *mask)
{
    int output[2], messages[2];
    pid_t server = getpid();
    if (pipe2(output, O_CLOEXEC) != 0)
        return false;
    if (pipe2(messages, O_CLOEXEC) != 0) {
        close_pipe(output);
        return false;
    }
    fflush(stdout);
    call->process = fork();
    if (call->process == 0)
        become_verb(&call->command, output, messages, server, mask);
    if (call->process < 0) {
        close_pipe(output);
        close_pipe(messages);
        call->process = 0;
        return false;
    }
    close(output[1]);
    close(messages[1]);
    call->output = output[0];
    call->messages = messages[0];
    call->ends_ns = monotonic_ns() + limit_ns;
    return true;
}

void mcp_call_end(struct mcp_call *call, const char *reason)
{
    if (call->ended == NULL)
        call->ended = reason;
    kill(-call->process, SIGKILL);
    kill(call->process, SIGKILL);
}

void mcp_call_reset(struct mcp_call *call)
{
    mcp_command_reset(&call->command);
    step_buffer_reset(&call->printed);
    step_buffer_reset(&call->said);
    *call = (struct mcp_call){.output = -1, .messages = -1};
}

/* Removes the names of the places that the traces have for the call. */
static void mcp_call_remove_places(const struct mcp_command *command, struct step_buffer *text)
{
    for (size_t i = 0; i < command->trace_count; i++) {
        const char *place = command->traces[i].place;
        size_t length = strlen(place), to = 0;
        for (size_t from = 0; from < text->length; to++) {
            if (text->length - from > length && memcmp(text->data + from, place, length) == 0 &&
                text->data[from + length] == '/')
                from += length + 1;
            text->data[to] = text->data[from++];
        }
        text->length = to;
    }
}

static struct step_bytes mcp_call_bytes(const struct step_buffer *buffer)
{
    return (struct step_bytes){buffer->data, buffer->length};
}

void mcp_call_finish(struct mcp_call *call)
{
    int status;
    while (waitpid(call->process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (call->is_cancelled) {
        mcp_call_reset(call);
        return;
    }
    mcp_call_remove_places(&call->command, &call->printed);
    mcp_call_remove_places(&call->command, &call->said);
    bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (call->ended != NULL)
        mcp_answer_text(&call->id, call->ended, true);
    else if (!WIFEXITED(status))
        mcp_answer_text(&call->id, "the command ended unexpectedly", true);
    else
        mcp_answer_call(&call->id, mcp_call_bytes(&call->printed), mcp_call_bytes(&call->said),
                        !is_good);
    mcp_call_reset(call);
}
