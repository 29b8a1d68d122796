/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools.  Each runs a verb with --json, so that an answer is what the verb prints. */
#include "analyses/mcp/mcp.h"

#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"

enum { FAULT_ROOM = 256 };

enum parameter_kind { KIND_TRACE, KIND_TEXT, KIND_ROWS, KIND_FLAG };

static const char *const kind_names[] = {"string", "string", "integer", "boolean"};

enum { ROWS_MOST = 1000 };

struct parameter {
    const char *name;
    enum parameter_kind kind;
    bool is_required;
    const char *option; /* "--at"; NULL: an operand */
    const char *about;
};

enum { PARAMETERS_MOST = 10 };

struct tool {
    const char *name, *about;
    const struct parameter *parameters[PARAMETERS_MOST]; /* ends with NULL */
    const char *fixed;                                   /* a further argument; NULL: none */
};

static const struct parameter a_trace = {"trace", KIND_TRACE, true, NULL,
                                         "file name of the trace, as in list_traces"};
static const struct parameter a_rows = {"top", KIND_ROWS, false, "--top", "number of rows (20)"};
static const struct parameter a_class = {
    "class", KIND_TEXT, false, "--class",
    "only objects of classes that match, e.g. java.util.HashMap, byte[], com.shop.**"};
static const struct parameter a_site = {
    "site", KIND_TEXT, false, "--site",
    "only objects with a matching frame on their stack, e.g. com/shop/Cart.add"};
static const struct parameter a_thread = {"thread", KIND_TEXT, false, "--thread",
                                          "only events of threads that match"};
static const struct parameter a_from = {"from_time", KIND_TEXT, false, "--from-time",
                                        "only events from then on, e.g. 1.5s"};
static const struct parameter a_to = {"to_time", KIND_TEXT, false, "--to-time",
                                      "only events until then"};
static const struct parameter a_moment = {"at", KIND_TEXT, false, "--at",
                                          "moment: peak, end, gc:N or a time such as 1.5s"};

static const struct tool tools[] = {
    {MCP_LIST_TRACES, "Lists the traces that can be read: path and bytes, a line each.",
     .parameters = {NULL}},
    {"info",
     "What a trace contains: program, JVM, options, events by kind, and whether it is complete.",
     .parameters = {&a_trace}},
    {"stats",
     "Allocations, deaths and lifetimes: totals, by class and by thread. Every object counts; "
     "nothing is sampled.",
     .parameters = {&a_trace, &a_rows, &a_class, &a_site, &a_thread, &a_from, &a_to}},
    {"heap",
     "What occupied the heap at a moment (peak if not given), by class, allocation site or thread. "
     "Sites need a trace recorded with stack=16.",
     .parameters = {&a_trace, &a_moment,
                    &(const struct parameter){"by", KIND_TEXT, false, "--by",
                                              "class (default), site, thread, or class+site"},
                    &(const struct parameter){"allocated", KIND_FLAG, false, "--allocated",
                                              "all allocations until then, freed or not"},
                    &a_rows, &a_class, &a_site, &a_thread}},
    {"leaks", "Objects that survive collections, and how fast their number grows.",
     .parameters = {&a_trace,
                    &(const struct parameter){"by", KIND_TEXT, false, "--by",
                                              "site, class or class+site"},
                    &(const struct parameter){"older_than", KIND_TEXT, false, "--older-than",
                                              "least age at the end, as 10s"},
                    &a_rows, &a_class, &a_from, &a_to}},
    {"compare", "Differences between two traces: allocations and live bytes by class or site.",
     .parameters = {&(const struct parameter){"before", KIND_TRACE, true, NULL, "the first trace"},
                    &(const struct parameter){"after", KIND_TRACE, true, NULL, "the second trace"},
                    &(const struct parameter){"by", KIND_TEXT, false, "--by",
                                              "class (default), site, thread, method or all"},
                    &a_rows, &a_class}},
    {"paths",
     "The paths from roots that keep objects alive. Needs a trace recorded with events=reference "
     "or with a snapshot.",
     .parameters = {&a_trace,
                    &(const struct parameter){"object", KIND_TEXT, false, NULL,
                                              "number of the object; or give class"},
                    &a_moment, &a_class, &a_rows}},
    {"sql",
     "Queries a trace in SQL (SQLite). Tables: objects, allocations, frees, calls, method_counts, "
     "classes, methods, threads, sites, collections, live, eden_classes; "
     "`pragma table_info(objects)` lists columns. Times are nanoseconds. Use LIMIT.",
     .parameters = {&a_trace,
                    &(const struct parameter){"query", KIND_TEXT, true, NULL, "one SELECT"}}},
    {"deaths",
     "Compares when objects became unreachable with when a collection found them dead. Needs "
     "a trace recorded with events=reference.",
     .parameters = {&a_trace}, .fixed = "--output=/dev/null"},
};
enum { TOOL_COUNT = sizeof tools / sizeof tools[0] };

