/* SPDX-License-Identifier: Apache-2.0 */
/* Parses messages, whose members may be in any order. */
#include "analyses/mcp/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/json/json_input.h"

struct parsing {
    struct json_input *input;
    struct mcp_request *request;
    bool is_rpc; /* the message says that it is of JSON-RPC 2.0 */
    enum mcp_fault fault;
    const char *text; /* of the fault */
};

static bool mcp_request_fail(struct parsing *parsing, enum mcp_fault fault, const char *text)
{
    if (parsing->fault == MCP_GOOD) {
        parsing->fault = fault;
        parsing->text = text;
    }
    return false;
}

static bool mcp_request_next(struct parsing *parsing, enum json_token *token)
{
    return json_input_next(parsing->input, token, NULL) == STEP_STATUS_OK ||
           mcp_request_fail(parsing, MCP_NO_JSON, "the message is not valid JSON");
}

static bool skip(struct parsing *parsing, enum json_token token)
{
    return json_input_skip(parsing->input, token, NULL) == STEP_STATUS_OK ||
           mcp_request_fail(parsing, MCP_NO_JSON, "the message is not valid JSON");
}

/* Copies the text of the last token; texts with a zero byte, or that are too long, are refused. */
static bool mcp_request_take_name(struct parsing *parsing, char *out, size_t room)
{
    struct step_bytes text = json_input_text(parsing->input);
    if (text.length >= room || memchr(text.data, 0, text.length) != NULL)
        return mcp_request_fail(parsing, MCP_NO_REQUEST, "a name or an id is too long");
    memcpy(out, text.data, text.length);
    out[text.length] = '\0';
    return true;
}

static bool take_id(struct parsing *parsing, enum json_token token, struct mcp_id *id)
{
    if (token != JSON_STRING && token != JSON_NUMBER)
        return mcp_request_fail(parsing, MCP_NO_REQUEST, "an id is a string or a number");
    if (!mcp_request_take_name(parsing, id->text, sizeof id->text))
        return false;
    id->kind = token == JSON_STRING ? MCP_ID_STRING : MCP_ID_NUMBER;
    return true;
}

typedef bool take_member(struct parsing *parsing, const char *key);

/* Takes an object, or fails with `what` if the next value is none. */
static bool mcp_request_take_object(struct parsing *parsing, take_member *take,
                                    enum mcp_fault fault, const char *what)
{
    enum json_token token;
    char key[MCP_NAME_ROOM];
    if (!mcp_request_next(parsing, &token))
        return false;
    if (token != JSON_OBJECT)
        return mcp_request_fail(parsing, fault, what);
    while (mcp_request_next(parsing, &token) && token == JSON_KEY)
        if (!mcp_request_take_name(parsing, key, sizeof key) || !take(parsing, key))
            return false;
    return parsing->fault == MCP_GOOD;
}

static bool take_argument(struct parsing *parsing, const char *key)
{
    struct mcp_request *request = parsing->request;
    struct mcp_argument *argument = &request->arguments[request->argument_count];
    enum json_token token;
    if (request->argument_count == MCP_ARGUMENTS_MOST)
        return mcp_request_fail(parsing, MCP_BAD_PARAMETERS, "there are too many arguments");
    snprintf(argument->name, sizeof argument->name, "%s", key);
    if (!mcp_request_next(parsing, &token))
        return false;
    struct step_bytes text = json_input_text(parsing->input);
    if (token == JSON_TRUE || token == JSON_FALSE)
        text = step_text(token == JSON_TRUE ? "true" : "false");
    else if (token != JSON_STRING && token != JSON_NUMBER)
        return mcp_request_fail(parsing, MCP_BAD_PARAMETERS,
                                "an argument is a string, a number or a boolean");
    if (memchr(text.data, 0, text.length) != NULL)
        return mcp_request_fail(parsing, MCP_BAD_PARAMETERS, "an argument has a zero byte");
    argument->value = malloc(text.length + 1);
    if (argument->value == NULL)
        return mcp_request_fail(parsing, MCP_FAILED, "out of memory");
    memcpy(argument->value, text.data, text.length);
    argument->value[text.length] = '\0';
    request->argument_count++;
    return true;
}

static bool is(const char *name, const char *wanted)
{
    return strcmp(name, wanted) == 0;
}

