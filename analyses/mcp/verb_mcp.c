/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace mcp: lets a program ask about traces through the Model Context Protocol. */
#include "analyses/mcp/mcp.h"
#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"

VERB(mcp);

#define DEFAULT_CALL_NS (UINT64_C(60) * 1000000000)
#define DEFAULT_ANSWER_BYTES (UINT64_C(256) << 10)

static const struct verb_help help = {
    "mcp", "DIRECTORY... [OPTION]...",
    "Serves the Model Context Protocol on standard input and output, so that an assistant\n"
    "can list, describe, compare and query the traces in the directories. It only reads:\n"
    "regular files in these directories and below, not through links.\n"};

enum step_status verb_mcp(int argc, char **argv)
{
    struct mcp_limits limits = {.call_ns = DEFAULT_CALL_NS, .answer_bytes = DEFAULT_ANSWER_BYTES};
    const struct option_row rows[] = {
        {"time", 0, "T", "limit of one call (60s)", take_time, &limits.call_ns},
        {"answer", 0, "SIZE", "limit of one answer (256k)", take_size, &limits.answer_bytes},
        {"call-memory", 0, "SIZE",
         "limit of memory of one call (half of the machine's, at most 4g)", take_text,
         &limits.memory}};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    struct mcp_traces traces = {.count = 0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (!arguments_read(&arguments, argc, argv, 1, MCP_DIRECTORIES_MOST))
        return arguments.status;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < arguments.operand_count && status == STEP_STATUS_OK; i++)
        status = mcp_traces_add(&traces, arguments.operands[i], &error);
    if (status == STEP_STATUS_OK)
        status = mcp_serve(&traces, &limits, &error);
    if (status != STEP_STATUS_OK)
        report_error(&error);
    mcp_traces_close(&traces);
    return status;
}
