/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call runs at a time, as a process of its own.  Meanwhile other messages are answered; further
 * calls wait in their order.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyses/mcp/mcp.h"
#include "converter/files/monotonic_time.h"
#include "format/core/bytes.h"

enum { LINE_MOST = 1 << 20, READ_BYTES = 1 << 16, WAITING_MOST = 64, TRACES_LISTED = 500 };

/* A call that runs. */
struct call {
    pid_t process; /* 0: none */
    struct mcp_id id;
    struct mcp_command command;
    int output, messages; /* pipes; -1: closed */
    struct step_buffer printed, said;
    uint64_t ends_ns;
    const char *ended; /* why it was ended; NULL: it was not */
    bool is_cancelled; /* and gets no answer */
};

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
    struct call call;
};

static struct step_bytes mcp_server_bytes_of(const struct step_buffer *buffer)
{
    return (struct step_bytes){buffer->data, buffer->length};
}

/* ---- answers: JSON in compact form has no line feed, so each is a line ---- */

/* The versions of the protocol that the server speaks, the newest first. */
static const char *const versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

static const char instructions[] = "Exact traces of the memory and methods of Java programs. Begin "
                                   "with list_traces, then info: it says what "
                                   "the trace has. If an answer says that the trace lacks "
                                   "something, record again with the option that it names.";

static void begin_answer(struct json_output *json, const struct mcp_id *id)
{
    json_init(json, stdout);
    json->is_compact = true;
    json_begin_object(json, NULL);
    json_text(json, "jsonrpc", "2.0");
    if (id->kind == MCP_ID_STRING)
        json_text(json, "id", id->text);
    else if (id->kind == MCP_ID_NUMBER)
        json_literal(json, "id", id->text);
    else
        json_null(json, "id");
}

static void end_answer(struct json_output *json)
{
    json_close(json);
    fflush(stdout);
}

static void begin_result(struct json_output *json, const struct mcp_id *id)
{
    begin_answer(json, id);
    json_begin_object(json, "result");
}

static void end_result(struct json_output *json)
{
    json_end_object(json);
    end_answer(json);
}

static void answer_fault(const struct mcp_id *id, enum mcp_fault fault, const char *text)
{
    struct json_output json;
    char code[16];
    begin_answer(&json, id);
    json_begin_object(&json, "error");
    snprintf(code, sizeof code, "%d", (int) fault);
    json_literal(&json, "code", code);
    json_text(&json, "message", text);
    end_result(&json);
}

/* With the client's version of the protocol if the server knows it. */
static void answer_initialize(const struct mcp_request *request)
{
    struct json_output json;
    const char *version = versions[0];
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++)
        if (strcmp(versions[i], request->version) == 0)
            version = versions[i];
    begin_result(&json, &request->id);
    json_text(&json, "protocolVersion", version);
    json_begin_object(&json, "capabilities");
    json_begin_object(&json, "tools");
    json_end_object(&json);
    json_end_object(&json);
    json_begin_object(&json, "serverInfo");
    json_text(&json, "name", "steptrace");
    json_text(&json, "version", STEPTRACE_VERSION);
    json_end_object(&json);
    json_text(&json, "instructions", instructions);
    end_result(&json);
}

static void answer_nothing(const struct mcp_id *id)
{
    struct json_output json;
    begin_result(&json, id);
    end_result(&json);
}

static void answer_tools(const struct mcp_id *id)
{
    struct json_output json;
    begin_result(&json, id);
    mcp_tools_describe(&json);
    end_result(&json);
}

static void mcp_server_put_text(struct json_output *json, struct step_bytes text)
{
    json_begin_object(json, NULL);
    json_text(json, "type", "text");
    json_bytes(json, "text", text);
    json_end_object(json);
}

/* What the tool printed, and, if not empty, its messages. */
static void answer_call(const struct mcp_id *id, struct step_bytes output,
                        struct step_bytes messages, bool is_error)
{
    struct json_output json;
    begin_result(&json, id);
    json_begin_array(&json, "content");
    if (output.length > 0)
        mcp_server_put_text(&json, output);
    if (messages.length > 0 || output.length == 0)
        mcp_server_put_text(&json, messages);
    json_end_array(&json);
    json_bool(&json, "isError", is_error);
    end_result(&json);
}

static void answer_text(const struct mcp_id *id, const char *text, bool is_error)
{
    answer_call(id, step_text(""), step_text(text), is_error);
}

/* ---- a call ---- */

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

static bool mcp_server_start(struct call *call, uint64_t limit_ns, const sigset_t *mask)
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

static void end_early(struct call *call, const char *reason)
{
    if (call->ended == NULL)
        call->ended = reason;
    kill(-call->process, SIGKILL);
    kill(call->process, SIGKILL);
}

