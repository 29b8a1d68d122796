/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace check: checks whether a trace is closed. */
#include <inttypes.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/sampled_trace.h"
#include "converter/formats/metatf/metatf_records.h"
#include "converter/verbs/check_run.h"
#include "converter/verbs/verb.h"

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
            "violation, if the trace is truncated, or if the agent could not instrument the JDK's\n"
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

/* Reports that the agent's self-test failed while recording (docs/hotspot-internals.md, canary). */
static enum step_status report_doubts(const struct input *input, enum step_status status)
{
    const char *fault = event_source_property(input->source, "internals-fault");
    if (fault == NULL)
        return status;
    report_line("%s: events before the agent noticed may be wrong: %s", input->source->path, fault);
    return STEP_STATUS_CORRUPT;
}

/* ---- for both checkers ---- */

bool check_run_prints(struct check_run *run)
{
    bool prints = run->printed < run->limit;
    run->printed += prints;
    return prints;
}

uint64_t check_run_breach_count(const struct check_run *run)
{
    uint64_t count = 0;
    for (unsigned rule = run->first_rule; rule < run->rule_end; rule++)
        count += run->breaches[rule];
    return count;
}

enum step_status check_run_judge(struct check_run *run, enum step_status status,
                                 void (*print_verdict)(struct check_run *run, bool is_damaged))
{
    if (status != STEP_STATUS_OK) {
        if (run->json != NULL)
            check_run_put_verdict(run, "failed", 0);
        return status;
    }
    status = report_doubts(run->input, input_report_damage(run->input));
    print_verdict(run, status != STEP_STATUS_OK);
    bool is_bad = check_run_breach_count(run) > 0 || run->incomplete != NULL;
    return is_bad ? STEP_STATUS_CORRUPT : status;
}

void check_run_put_verdict(struct check_run *run, const char *verdict, uint64_t count)
{
    json_end_array(run->json);
    json_text(run->json, "verdict", verdict);
    json_number(run->json, "count", count);
    json_number(run->json, "breach_count", check_run_breach_count(run));
}

void check_run_put_rules(const struct check_run *run)
{
    json_begin_array(run->json, "rules");
    for (unsigned rule = run->first_rule; rule < run->rule_end; rule++) {
        json_begin_object(run->json, NULL);
        if (run->has_numbers)
            json_number(run->json, "rule", rule);
        json_text(run->json, run->has_numbers ? "text" : "rule", run->rule_text(rule));
        json_number(run->json, "breaches", run->breaches[rule]);
        json_end_object(run->json);
    }
    json_end_array(run->json);
}

void check_run_print_rules(const struct check_run *run)
{
    uint64_t all = check_run_breach_count(run);
    if (all > run->printed)
        printf("and %" PRIu64 " more (--limit=N prints more)\n", all - run->printed);
    for (unsigned rule = run->first_rule; rule < run->rule_end; rule++) {
        uint64_t count = run->breaches[rule];
        if (count > 0 && run->has_numbers)
            printf("rule %u (%s): %" PRIu64 " %s\n", rule, run->rule_text(rule), count,
                   breaches(count));
        else if (count > 0)
            printf("%s: %" PRIu64 " %s\n", run->rule_text(rule), count, breaches(count));
    }
}

/* ---- the verb ---- */

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
    sampled_traces_accept(true);
    uint64_t limit = LIMIT_DEFAULT;
    const struct trace_format *from = NULL;
    bool as_json = false, with_graph = false;
    struct event_selection selected;
    event_selection_init(&selected);
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
