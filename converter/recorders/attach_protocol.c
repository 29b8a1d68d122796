/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the JVM's attach listener, sends a request, and reads the answer. */
#include "converter/recorders/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/cli/error_report.h"

#define LISTEN_MS 10000  /* the JVM answers SIGQUIT at its next safepoint */
#define ANSWER_MS 120000 /* loading starts a trace, which first walks the heap */
#define ANSWER_MOST ((size_t) 4096)
#define REQUEST_TEXTS 5u
#define MESSAGES_MOST ((size_t) 1 << 14)

/* Connects through /proc: the descriptor refers to the socket itself, even if the path has been
 * replaced. */
static int connect_to_socket(int file)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", file);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0 &&
        connect(descriptor, (const struct sockaddr *) &address, sizeof address) == 0)
        return descriptor;
    close_quietly(descriptor);
    return -1;
}

/* Returns -1 with errno; sets `fault` if something other than a socket has the name. */
static int attach_protocol_connect_to(const struct jvm_process *process, int tmp,
                                      const char **fault)
{
    char name[64];
    snprintf(name, sizeof name, ".java_pid%ld", (long) process->inner_pid);
    int file = target_files_open(process, tmp, name, S_IFSOCK, fault);
    if (file < 0)
        return -1;
    int descriptor = connect_to_socket(file);
    *fault = strerror(errno);
    close_quietly(file);
    return descriptor;
}

/* Creates the trigger file.  Without it, a JVM prints its threads at SIGQUIT. */
static bool put_trigger(const struct jvm_process *process, int tmp, const char *name,
                        const char **fault)
{
    int file = openat(tmp, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST)
        file = target_files_open(process, tmp, name, S_IFREG, fault);
    else
        *fault = strerror(errno);
    if (file >= 0)
        close(file);
    return file >= 0;
}

/* Starts the attach listener and waits for it.  Returns -1 if it does not start. */
static int wake(const struct jvm_process *process, int tmp, const char **fault)
{
    char trigger[64];
    int descriptor = -1;
    const struct timespec pause = {.tv_nsec = 20000000};
    snprintf(trigger, sizeof trigger, ".attach_pid%ld", (long) process->inner_pid);
    if (!put_trigger(process, tmp, trigger, fault))
        return -1;
    for (int waited = 0; descriptor < 0 && waited < LISTEN_MS; waited += 20) {
        if (waited % 1000 == 0 && kill(process->pid, SIGQUIT) != 0)
            break;
        nanosleep(&pause, NULL);
        descriptor = attach_protocol_connect_to(process, tmp, fault);
    }
    unlinkat(tmp, trigger, 0);
    return descriptor;
}

static bool send_texts(int descriptor, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!output_send_all(descriptor, texts[i], strlen(texts[i]) + 1))
            return false;
    return true;
}

static void say(const char *message)
{
    fputs("steptrace: ", stderr);
    print_shown_text(message, stderr);
    fputc('\n', stderr);
}

/* Reports all messages but the last of a command that failed; returns that one, or NULL. */
static char *take_messages(char *at, bool failed)
{
    static const char start[] = "steptrace: ";
    char *last = NULL;
    for (char *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = '\0';
        if (last != NULL)
            say(last);
        last = at + (strncmp(at, start, sizeof start - 1) == 0 ? sizeof start - 1 : 0);
    }
    if (last != NULL && !failed)
        say(last);
    return failed ? last : NULL;
}

/* Success is "0\nreturn code: 0\n"; otherwise the answer has the reason, unless the agent gave it.
 */
