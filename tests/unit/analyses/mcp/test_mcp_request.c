/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of clients: what they say, and what is wrong with others; command lines of tools. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/mcp/mcp.h"
#include "tests/unit/run_suite.h"

#define RPC "\"jsonrpc\":\"2.0\""

static enum mcp_fault parse_line(const char *line, struct mcp_request *request)
{
    const char *text = NULL;
    enum mcp_fault fault = mcp_request_parse(line, strlen(line), request, &text);
    CU_ASSERT((fault == MCP_GOOD) == (text == NULL));
    return fault;
}

static void test_call(void)
{
    struct mcp_request request;
    CU_ASSERT_EQUAL(parse_line("{" RPC ",\"id\":7,\"method\":\"tools/call\",\"params\":"
                               "{\"name\":\"stats\",\"arguments\":{\"trace\":\"a \\\"b\\\".step\","
                               "\"top\":5,\"csv\":true},\"_meta\":{\"x\":[1,{}]}}}",
                               &request),
                    MCP_GOOD);
    CU_ASSERT_EQUAL(request.id.kind, MCP_ID_NUMBER);
    CU_ASSERT_STRING_EQUAL(request.id.text, "7");
    CU_ASSERT_STRING_EQUAL(request.method, "tools/call");
    CU_ASSERT_STRING_EQUAL(request.name, "stats");
    CU_ASSERT_EQUAL(request.argument_count, 3);
    CU_ASSERT_STRING_EQUAL(mcp_request_argument(&request, "trace"), "a \"b\".step");
    CU_ASSERT_STRING_EQUAL(mcp_request_argument(&request, "top"), "5");
    CU_ASSERT_STRING_EQUAL(mcp_request_argument(&request, "csv"), "true");
    CU_ASSERT_PTR_NULL(mcp_request_argument(&request, "tops"));
    mcp_request_reset(&request);
}

static void test_others(void)
{
    struct mcp_request request;
    CU_ASSERT_EQUAL(parse_line("{\"params\":{\"protocolVersion\":\"2025-06-18\"},\"method\":"
                               "\"initialize\",\"id\":\"a\"," RPC "}",
                               &request),
                    MCP_GOOD);
    CU_ASSERT_EQUAL(request.id.kind, MCP_ID_STRING);
    CU_ASSERT_STRING_EQUAL(request.version, "2025-06-18");
    struct mcp_id id = request.id;
    mcp_request_reset(&request);
    CU_ASSERT_EQUAL(parse_line("{" RPC ",\"method\":\"notifications/cancelled\",\"params\":"
                               "{\"requestId\":\"a\"}}",
                               &request),
                    MCP_GOOD);
    CU_ASSERT_EQUAL(request.id.kind, MCP_NO_ID);
    CU_ASSERT_TRUE(mcp_ids_are_equal(&request.cancelled, &id));
    request.cancelled.kind = MCP_ID_NUMBER; /* 7 is not "7" */
    CU_ASSERT_FALSE(mcp_ids_are_equal(&request.cancelled, &id));
    CU_ASSERT_FALSE(mcp_ids_are_equal(&request.id, &request.id)); /* none is none's */
    mcp_request_reset(&request);
}

/* The codes are those of JSON-RPC; the id is found wherever it stands. */
static void test_faults(void)
{
    static const struct {
        const char *line;
        enum mcp_fault fault;
        const char *id;
    } rows[] = {
        {"{", MCP_NO_JSON, ""},
        {"", MCP_NO_JSON, ""},
        {"{" RPC ",\"id\":1} 2", MCP_NO_JSON, "1"},
        {"[]", MCP_NO_REQUEST, ""},
        {"{\"id\":1,\"method\":\"x\"}", MCP_NO_REQUEST, "1"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"x\"}", MCP_NO_REQUEST, "1"},
        {"{" RPC ",\"id\":[1]}", MCP_NO_REQUEST, ""},
        {"{" RPC ",\"params\":[],\"id\":3}", MCP_BAD_PARAMETERS, "3"},
        {"{" RPC ",\"params\":{\"arguments\":1},\"id\":4}", MCP_BAD_PARAMETERS, "4"},
        {"{" RPC ",\"params\":{\"arguments\":{\"a\":{}}},\"id\":\"5\"}", MCP_BAD_PARAMETERS, "5"},
        {"{" RPC ",\"params\":{\"arguments\":{\"a\":\"\\u0000\"}},\"id\":6}", MCP_BAD_PARAMETERS,
         "6"},
        {"{" RPC ",\"params\":{\"arguments\":{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,"
         "\"7\":1,\"8\":1,\"9\":1,\"10\":1,\"11\":1,\"12\":1,\"13\":1,\"14\":1,\"15\":1,\"16\":1,"
         "\"17\":1}},\"id\":8}",
         MCP_BAD_PARAMETERS, "8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mcp_request request;
        CU_ASSERT_EQUAL(parse_line(rows[i].line, &request), rows[i].fault);
        CU_ASSERT_STRING_EQUAL(request.id.text, rows[i].id);
        mcp_request_reset(&request);
    }
}

/* Returns whether a command can be made; what is wrong is in `fault`. */
static bool make_command(const char *line, char *fault)
{
    static const struct mcp_traces no_traces;
    static struct mcp_command command;
    struct mcp_request request;
    CU_ASSERT_EQUAL_FATAL(parse_line(line, &request), MCP_GOOD);
    fault[0] = '\0';
    bool made = mcp_command_make(&request, &no_traces, &command, fault);
    mcp_command_reset(&command);
    mcp_request_reset(&request);
    return made;
}

static void test_tools(void)
{
    char fault[256];
    CU_ASSERT_TRUE(mcp_tool_exists("stats"));
    CU_ASSERT_TRUE(mcp_tool_exists(MCP_LIST_TRACES));
    CU_ASSERT_FALSE(mcp_tool_exists("record"));
    CU_ASSERT_FALSE(make_command("{" RPC ",\"params\":{\"name\":\"stats\"}}", fault));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "trace"));
    CU_ASSERT_FALSE(make_command("{" RPC ",\"params\":{\"name\":\"stats\",\"arguments\":"
                                 "{\"output\":\"/etc/passwd\"}}}",
                                 fault));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "output"));
    CU_ASSERT_FALSE(make_command("{" RPC ",\"params\":{\"name\":\"stats\",\"arguments\":"
                                 "{\"trace\":\"/etc/passwd\"}}}",
                                 fault));
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "/etc/passwd"));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("messages of clients", NULL, NULL);
    CU_add_test(suite, "a call", test_call);
    CU_add_test(suite, "other messages", test_others);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "tools", test_tools);
}
