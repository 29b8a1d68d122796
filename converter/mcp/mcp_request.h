/* SPDX-License-Identifier: Apache-2.0 */
/* A message of a client: JSON-RPC 2.0, one object on a line, and what its method needs of it. */
#ifndef CONVERTER_MCP_MCP_REQUEST_H
#define CONVERTER_MCP_MCP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