static bool take_parameter(struct parsing *parsing, const char *key)
{
    struct mcp_request *request = parsing->request;
    enum json_token token;
    if (is(key, "arguments") && request->argument_count == 0)
        return mcp_request_take_object(parsing, take_argument, MCP_BAD_PARAMETERS,
                                       "the arguments are not an object");
    if (!mcp_request_next(parsing, &token))
        return false;
    if (is(key, "requestId"))
        return take_id(parsing, token, &request->cancelled);
    if (token == JSON_STRING && is(key, "name"))
        return mcp_request_take_name(parsing, request->name, sizeof request->name);
    if (token == JSON_STRING && is(key, "protocolVersion"))
        return mcp_request_take_name(parsing, request->version, sizeof request->version);
    return skip(parsing, token);
}

static bool mcp_request_take_part(struct parsing *parsing, const char *key)
{
    struct mcp_request *request = parsing->request;
    enum json_token token;
    if (is(key, "params"))
        return mcp_request_take_object(parsing, take_parameter, MCP_BAD_PARAMETERS,
                                       "the parameters are not an object");
    if (!mcp_request_next(parsing, &token))
        return false;
    if (is(key, "id"))
        return take_id(parsing, token, &request->id);
    if (token == JSON_STRING && is(key, "method"))
        return mcp_request_take_name(parsing, request->method, sizeof request->method);
    if (token == JSON_STRING && is(key, "jsonrpc"))
        parsing->is_rpc = is((const char *) json_input_text(parsing->input).data, "2.0");
    return skip(parsing, token);
}

static void parse(struct parsing *parsing)
{
    enum json_token token;
    if (!mcp_request_take_object(parsing, mcp_request_take_part, MCP_NO_REQUEST,
                                 "a message is one object") ||
        !mcp_request_next(parsing, &token))
        return;
    if (token != JSON_END)
        mcp_request_fail(parsing, MCP_NO_JSON, "unexpected data after the message");
    else if (!parsing->is_rpc)
        mcp_request_fail(parsing, MCP_NO_REQUEST, "the message is not of JSON-RPC 2.0");
}

static bool take_only_id(struct parsing *parsing, const char *key)
{
    enum json_token token;
    return mcp_request_next(parsing, &token) &&
           (is(key, "id") ? take_id(parsing, token, &parsing->request->id) : skip(parsing, token));
}

/* Takes the id of a message at fault: clients may send it after the parameters. */
static void find_id(const char *path, struct mcp_request *request)
{
    struct parsing parsing = {.request = request};
    if (json_input_open(path, &parsing.input, NULL) != STEP_STATUS_OK)
        return;
    mcp_request_take_object(&parsing, take_only_id, MCP_NO_REQUEST, "");
    json_input_close(parsing.input);
}

enum mcp_fault mcp_request_parse(const char *line, size_t length, struct mcp_request *request,
                                 const char **fault_text)
{
    struct parsing parsing = {.request = request};
    char path[40];
    *request = (struct mcp_request){.argument_count = 0};
    int file = memfd_create("steptrace mcp", MFD_CLOEXEC); /* the parser reads files */
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file < 0 || write(file, line, length) != (ssize_t) length ||
        json_input_open(path, &parsing.input, NULL) != STEP_STATUS_OK)
        mcp_request_fail(&parsing, MCP_FAILED, "out of memory");
    else
        parse(&parsing);
    if (parsing.input != NULL)
        json_input_close(parsing.input);
    if (parsing.fault != MCP_GOOD && request->id.kind == MCP_NO_ID)
        find_id(path, request);
    if (file >= 0)
        close(file);
    *fault_text = parsing.text;
    return parsing.fault;
}

void mcp_request_reset(struct mcp_request *request)
{
    for (size_t i = 0; i < MCP_ARGUMENTS_MOST; i++)
        free(request->arguments[i].value);
    *request = (struct mcp_request){.argument_count = 0};
}

const char *mcp_request_argument(const struct mcp_request *request, const char *name)
{
    for (size_t i = 0; i < request->argument_count; i++)
        if (is(request->arguments[i].name, name))
            return request->arguments[i].value;
    return NULL;
}

bool mcp_ids_are_equal(const struct mcp_id *a, const struct mcp_id *b)
{
    return a->kind != MCP_NO_ID && a->kind == b->kind && is(a->text, b->text);
}
