/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call runs at a time, as a process of its own.  Meanwhile other messages are answered; further
 * calls wait in their order.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/mcp/mcp.h"
#include "converter/files/monotonic_time.h"

enum { LINE_MOST = 1 << 20, READ_BYTES = 1 << 16, WAITING_MOST = 64, TRACES_LISTED = 500 };

/* The signals that end the server. */
static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static volatile sig_atomic_t ended_by;

static void note_ending(int number)
{
    ended_by = number;
}

/* Blocks the signals that end the server: they arrive while it waits, and it then ends its call and
 * removes what that has in TMPDIR.  Returns the mask to wait with. */
static sigset_t hold_endings(void)
{
    sigset_t held, before;
    sigemptyset(&held);
    for (size_t i = 0; i < ENDINGS; i++) {
        struct sigaction action = {.sa_handler = note_ending}, other;
        if (sigaction(endings[i], NULL, &other) == 0 && other.sa_handler != SIG_IGN)
            sigaction(endings[i], &action, NULL);
        sigaddset(&held, endings[i]);
    }
    sigprocmask(SIG_BLOCK, &held, &before);
    return before;
}

/* Dies of the signal that has ended the server, if one has. */
static void let_endings(const sigset_t *before)
{
    if (ended_by != 0) {
        signal(ended_by, SIG_DFL);
        raise(ended_by);
    }
    sigprocmask(SIG_SETMASK, before, NULL);
}

struct server {
    const struct mcp_traces *traces;
    const struct mcp_limits *limits;
    sigset_t mask;           /* while it waits, and of the calls */
    struct step_buffer line; /* of standard input, not yet complete */
    bool is_skipping;        /* the rest of a line that was too long */
    bool is_over;            /* standard input has ended */
    struct mcp_request waiting[WAITING_MOST];
    size_t waiting_count;
    struct mcp_call call;
};

static void list_traces(const struct server *server, const struct mcp_id *id)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        mcp_answer_fault(id, MCP_FAILED, "out of memory");
        return;
    }
    size_t count = mcp_traces_list(server->traces, TRACES_LISTED, out);
    if (count == 0)
        fputs("no trace in the server's directories", out);
    if (count == TRACES_LISTED)
        fputs("and more: only 500 are listed\n", out);
    fclose(out);
    mcp_answer_call(id, (struct step_bytes){(const uint8_t *) text, length}, step_text(""), false);
    free(text);
}

/* Begins a call, or answers why not. */
static void begin_call(struct server *server, const struct mcp_request *request)
{
    struct mcp_call *call = &server->call;
    char fault[256], memory[64];
    if (!mcp_tool_exists(request->name)) {
        mcp_answer_fault(&request->id, MCP_BAD_PARAMETERS, "there is no such tool");
        return;
    }
    if (strcmp(request->name, MCP_LIST_TRACES) == 0) {
        list_traces(server, &request->id);
        return;
    }
    call->id = request->id;
    if (!mcp_command_make(request, server->traces, &call->command, fault)) {
        mcp_answer_text(&request->id, fault, true);
        mcp_call_reset(call);
        return;
    }
    if (server->limits->memory != NULL) {
        snprintf(memory, sizeof memory, "--memory=%.40s", server->limits->memory);
        memmove(&call->command.words[2], &call->command.words[1],
                call->command.word_count * sizeof call->command.words[0]);
        call->command.words[1] = memory;
    }
    if (!mcp_call_start(call, server->limits->call_ns, &server->mask)) {
        mcp_answer_fault(&request->id, MCP_FAILED, "a process cannot be started");
        mcp_call_reset(call);
    }
}

/* ---- messages ---- */

static void cancel(struct server *server, const struct mcp_id *id)
{
    struct mcp_call *call = &server->call;
    if (call->process != 0 && mcp_ids_are_equal(&call->id, id)) {
        call->is_cancelled = true;
        mcp_call_end(call, "cancelled");
    }
    for (size_t i = 0; i < server->waiting_count; i++) {
        if (!mcp_ids_are_equal(&server->waiting[i].id, id))
            continue;
        mcp_request_reset(&server->waiting[i]);
        memmove(&server->waiting[i], &server->waiting[i + 1],
                (--server->waiting_count - i) * sizeof server->waiting[0]);
        return;
    }
}

/* Returns true if the request was kept. */
static bool serve(struct server *server, struct mcp_request *request)
{
    bool is_request = request->id.kind != MCP_NO_ID;
    if (!is_request) {
        if (strcmp(request->method, "notifications/cancelled") == 0)
            cancel(server, &request->cancelled);
    } else if (strcmp(request->method, "initialize") == 0) {
        mcp_answer_initialize(request);
    } else if (strcmp(request->method, "ping") == 0) {
        mcp_answer_nothing(&request->id);
    } else if (strcmp(request->method, "tools/list") == 0) {
        mcp_answer_tools(&request->id);
    } else if (strcmp(request->method, "tools/call") != 0) {
        mcp_answer_fault(&request->id, MCP_NO_METHOD, "the server has no such method");
    } else if (server->waiting_count == WAITING_MOST) {
        mcp_answer_fault(&request->id, MCP_FAILED, "too many calls are waiting");
    } else {
        server->waiting[server->waiting_count++] = *request;
        return true;
    }
    return false;
}

