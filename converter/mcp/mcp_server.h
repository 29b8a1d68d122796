/* SPDX-License-Identifier: Apache-2.0 */
/* The server: reads messages from standard input, runs verbs, and answers on standard output. */
#ifndef CONVERTER_MCP_MCP_SERVER_H
#define CONVERTER_MCP_MCP_SERVER_H

#include "converter/mcp/mcp_traces.h"

struct mcp_limits {
    uint64_t call_ns;      /* of one call; then it is ended */
    uint64_t answer_bytes; /* of one answer; longer ones are refused */
    const char *memory;    /* the value of --memory for verbs; NULL: their default */
};

/* Serves until standard input ends.  Returns OK, or IO if standard output cannot be written. */
enum step_status mcp_serve(const struct mcp_traces *traces, const struct mcp_limits *limits,
                           struct step_error *error);

#endif