static const struct tool *mcp_tools_find(const char *name)
{
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

bool mcp_tool_exists(const char *name)
{
    return mcp_tools_find(name) != NULL;
}

/* ---- the description ---- */

static void describe_parameters(struct json_output *json, const struct tool *tool)
{
    json_begin_object(json, "inputSchema");
    json_text(json, "type", "object");
    json_begin_object(json, "properties");
    for (size_t i = 0; tool->parameters[i] != NULL; i++) {
        const struct parameter *one = tool->parameters[i];
        json_begin_object(json, one->name);
        json_text(json, "type", kind_names[one->kind]);
        json_text(json, "description", one->about);
        if (one->kind == KIND_ROWS) {
            json_number(json, "minimum", 1);
            json_number(json, "maximum", ROWS_MOST);
        }
        json_end_object(json);
    }
    json_end_object(json);
    json_begin_array(json, "required");
    for (size_t i = 0; tool->parameters[i] != NULL; i++)
        if (tool->parameters[i]->is_required)
            json_text(json, NULL, tool->parameters[i]->name);
    json_end_array(json);
    json_bool(json, "additionalProperties", false);
    json_end_object(json);
}

void mcp_tools_describe(struct json_output *json)
{
    json_begin_array(json, "tools");
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        json_begin_object(json, NULL);
        json_text(json, "name", tools[i].name);
        json_text(json, "description", tools[i].about);
        describe_parameters(json, &tools[i]);
        json_begin_object(json, "annotations");
        json_bool(json, "readOnlyHint", true);
        json_bool(json, "openWorldHint", false);
        json_end_object(json);
        json_end_object(json);
    }
    json_end_array(json);
}

/* ---- a command ---- */

static bool mcp_tools_fail(char *fault, const char *name, const char *reason)
{
    snprintf(fault, FAULT_ROOM, "%s: %s", name, reason);
    return false;
}

static bool add_word(struct mcp_command *command, const char *word, char *fault)
{
    if (command->word_count == MCP_WORDS_MOST)
        return mcp_tools_fail(fault, word, "there are too many arguments");
    command->words[command->word_count++] = word;
    return true;
}

static bool is_row_count(const char *value)
{
    uint64_t rows;
    const char *fault;
    return take_count(&rows, value, &fault) && rows >= 1 && rows <= ROWS_MOST;
}

static bool add_option(struct mcp_command *command, const struct parameter *parameter,
                       const char *value, char *fault)
{
    char *text = command->texts[command->word_count % MCP_WORDS_MOST];
    if (parameter->kind == KIND_FLAG) {
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return mcp_tools_fail(fault, parameter->name, "true or false is expected");
        return value[0] == 'f' || add_word(command, parameter->option, fault);
    }
    if (parameter->kind == KIND_ROWS && !is_row_count(value))
        return mcp_tools_fail(fault, parameter->name, "a number from 1 to 1000 is expected");
    int length = snprintf(text, sizeof command->texts[0], "%s=%s", parameter->option, value);
    if (length < 0 || (size_t) length >= sizeof command->texts[0])
        return mcp_tools_fail(fault, parameter->name, "it is too long");
    return add_word(command, text, fault);
}

static bool add_operand(struct mcp_command *command, const struct mcp_traces *traces,
                        const struct parameter *parameter, const char *value, char *fault)
{
    const char *reason;
    if (parameter->kind != KIND_TRACE) {
        free(command->long_text);
        command->long_text = strdup(value);
        return command->long_text != NULL ? add_word(command, command->long_text, fault)
                                          : mcp_tools_fail(fault, parameter->name, "out of memory");
    }
    struct mcp_trace *trace = &command->traces[command->trace_count];
    if (!mcp_trace_open(traces, value, trace, &reason)) {
        snprintf(fault, FAULT_ROOM, "%s: %.120s: %s", parameter->name, value, reason);
        return false;
    }
    command->trace_count++;
    return add_word(command, trace->path, fault);
}

static bool names_are_known(const struct tool *tool, const struct mcp_request *request, char *fault)
{
    for (size_t i = 0; i < request->argument_count; i++) {
        const struct parameter *const *one = tool->parameters;
        while (*one != NULL && strcmp((*one)->name, request->arguments[i].name) != 0)
            one++;
        if (*one == NULL)
            return mcp_tools_fail(fault, request->arguments[i].name,
                                  "the tool has no such argument");
    }
    return true;
}

bool mcp_command_make(const struct mcp_request *request, const struct mcp_traces *traces,
                      struct mcp_command *command, char *fault)
{
    const struct tool *tool = mcp_tools_find(request->name);
    *command = (struct mcp_command){.word_count = 0};
    bool ok = names_are_known(tool, request, fault) && add_word(command, tool->name, fault) &&
              add_word(command, "--json", fault) &&
              (tool->fixed == NULL || add_word(command, tool->fixed, fault));
    for (unsigned operands = 0; operands < 2; operands++) {
        ok = ok && (operands == 0 || add_word(command, "--", fault));
        for (size_t i = 0; ok && tool->parameters[i] != NULL; i++) {
            const struct parameter *one = tool->parameters[i];
            const char *value = mcp_request_argument(request, one->name);
            if (value == NULL && one->is_required)
                ok = mcp_tools_fail(fault, one->name, "the argument is missing");
            else if (value != NULL && (one->option == NULL) == (operands == 1))
                ok = one->option != NULL ? add_option(command, one, value, fault)
                                         : add_operand(command, traces, one, value, fault);
        }
    }
    return ok;
}

void mcp_command_reset(struct mcp_command *command)
{
    for (size_t i = 0; i < command->trace_count; i++)
        mcp_trace_close(&command->traces[i]);
    free(command->long_text);
    *command = (struct mcp_command){.word_count = 0};
}
