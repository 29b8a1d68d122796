/* SPDX-License-Identifier: Apache-2.0 */
/* The tools of the server: verbs, and what their parameters become on the command line. */
#ifndef CONVERTER_MCP_MCP_TOOLS_H
#define CONVERTER_MCP_MCP_TOOLS_H

#include "converter/mcp/mcp_request.h"
#include "converter/mcp/mcp_traces.h"
#include "format/json/json_output.h"

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

#endif
