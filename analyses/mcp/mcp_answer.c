/* SPDX-License-Identifier: Apache-2.0 */
/* Answers: JSON in compact form has no line feed, so each is a line. */
#include <string.h>

#include "analyses/mcp/mcp.h"

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

void mcp_answer_fault(const struct mcp_id *id, enum mcp_fault fault, const char *text)
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

void mcp_answer_initialize(const struct mcp_request *request)
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

void mcp_answer_nothing(const struct mcp_id *id)
{
    struct json_output json;
    begin_result(&json, id);
    end_result(&json);
}

void mcp_answer_tools(const struct mcp_id *id)
{
    struct json_output json;
    begin_result(&json, id);
    mcp_tools_describe(&json);
    end_result(&json);
}

static void mcp_answer_put_text(struct json_output *json, struct step_bytes text)
{
    json_begin_object(json, NULL);
    json_text(json, "type", "text");
    json_bytes(json, "text", text);
    json_end_object(json);
}

void mcp_answer_call(const struct mcp_id *id, struct step_bytes output, struct step_bytes messages,
                     bool is_error)
{
    struct json_output json;
    begin_result(&json, id);
    json_begin_array(&json, "content");
    if (output.length > 0)
        mcp_answer_put_text(&json, output);
    if (messages.length > 0 || output.length == 0)
        mcp_answer_put_text(&json, messages);
    json_end_array(&json);
    json_bool(&json, "isError", is_error);
    end_result(&json);
}

void mcp_answer_text(const struct mcp_id *id, const char *text, bool is_error)
{
    mcp_answer_call(id, step_text(""), step_text(text), is_error);
}