static enum step_status attach_protocol_judge(const char *answer, const char *reason,
                                              struct step_error *error)
{
    const char *text = strchr(answer, '\n');
    const char *code = strstr(answer, "return code: ");
    if (strncmp(answer, "0\n", 2) == 0 && (code == NULL || atoi(code + 13) == 0))
        return STEP_STATUS_OK;
    if (code != NULL && reason != NULL)
        return IO_FAIL(error, "the agent refuses: %s", reason);
    if (code != NULL)
        return IO_FAIL(error,
                       "the agent refuses (%.*s); the reason is on the program's standard error",
                       (int) strcspn(code, "\n"), code);
    while (text != NULL && (*text == '\n' || *text == ' '))
        text++;
    return IO_FAIL(error, "the JVM refuses: %.*s", text != NULL ? (int) strcspn(text, "\n") : 10,
                   text != NULL ? text : "no answer");
}

/* Returns a connection to the JVM's attach listener, or -1 with an error. */
static int connect_to_listener(const struct jvm_process *process, struct step_error *error)
{
    const char *fault = NULL;
    int tmp = target_files_find(process, "tmp", O_DIRECTORY);
    int descriptor = tmp >= 0 ? attach_protocol_connect_to(process, tmp, &fault) : -1;
    if (descriptor < 0 && tmp >= 0 && (errno == ENOENT || errno == ECONNREFUSED))
        descriptor = wake(process, tmp, &fault);
    if (descriptor < 0)
        IO_FAIL(error, "process %ld cannot be attached to: %s", (long) process->pid,
                kill(process->pid, 0) != 0 && errno == ESRCH ? "it has ended"
                : fault != NULL                              ? fault
                                                             : strerror(errno));
    return descriptor;
}

/* ---- the agent's messages ---- */

/* The socket on which this program listens while it waits.  The agent connects before it carries a
 * command out, so none is begun for a program that has gone, and sends its messages. */
struct listener {
    int tmp, socket, agent;
    char name[40];
    char *options; /* client=/tmp/NAME, and the command */
};

static bool listen_at(struct listener *listener)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", listener->tmp,
             listener->name);
    listener->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return listener->socket >= 0 &&
           bind(listener->socket, (const struct sockaddr *) &address, sizeof address) == 0 &&
           listen(listener->socket, 1) == 0;
}

static bool listener_open(const struct jvm_process *process, const char *command,
                          struct listener *listener)
{
    uint32_t number = 0;
    *listener = (struct listener){.socket = -1, .agent = -1};
    listener->tmp = target_files_find(process, "tmp", O_DIRECTORY);
    if (listener->tmp < 0 || getrandom(&number, sizeof number, 0) != (ssize_t) sizeof number)
        return false;
    snprintf(listener->name, sizeof listener->name, ".steptrace-client-%08" PRIx32, number);
    return listen_at(listener) &&
           asprintf(&listener->options, "client=/tmp/%s,%s", listener->name, command) > 0;
}

/* Waits for the JVM's answer, and meanwhile takes the agent's connection, once, and answers it.
 * Returns false if none comes. */
static bool await_answer(int descriptor, struct listener *listener)
{
    struct pollfd both[2] = {{.fd = descriptor, .events = POLLIN},
                             {.fd = listener->agent < 0 ? listener->socket : -1, .events = POLLIN}};
    for (;;) {
        if (poll(both, 2, ANSWER_MS) <= 0)
            return false;
        if (both[0].revents != 0)
            return true;
        listener->agent = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        both[1].fd = -1;
        if (listener->agent >= 0)
            (void) !send(listener->agent, "", 1, MSG_NOSIGNAL);
    }
}

/* Passes on what the agent has said; it has closed its end before the JVM answered. */
static bool pass_messages(const struct listener *listener, int output)
{
    char part[ANSWER_MOST];
    bool passed = output_write_all(output, "", 1);
    ssize_t got = listener->agent >= 0 ? 1 : 0;
    for (size_t all = 0; passed && got > 0 && all < MESSAGES_MOST; all += (size_t) got) {
        got = read(listener->agent, part, sizeof part);
        passed = got <= 0 || output_write_all(output, part, (size_t) got);
        got = got > 0 ? got : 0;
    }
    return passed;
}

