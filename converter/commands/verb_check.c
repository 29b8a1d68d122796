/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace check: checks whether a trace is closed. */
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/commands/check_run.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/metatf/metatf_records.h"

VERB(check);

#define LIMIT_DEFAULT UINT64_C(20)

static const struct verb_help help = {
    .name = "check",
    .operands = "IN [OPTION]...",
    .text = "Checks every rule of a closed trace, and prints each violation with the number and\n"
            "the time of its event: VS, VI first and VD last (1); what existed before has the\n"
            "time of VI (2); classes, objects and threads are defined before they are used (3);\n"
            "identifiers are used once (4); objects are freed once (5); calls nest (6); time\n"
            "never goes back (7); calls of instance methods name the object (8). In a heap trace\n"
            "(HATF): double frees, frees and reallocs of dead blocks, overlapping objects,\n"
            "threads and heaps that are not created or are used after their end, and time that\n"
            "goes back, each with record and offset. The exit status is 3 if there is a\n"
            "violation, if the trace is truncated (also after recover), or if the agent could not "
            "instrument the JDK's\n"
            "classes; classes and methods without probes are counted. While the traced process is\n"
            "running, only rules 4, 5 and 7 can be checked: the command says so and exits with\n"
            "status 3.\n",
};

static void begin_json(struct check_run *run, const char *path)
{
    json_open(run->json, stdout);
    json_text(run->json, "trace", path);
    json_text(run->json, "counted", run->input->allocs != NULL ? "records" : "events");
    json_begin_array(run->json, "breaches");
}

/* --graph.  Does not change the result of the other rules. */
static enum step_status check_graph(const struct input *input, uint64_t limit,
                                    struct json_output *json, enum step_status status)
{
    const char *path = input->spool >= 0 ? input->spool_path : input->source->path;
    enum step_status of_graph = snapshots_print(path, limit, json);
    return status == STEP_STATUS_OK ? of_graph : status;
}

static enum step_status check_input(struct input *input, const char *path, uint64_t limit,
                                    bool as_json, bool with_graph)
{
    struct json_output json;
    struct check_run run = {.input = input, .limit = limit, .json = as_json ? &json : NULL};
    if (as_json)
        begin_json(&run, path);
    enum step_status status = input->allocs != NULL ? check_allocs(&run) : check_events(&run);
    if (with_graph)
        status = check_graph(input, limit, run.json, status);
    if (as_json)
        json_close(&json);
    return status;
}

static bool is_step(const struct input *input)
{
    struct trace_summary summary = trace_summary_of(&input->source->about);
    return input->source->content <= TRACE_OF_GRAPHS && summary.format != NULL &&
           strcmp(summary.format, "step") == 0;
}

enum step_status verb_check(int argc, char **argv)
{
    uint64_t limit = LIMIT_DEFAULT;
    const struct trace_format *from = NULL;
    bool as_json = false, with_graph = false;
    struct event_selection selected;
    event_selection_init(&selected);
    selected.needs_all = NULL;
    const struct option_row rows[] = {
        {"limit", 0, "N", "print at most N violations (20)", take_count, &limit},
        FROM_ROW(&from),
        {"graph", 0, NULL, "compare the stores of references with each snapshot", take_flag,
         &with_graph},
        {"json", 0, NULL, "as JSON", take_flag, &as_json},
        {"dtd", 0, "FILE", "DTD of a Meta-TF trace that does not contain it", take_text,
         &selected.dtd_path},
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    struct input input;
    enum step_status status = input_open(&input, arguments.operands[0], from, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (with_graph && !is_step(&input)) {
        input_close(&input);
        return arguments_fault(&arguments, "--graph is for STEP traces");
    }
    if (input.source->content == TRACE_OF_METATF_RECORDS)
        status = as_json ? arguments_fault(&arguments, "--json is not for Meta-TF's own records")
                         : metatf_records_check(input.source->path, selected.dtd_path);
    else
        status = check_input(&input, arguments.operands[0], limit, as_json, with_graph);
    input_close(&input);
    return status;
}
