/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace stats: prints totals of a trace. */

#include <string.h>

#include "converter/cli/verb.h"
#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/input.h"
#include "converter/statistics/findings_maker.h"
#include "converter/statistics/gate_rule.h"
#include "converter/statistics/measure_trace.h"
#include "converter/statistics/statistics_report.h"
#include "converter/statistics/trace_set.h"
#include "converter/trace/selection_options.h"

VERB(stats);

static const struct verb_help help = {
    .name = "stats",
    .operands = "IN [OPTION]...",
    .text = "Prints allocated, freed and live objects and lifetimes by class; allocations by\n"
            "thread; numbers and times of calls by method, if the trace has calls; and live heap\n"
            "over time.\n",
};

struct stats_options {
    struct event_selection selected;
    const struct trace_format *from;
    uint64_t top;
    bool json;
    bool lifetimes_in_bytes;
    enum statistics_order order;
    struct gates gates;
    const char *baseline; /* traces to compare with; NULL: none */
};

/* Consumers of the events of one pass. */
struct stats_pass {
    struct statistics statistics;
    bool is_measured; /* collect measures for gates */
    struct trace_measure measure;
    void *findings; /* what they are made from; NULL: the trace is not whole, or is sampled */
};

static enum step_status verb_stats_visit(void *user, const struct trace_event *events, size_t count,
                                         struct step_error *error)
{
    struct stats_pass *pass = user;
    if (!statistics_put(&pass->statistics, events, count))
        return no_memory(error);
    enum step_status status = pass->findings != NULL
                                  ? findings_maker->put(pass->findings, events, count, error)
                                  : STEP_STATUS_OK;
    return status == STEP_STATUS_OK && pass->is_measured
               ? trace_measure_put(&pass->measure, events, count, error)
               : status;
}

/* Evaluates the rules against the measures of the pass and of the baseline. */
static enum step_status verb_stats_judge(const struct stats_options *options, const char *path,
                                         struct input *input, struct stats_pass *pass)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct trace_set baseline = {.count = 0};
    struct measures measures;
    enum step_status status = STEP_STATUS_OK;
    if (options->baseline != NULL)
        status = trace_set_find(options->baseline, &baseline);
    if (status != STEP_STATUS_OK)
        return status;
    bool ok = measures_init(&measures, baseline.count + 1);
    if (ok)
        status = trace_set_measure(&baseline, SIDE_BEFORE, &options->selected, &measures);
    bool is_whole = measures.run_count == baseline.count;
    enum step_status own = ok && is_whole ? trace_measure_finish(&pass->measure, &measures, input,
                                                                 path, SIDE_AFTER, &error)
                                          : STEP_STATUS_OK;
    if (!ok)
        own = no_memory(&error);
    if (own != STEP_STATUS_OK)
        status = report_error(&error);
    for (size_t i = 0; own == STEP_STATUS_OK && is_whole && i < baseline.count; i++)
        measures_report_mixture(&measures.runs[i], &measures.runs[baseline.count]);
    if (own == STEP_STATUS_OK && is_whole)
        own = gates_judge(&options->gates, help.name, &measures, &verb_exit_code);
    measures_reset(&measures);
    trace_set_reset(&baseline);
    return status == STEP_STATUS_OK ? own : status;
}