static void call_reset(struct call *call)
{
    mcp_command_reset(&call->command);
    step_buffer_reset(&call->printed);
    step_buffer_reset(&call->said);
    *call = (struct call){.output = -1, .messages = -1};
}

/* Removes the names of the places that the traces have for the call. */
static void remove_places(const struct mcp_command *command, struct step_buffer *text)
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

/* The process has ended: answers. */
static void mcp_server_finish(struct call *call)
{
    int status;
    while (waitpid(call->process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (call->is_cancelled) {
        call_reset(call);
        return;
    }
    remove_places(&call->command, &call->printed);
    remove_places(&call->command, &call->said);
    bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (call->ended != NULL)
        answer_text(&call->id, call->ended, true);
    else if (!WIFEXITED(status))
        answer_text(&call->id, "the command ended unexpectedly", true);
    else
        answer_call(&call->id, mcp_server_bytes_of(&call->printed),
                    mcp_server_bytes_of(&call->said), !is_good);
    call_reset(call);
}

static void list_traces(const struct server *server, const struct mcp_id *id)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        answer_fault(id, MCP_FAILED, "out of memory");
        return;
    }
    size_t count = mcp_traces_list(server->traces, TRACES_LISTED, out);
    if (count == 0)
        fputs("no trace in the server's directories", out);
    if (count == TRACES_LISTED)
        fputs("and more: only 500 are listed\n", out);
    fclose(out);
    answer_call(id, (struct step_bytes){(const uint8_t *) text, length}, step_text(""), false);
    free(text);
}

/* Begins a call, or answers why not. */
static void begin_call(struct server *server, const struct mcp_request *request)
{
    struct call *call = &server->call;
    char fault[256], memory[64];
    if (!mcp_tool_exists(request->name)) {
        answer_fault(&request->id, MCP_BAD_PARAMETERS, "there is no such tool");
        return;
    }
    if (strcmp(request->name, MCP_LIST_TRACES) == 0) {
        list_traces(server, &request->id);
        return;
    }
    call->id = request->id;
    if (!mcp_command_make(request, server->traces, &call->command, fault)) {
        answer_text(&request->id, fault, true);
        call_reset(call);
        return;
    }
    if (server->limits->memory != NULL) {
        snprintf(memory, sizeof memory, "--memory=%.40s", server->limits->memory);
        memmove(&call->command.words[2], &call->command.words[1],
                call->command.word_count * sizeof call->command.words[0]);
        call->command.words[1] = memory;
    }
    if (!mcp_server_start(call, server->limits->call_ns, &server->mask)) {
        answer_fault(&request->id, MCP_FAILED, "a process cannot be started");
        call_reset(call);
    }
}

/* ---- messages ---- */

static void cancel(struct server *server, const struct mcp_id *id)
{
    struct call *call = &server->call;
    if (call->process != 0 && mcp_ids_are_equal(&call->id, id)) {
        call->is_cancelled = true;
        end_early(call, "cancelled");
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
        answer_initialize(request);
    } else if (strcmp(request->method, "ping") == 0) {
        answer_nothing(&request->id);
    } else if (strcmp(request->method, "tools/list") == 0) {
        answer_tools(&request->id);
    } else if (strcmp(request->method, "tools/call") != 0) {
        answer_fault(&request->id, MCP_NO_METHOD, "the server has no such method");
    } else if (server->waiting_count == WAITING_MOST) {
        answer_fault(&request->id, MCP_FAILED, "too many calls are waiting");
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
        answer_fault(&request.id, fault, text);
    if (fault != MCP_GOOD || !serve(server, &request))
        mcp_request_reset(&request);
}

static void refuse_long_line(void)
{
    static const struct mcp_id none;
    answer_fault(&none, MCP_NO_REQUEST, "the message is longer than 1 MiB");
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
        end_early(&server->call, "the answer is longer than the server's limit: ask for fewer rows "
                                 "(top, LIMIT) or a narrower selection");
}

/* Waits for input, for the process's output, or for the end of its time. */
static void wait_and_read(struct server *server)
{
    struct call *call = &server->call;
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
        end_early(call, "the call took longer than the server's limit (--time): ask for less");
    if (call->process != 0 && call->output < 0 && call->messages < 0)
        mcp_server_finish(call);
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
        end_early(&server.call, "the client has disconnected");
        mcp_server_finish(&server.call);
    }
    while (server.waiting_count > 0)
        mcp_request_reset(&server.waiting[--server.waiting_count]);
    step_buffer_reset(&server.line);
    let_endings(&server.mask);
    return ferror(stdout) ? step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                                           "standard output cannot be written")
                          : STEP_STATUS_OK;
}
