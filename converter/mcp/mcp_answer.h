/* SPDX-License-Identifier: Apache-2.0 */
/* The server's messages: one line of JSON each, on standard output. */
#ifndef CONVERTER_MCP_MCP_ANSWER_H
#define CONVERTER_MCP_MCP_ANSWER_H

#include "converter/mcp/mcp_request.h"
#include "steptrace/value.h"

/* Answers a request with an error. */
void mcp_answer_fault(const struct mcp_id *id, enum mcp_fault fault, const char *text);
/* Answers `initialize`, with the client's version of the protocol if the server knows it. */
void mcp_answer_initialize(const struct mcp_request *request);
/* Answers with an empty result; with the list of tools. */
void mcp_answer_nothing(const struct mcp_id *id);
void mcp_answer_tools(const struct mcp_id *id);
/* Answers a call: what the tool printed, and, if not empty, its messages. */
void mcp_answer_call(const struct mcp_id *id, struct step_bytes output, struct step_bytes messages,
                     bool is_error);

#endif