static void take_line(struct server *server, const char *line, size_t length)
{
    struct mcp_request request;
    const char *text;
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' '))
        length--;
    if (length == 0)
        return;
    enum mcp_fault fault = mcp_request_parse(line, length, &request, &text);
    if (fault != MCP_GOOD)
        mcp_answer_fault(&request.id, fault, text);
    if (fault != MCP_GOOD || !serve(server, &request))
        mcp_request_reset(&request);
}

static void refuse_long_line(void)
{
    static const struct mcp_id none;
    mcp_answer_fault(&none, MCP_NO_REQUEST, "the message is longer than 1 MiB");
}

/* Takes the complete lines of what was read. */
static void take_input(struct server *server, const char *bytes, size_t length)
{
    while (length > 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t part = end != NULL ? (size_t) (end - bytes) : length;
        bool fits = server->line.length + part <= LINE_MOST &&
                    step_buffer_append(&server->line, bytes, part);
        if (!fits && !server->is_skipping) {
            server->is_skipping = true;
            refuse_long_line();
        }
        if (end != NULL && !server->is_skipping)
            take_line(server, (const char *) server->line.data, server->line.length);
        if (end != NULL || server->is_skipping)
            server->line.length = 0;
        server->is_skipping = server->is_skipping && end == NULL;
        part += end != NULL;
        bytes += part;
        length -= part;
    }
}

static void read_input(struct server *server)
{
    char bytes[READ_BYTES];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got > 0)
        take_input(server, bytes, (size_t) got);
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        server->is_over = true;
}

/* Reads what the process printed; closes the pipe at its end. */
static void read_pipe(struct server *server, int *pipe, struct step_buffer *into)
{
    char bytes[READ_BYTES];
    ssize_t got = read(*pipe, bytes, sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        close(*pipe);
        *pipe = -1;
        return;
    }
    if (into->length + (size_t) got > server->limits->answer_bytes ||
        !step_buffer_append(into, bytes, (size_t) got))
        mcp_call_end(&server->call,
                     "the answer is longer than the server's limit: ask for fewer rows "
                     "(top, LIMIT) or a narrower selection");
}

/* Waits for input, for the process's output, or for the end of its time. */
static void wait_and_read(struct server *server)
{
    struct mcp_call *call = &server->call;
    struct pollfd files[] = {{.fd = server->is_over ? -1 : STDIN_FILENO, .events = POLLIN},
                             {.fd = call->process != 0 ? call->output : -1, .events = POLLIN},
                             {.fd = call->process != 0 ? call->messages : -1, .events = POLLIN}};
    uint64_t now = monotonic_ns();
    uint64_t left_ms = call->ends_ns > now ? (call->ends_ns - now) / 1000000 + 1 : 0;
    struct timespec timeout = {left_ms < 60000 ? (time_t) (left_ms / 1000) : 60,
                               left_ms < 60000 ? (long) (left_ms % 1000 * 1000000) : 0};
    if (ppoll(files, 3, call->process == 0 ? NULL : &timeout, &server->mask) < 0)
        return;
    if (files[0].revents != 0)
        read_input(server);
    if (files[1].revents != 0)
        read_pipe(server, &call->output, &call->printed);
    if (files[2].revents != 0)
        read_pipe(server, &call->messages, &call->said);
    if (call->process != 0 && call->ended == NULL && monotonic_ns() >= call->ends_ns)
        mcp_call_end(call, "the call took longer than the server's limit (--time): ask for less");
    if (call->process != 0 && call->output < 0 && call->messages < 0)
        mcp_call_finish(call);
}

static void begin_next(struct server *server)
{
    struct mcp_request next = server->waiting[0];
    memmove(&server->waiting[0], &server->waiting[1],
            --server->waiting_count * sizeof server->waiting[0]);
    begin_call(server, &next);
    mcp_request_reset(&next);
}

enum step_status mcp_serve(const struct mcp_traces *traces, const struct mcp_limits *limits,
                           struct step_error *error)
{
    static struct server server; /* large */
    server =
        (struct server){.traces = traces, .limits = limits, .call = {.output = -1, .messages = -1}};
    signal(SIGPIPE, SIG_IGN);
    server.mask = hold_endings();
    while (ended_by == 0 && !ferror(stdout) &&
           (!server.is_over || server.waiting_count > 0 || server.call.process != 0)) {
        if (server.call.process == 0 && server.waiting_count > 0)
            begin_next(&server);
        else
            wait_and_read(&server);
    }
    if (server.call.process != 0) {
        server.call.is_cancelled = true;
        mcp_call_end(&server.call, "the client has disconnected");
        mcp_call_finish(&server.call);
    }
    while (server.waiting_count > 0)
        mcp_request_reset(&server.waiting[--server.waiting_count]);
    step_buffer_reset(&server.line);
    let_endings(&server.mask);
    return ferror(stdout) ? step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                                           "standard output cannot be written")
                          : STEP_STATUS_OK;
}