/* Prints the findings and the numbers. */
static enum step_status verb_stats_print(const struct stats_options *options, const char *path,
                                         struct stats_pass *pass, struct step_error *error)
{
    const char *file = strcmp(path, "-") != 0 ? path : NULL;
    bool has_findings = pass->findings != NULL;
    const struct statistics_report report = {.statistics = &pass->statistics,
                                             .path = path,
                                             .top = options->top,
                                             .order = options->order,
                                             .put_more =
                                                 has_findings ? findings_maker->put_json : NULL,
                                             .user = pass->findings};
    enum step_status status = STEP_STATUS_OK;
    if (options->gates.is_quiet)
        return status;
    if (has_findings)
        status = findings_maker->finish(pass->findings, file, pass->statistics.not_probed, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (has_findings && !options->json)
        findings_maker->print(pass->findings, file);
    bool ok =
        options->json ? statistics_print_json(&report, stdout) : statistics_print_text(&report);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static bool takes_findings(const struct stats_options *options)
{
    return findings_maker != NULL && event_selection_is_all(&options->selected) &&
           !options->gates.is_quiet;
}

static enum step_status verb_stats_add_up(const struct stats_options *options, const char *path,
                                          struct input *input, struct stats_pass *pass)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct statistics *statistics = &pass->statistics;
    statistics_init(statistics, &input->source->names, options->lifetimes_in_bytes);
    statistics->snapshot_ns = event_source_number(input->source, "snapshot-ns", 0);
    statistics->stamp_events = event_source_stamp_events(input->source);
    statistics->lacks_existing =
        trace_lacks_existing(event_source_property(input->source, "existing").unshown);
    statistics->unit = event_source_time_unit(input->source);
    statistics->from_ns = options->selected.from_ns;
    statistics->deaths.are_of_program = input->source->content == TRACE_OF_ALLOCATIONS;
    pass->is_measured = options->gates.count > 0;
    bool has_findings = takes_findings(options) && event_source_sample_interval(input->source) == 0;
    bool ok = !pass->is_measured || trace_measure_init(&pass->measure, input->source);
    if (has_findings)
        pass->findings = findings_maker->open(input->source);
    ok = (!has_findings || pass->findings != NULL) && ok;
    if (ok) {
        enum step_status status = statistics_sampled_init(statistics, input->source, &error);
        if (status == STEP_STATUS_OK && pass->is_measured)
            status = heap_tracker_weigh(&pass->measure.heap, input->source, &error);
        if (status != STEP_STATUS_OK)
            return report_error(&error);
        status = input_each(input, verb_stats_visit, pass);
        if (status != STEP_STATUS_OK)
            return status;
        if (event_selection_is_all(&options->selected))
            status = event_source_facts(input->source, statistics_put_fact, statistics, &error);
        if (status != STEP_STATUS_OK)
            return report_error(&error);
        statistics_finish(statistics);
        status = verb_stats_print(options, path, pass, &error);
        if (status != STEP_STATUS_OK)
            return report_error(&error);
        enum step_status judged =
            pass->is_measured ? verb_stats_judge(options, path, input, pass) : STEP_STATUS_OK;
        enum step_status damage = input_report_damage(input);
        return damage != STEP_STATUS_OK ? damage : judged;
    }
    return report_no_memory();
}

static enum step_status verb_stats_run(struct stats_options *options,
                                       const struct arguments *arguments)
{
    const char *path = arguments->operands[0];
    struct input input;
    enum step_status status =
        gates_check(&options->gates, arguments, METRICS_OF_TRACES,
                    options->baseline == NULL ? "add --baseline=TRACE" : NULL);
    if (status != STEP_STATUS_OK)
        return status;
    options->selected.derives_stacks = options->gates.count > 0 || takes_findings(options);
    options->selected.follows_calls = true;
    options->selected.needs_all = options->lifetimes_in_bytes ? "--lifetimes=bytes" : NULL;
    status = input_open(&input, path, options->from, &options->selected);
    if (status != STEP_STATUS_OK)
        return status;
    struct stats_pass pass = {.is_measured = false};
    status = verb_stats_add_up(options, path, &input, &pass);
    statistics_reset(&pass.statistics);
    if (pass.is_measured)
        trace_measure_reset(&pass.measure);
    if (findings_maker != NULL)
        findings_maker->close(pass.findings);
    input_close(&input);
    return status;
}

enum step_status verb_stats(int argc, char **argv)
{
    struct stats_options options = {.top = TOP_DEFAULT};
    event_selection_init(&options.selected);
    const struct option_row rows[] = {
        {"top", 'n', "N", "rows of each table (20; 0: all)", take_count, &options.top},
        {"sort", 0, "WHAT", "sort classes by: bytes (default), objects or live",
         WORDS(options.order, "bytes", "objects", "live")},
        {"lifetimes", 0, "UNIT", "measure lifetimes in: time, or bytes allocated meanwhile",
         WORDS(options.lifetimes_in_bytes, "time", "bytes")},
        {"json", 0, NULL, "as JSON", take_flag, &options.json},
        FROM_ROW(&options.from),
        GATE_ROWS(&options.gates),
        {"baseline", 0, "TRACE", "traces that rules about changes compare with, as for compare",
         take_text, &options.baseline},
        SELECTION_ROWS(&options.selected),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (arguments_read(&arguments, argc, argv, 1, 1))
        arguments.status = verb_stats_run(&options, &arguments);
    gates_reset(&options.gates);
    return arguments.status;
}
