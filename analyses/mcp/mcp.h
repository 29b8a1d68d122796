/* SPDX-License-Identifier: Apache-2.0 */
/* The server of the Model Context Protocol: the traces that it may read, the messages of a client,
 * the tools, and the loop that serves them. */
#ifndef ANALYSES_MCP_MCP_H
#define ANALYSES_MCP_MCP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "format/core/bytes.h"
#include "format/json/json_output.h"
#include "steptrace/status.h"

/*
 * Traces: regular files in the server's directories.  A file is opened part by part of its path,
 * without following links, and the open file is what a verb reads: whatever is put in its place
 * meanwhile is not.
 */

enum { MCP_DIRECTORIES_MOST = 16 };

struct mcp_traces {
    struct {
        int descriptor;
        char *path; /* absolute, without links */
    } items[MCP_DIRECTORIES_MOST];
    size_t count;
};

/* Adds a directory.  NOT_FOUND, IO, LIMIT. */
enum step_status mcp_traces_add(struct mcp_traces *traces, const char *path,
                                struct step_error *error);
void mcp_traces_close(struct mcp_traces *traces);

/* A trace that is open, with a place of its own: a private directory with a link to each of its
 * open files under their names, so that verbs recognise the format and find the live file. */
struct mcp_trace {
    int file, live; /* `live` is -1 if there is none */
    char place[64]; /* the directory */
    char name[256]; /* the trace's in it */
    char path[320]; /* both */
};

/* Opens a trace by its path, absolute or relative to one of the directories.  `*fault` says why it
 * cannot be read.  mcp_trace_close() frees an open trace and its place. */
bool mcp_trace_open(const struct mcp_traces *traces, const char *path, struct mcp_trace *trace,
                    const char **fault);
void mcp_trace_close(struct mcp_trace *trace);

/* Prints the traces in the directories and in those below, a line each: path and bytes.  At most
 * `most` lines.  Returns their number. */
size_t mcp_traces_list(const struct mcp_traces *traces, size_t most, FILE *out);

/* A message of a client: JSON-RPC 2.0, one object on a line, and what its method needs of it. */

enum { MCP_ARGUMENTS_MOST = 16, MCP_NAME_ROOM = 64, MCP_ID_ROOM = 128 };

/* The id of a request, as it stands in the message. */
struct mcp_id {
    enum { MCP_NO_ID, MCP_ID_NUMBER, MCP_ID_STRING } kind;
    char text[MCP_ID_ROOM];
};

struct mcp_argument {
    char name[MCP_NAME_ROOM];
    char *value; /* of a string, a number or a boolean, as text */
};

struct mcp_request {
    struct mcp_id id; /* none: it is a notification */
    char method[MCP_NAME_ROOM];
    char version[MCP_NAME_ROOM]; /* params.protocolVersion */
    char name[MCP_NAME_ROOM];    /* params.name */
    struct mcp_id cancelled;     /* params.requestId */
    struct mcp_argument arguments[MCP_ARGUMENTS_MOST];
    size_t argument_count;
};

/* What is wrong with a message; the values are those of JSON-RPC. */
enum mcp_fault {
    MCP_GOOD = 0,
    MCP_NO_JSON = -32700,
    MCP_NO_REQUEST = -32600,
    MCP_NO_METHOD = -32601,
    MCP_BAD_PARAMETERS = -32602,
    MCP_FAILED = -32603
};

/* Parses a message.  `*fault_text` says what is wrong; it is a constant, or lives in `request`.
 * After any result mcp_request_reset() frees the request, whose id is set if it could be read. */
enum mcp_fault mcp_request_parse(const char *line, size_t length, struct mcp_request *request,
                                 const char **fault_text);
void mcp_request_reset(struct mcp_request *request);
/* Returns the value of an argument, or NULL. */
const char *mcp_request_argument(const struct mcp_request *request, const char *name);
bool mcp_ids_are_equal(const struct mcp_id *a, const struct mcp_id *b);

/* The tools: verbs, and what their parameters become on the command line. */

enum { MCP_WORDS_MOST = 32, MCP_TRACES_MOST = 2 };

/* The name of the tool that lists traces, which is no verb. */
#define MCP_LIST_TRACES "list_traces"

/* A command line for a call of a tool. */
struct mcp_command {
    const char *words[MCP_WORDS_MOST + 1]; /* the verb and its arguments; ends with NULL */
    size_t word_count;
    char texts[MCP_WORDS_MOST][512]; /* of options with values */
    char *long_text;                 /* of an operand that is longer; owned */
    struct mcp_trace traces[MCP_TRACES_MOST];
    size_t trace_count;
};

/* Writes the member "tools" of the answer to tools/list. */
void mcp_tools_describe(struct json_output *json);
/* Returns false if there is no tool of this name. */
bool mcp_tool_exists(const char *name);
/* Makes the command for a call and opens its traces.  Returns false if an argument is missing, not
 * known or not of its type, or a trace cannot be opened; `fault` (256 bytes) says which.
 * mcp_command_reset() is called in both cases. */
bool mcp_command_make(const struct mcp_request *request, const struct mcp_traces *traces,
                      struct mcp_command *command, char *fault);
void mcp_command_reset(struct mcp_command *command);

/* Answers of the server, a line each on standard output. */

void mcp_answer_fault(const struct mcp_id *id, enum mcp_fault fault, const char *text);
/* With the client's version of the protocol if the server knows it. */
void mcp_answer_initialize(const struct mcp_request *request);
void mcp_answer_nothing(const struct mcp_id *id);
void mcp_answer_tools(const struct mcp_id *id);
/* What the tool printed, and, if not empty, its messages. */
void mcp_answer_call(const struct mcp_id *id, struct step_bytes output, struct step_bytes messages,
                     bool is_error);
void mcp_answer_text(const struct mcp_id *id, const char *text, bool is_error);

/* A call of a tool, which runs as a process of its own. */

struct mcp_call {
    pid_t process; /* 0: none */
    struct mcp_id id;
    struct mcp_command command;
    int output, messages; /* pipes; -1: closed */
    struct step_buffer printed, said;
    uint64_t ends_ns;
    const char *ended; /* why it was ended; NULL: it was not */
    bool is_cancelled; /* and gets no answer */
};

/* Starts the process, with that mask of signals.  Returns false if it cannot be started. */
bool mcp_call_start(struct mcp_call *call, uint64_t limit_ns, const sigset_t *mask);
/* Kills it; the answer is `reason`, if there was none before. */
void mcp_call_end(struct mcp_call *call, const char *reason);
/* The process has ended: answers, and resets the call. */
void mcp_call_finish(struct mcp_call *call);
void mcp_call_reset(struct mcp_call *call);

struct mcp_limits {
    uint64_t call_ns;      /* of one call; then it is ended */
    uint64_t answer_bytes; /* of one answer; longer ones are refused */
    const char *memory;    /* the value of --memory for verbs; NULL: their default */
};

/* Serves until standard input ends.  Returns OK, or IO if standard output cannot be written. */
enum step_status mcp_serve(const struct mcp_traces *traces, const struct mcp_limits *limits,
                           struct step_error *error);

#endif