static void listener_close(struct listener *listener)
{
    close_quietly(listener->socket);
    close_quietly(listener->agent);
    if (listener->tmp >= 0)
        unlinkat(listener->tmp, listener->name, 0);
    close_quietly(listener->tmp);
    free(listener->options);
}

/* Sends the five texts of a request, and passes on what the JVM answers. */
static enum step_status exchange(const struct jvm_process *process, const char *const *texts,
                                 struct listener *listener, int output, struct step_error *error)
{
    char part[ANSWER_MOST];
    int descriptor = connect_to_listener(process, error);
    if (descriptor < 0)
        return error->status;
    if (!send_texts(descriptor, texts, REQUEST_TEXTS))
        return IO_FAIL(error, "the JVM does not answer: %s", strerror(errno));
    for (ssize_t got = 1; got > 0;) {
        got = await_answer(descriptor, listener) ? read(descriptor, part, sizeof part) : -1;
        if (got < 0 || !output_write_all(output, part, (size_t) got))
            return IO_FAIL(error, "the JVM does not answer: %s", strerror(errno));
    }
    return STEP_STATUS_OK;
}

/* The same, for a command to the agent with the messages that it causes, after a 0 byte. */
static enum step_status attach_protocol_ask(const struct jvm_process *process, void *context,
                                            int output, struct step_error *error)
{
    const char *const *given = context;
    const char *texts[REQUEST_TEXTS];
    struct listener listener = {.tmp = -1, .socket = -1, .agent = -1};
    memcpy(texts, given, sizeof texts);
    if (strcmp(texts[1], "load") != 0)
        return exchange(process, texts, &listener, output, error);
    bool listens = listener_open(process, given[REQUEST_TEXTS - 1], &listener);
    if (listens)
        texts[REQUEST_TEXTS - 1] = listener.options;
    enum step_status status = exchange(process, texts, &listener, output, error);
    if (status == STEP_STATUS_OK && listens && !pass_messages(&listener, output))
        status = IO_FAIL(error, "the agent's messages are lost: %s", strerror(errno));
    listener_close(&listener);
    return status;
}

static enum step_status request(const struct jvm_process *process, const char **texts,
                                struct target_text *answer, struct step_error *error)
{
    const struct target_call call = {.work = attach_protocol_ask,
                                     .context = texts,
                                     .receive = target_text_take,
                                     .receiver = answer,
                                     .limit_s = (LISTEN_MS + ANSWER_MS) / 1000};
    enum step_status status = target_user_call(process, &call, error);
    answer->text[answer->length] = '\0';
    return status;
}

enum step_status attach_load(const struct jvm_process *process, const char *path,
                             const char *options, struct step_error *error)
{
    const char *texts[REQUEST_TEXTS] = {"1", "load", path, "true", options};
    char text[ANSWER_MOST + MESSAGES_MOST];
    struct target_text answer = {text, sizeof text - 1, 0, true};
    enum step_status status = request(process, texts, &answer, error);
    if (status != STEP_STATUS_OK)
        return status;
    text[answer.length + 1] = '\0'; /* no messages: an empty text follows the answer */
    bool failed = attach_protocol_judge(text, NULL, error) != STEP_STATUS_OK;
    const char *reason = take_messages(text + strlen(text) + 1, failed);
    return attach_protocol_judge(text, reason, error);
}

enum step_status attach_ask(const struct jvm_process *process, const char *command, char *answer,
                            size_t size, struct step_error *error)
{
    const char *texts[REQUEST_TEXTS] = {"1", "jcmd", command, "", ""};
    struct target_text taken = {answer, size, 0, false};
    enum step_status status = request(process, texts, &taken, error);
    if (status == STEP_STATUS_OK && strncmp(answer, "0\n", 2) != 0)
        return IO_FAIL(error, "the JVM refuses: %.200s", answer);
    return status;
}
