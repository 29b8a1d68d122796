/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The traces that a server may read: regular files in its directories.  A file is opened part by
 * part of its path, without following links, and the open file is what a verb reads: whatever is
 * put in its place meanwhile is not.
 */
#ifndef CONVERTER_MCP_MCP_TRACES_H
#define CONVERTER_MCP_MCP_TRACES_H

#include <stdbool.h>
#include <stdio.h>

#include "steptrace/status.h"

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

#endif
