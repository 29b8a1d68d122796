/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace compare: shows the differences between two traces or sets of traces. */
#include <inttypes.h>
#include <string.h>

#include "analyses/compare/compare_report.h"
#include "analyses/page/pages.h"
#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/output/output_file.h"
#include "converter/statistics/gate_rule.h"
#include "converter/statistics/measures.h"
#include "converter/statistics/trace_set.h"
#include "converter/trace/selection_options.h"

VERB(compare);

#define TOP_NOT_CHOSEN UINT64_MAX

static const struct verb_help help = {
    .name = "compare",
    .operands = "BEFORE AFTER [OPTION]...",
    .text = "Compares two traces: objects allocated, freed, and alive at the peak and at the end,\n"
            "lifetimes, calls and their times; by class, site, thread or method, largest change\n"
            "first. BEFORE and AFTER may each be several traces of the same program\n"
            "(a.step,b.step or a directory): then medians of the runs are compared, and ~ marks\n"
            "changes within the variation between runs. Generated names that differ from run to\n"
            "run (lambdas, proxies, numbers of threads) are matched.\n"};

struct comparison {
    struct compare_report report;
    struct event_selection selected;
    struct gates gates;
    bool exact_names, with_lines;
    bool as_tree, as_json, as_csv;
    const char *page;
};

static bool take_axes(void *unsigned_target, const char *value, const char **fault)
{
    *fault = "class, site, thread, method or all is expected, or several with + between";
    if (strcmp(value, "all") == 0) {
        *(unsigned *) unsigned_target = ~0u;
        return true;
    }
    return take_some_of(axis_names, AXIS_COUNT, value, unsigned_target) &&
           (*(unsigned *) unsigned_target & 1u << AXIS_PROGRAM) == 0;
}

static bool take_metric(void *metric_target, const char *value, const char **fault)
{
    const struct metric *metric = metric_by_name(value, strlen(value));
    *fault = "allocated, freed, alive_at_peak, alive_at_end (or these with _objects), lifetime, "
             "calls, exceptions, own_time or time is expected";
    *(const struct metric **) metric_target = metric;
    return metric != NULL && metric->group == METRICS_OF_TRACES;
}

/* Compares the main class or file; arguments may differ. */
static bool is_other_program(const char *a, const char *b)
{
    size_t length = strcspn(a, " ");
    return a[0] != '\0' && b[0] != '\0' && (strcspn(b, " ") != length || memcmp(a, b, length) != 0);
}

/* Warns about traces that are hardly comparable. */
static void report_differences(const struct measures *measures)
{
    const struct measure_run *first = &measures->runs[0];
    for (size_t i = 0; i < measures->run_count; i++)
        if (measures->runs[i].unit == TIME_STEPS)
            report_line("%s: has no clock (resolution=none): no times are compared",
                        measures->runs[i].path);
    for (size_t i = 1; i < measures->run_count; i++) {
        const struct measure_run *run = &measures->runs[i];
        if (is_other_program(first->program, run->program))
            report_line("%s and %s are of different programs: '%s', '%s'", first->path, run->path,
                        first->program, run->program);
        measures_report_mixture(first, run);
        if (run->has_sizes != first->has_sizes)
            report_line("%s has no object sizes", run->has_sizes ? first->path : run->path);
        if (death_dates_are_exact(&run->deaths) != death_dates_are_exact(&first->deaths))
            report_line("%s has exact deaths, %s those that collections found: this changes "
                        "lifetimes and live objects, too",
                        death_dates_are_exact(&run->deaths) ? run->path : first->path,
                        death_dates_are_exact(&run->deaths) ? first->path : run->path);
        if (run->resolution_ns != first->resolution_ns)
            report_line(
                "%s and %s have time stamps of different resolution: this changes times, too",
                first->path, run->path);
        uint32_t events = TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE) |
                          TRACE_KIND_BIT(EVENT_METHOD_ENTRY);
        if ((run->kinds & events) != (first->kinds & events))
            report_line("%s and %s were not recorded with the same events: only those that all "
                        "have are compared",
                        first->path, run->path);
    }
}

/* Stacks recorded with different depths have no sites in common, so all are cut to the least
 * depth. */
static bool even_out_stacks(struct measures *measures)
{
    const struct measure_run *least = NULL, *most = NULL;
    for (size_t i = 0; i < measures->run_count; i++) {
        const struct measure_run *run = &measures->runs[i];
        if (run->stack_depth == 0)
            continue;
        least = least == NULL || run->stack_depth < least->stack_depth ? run : least;
        most = most == NULL || run->stack_depth > most->stack_depth ? run : most;
    }
    if (least == NULL || least->stack_depth == most->stack_depth)
        return true;
    report_line("%s was recorded with stack=%" PRIu64 ", %s with stack=%" PRIu64
                ": call sites are compared by their innermost %" PRIu64 " frames",
                most->path, most->stack_depth, least->path, least->stack_depth, least->stack_depth);
    return measures_cut_sites(measures, least->stack_depth);
}

static enum step_status verb_compare_print(const struct comparison *comparison,
                                           const struct compare_report *report)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (comparison->page != NULL) {
        enum step_status status = output_file_print(comparison->page, compare_page,
                                                    compare_put_page_data, report, &error);
        return status == STEP_STATUS_OK ? status : report_error(&error);
    }
    if (comparison->gates.is_quiet)
        return STEP_STATUS_OK;
    bool ok = comparison->as_json   ? compare_print_json(report)
              : comparison->as_csv  ? compare_print_csv(report)
              : comparison->as_tree ? compare_print_tree(report)
                                    : compare_print_text(report);
    return ok ? STEP_STATUS_OK : report_no_memory();
}

static enum step_status verb_compare_sets(struct comparison *comparison,
                                          const struct trace_set sets[SIDE_COUNT])
{
    struct measures measures;
    size_t runs = sets[SIDE_BEFORE].count + sets[SIDE_AFTER].count;
    if (!measures_init(&measures, runs)) {
        measures_reset(&measures);
        return report_no_memory();
    }
    measures.exact_names = comparison->exact_names;
    measures.with_lines = comparison->with_lines;
    enum step_status status = STEP_STATUS_OK;
    for (unsigned side = 0; side < SIDE_COUNT; side++) {
        enum step_status one = trace_set_measure(&sets[side], (enum measure_side) side,
                                                 &comparison->selected, &measures);
        status = one != STEP_STATUS_OK ? one : status;
    }
    if (measures.run_count == runs) {
        report_differences(&measures);
        comparison->report.measures = &measures;
        enum step_status reported = even_out_stacks(&measures)
                                        ? verb_compare_print(comparison, &comparison->report)
                                        : report_no_memory();
        if (reported == STEP_STATUS_OK)
            reported = gates_judge(&comparison->gates, help.name, &measures, &verb_exit_code);
        status = status == STEP_STATUS_OK ? reported : status;
    }
    measures_reset(&measures);
    return status;
}

static enum step_status verb_compare_run(struct comparison *comparison,
                                         const struct arguments *arguments)
{
    struct trace_set sets[SIDE_COUNT] = {{.count = 0}};
    enum step_status status = gates_check(&comparison->gates, arguments, METRICS_OF_TRACES, NULL);
    if (status != STEP_STATUS_OK)
        return status;
    if (comparison->as_json + comparison->as_csv + comparison->as_tree +
            (comparison->page != NULL) >
        1)
        return arguments_fault(arguments, "--tree, --json, --csv and --html exclude each other");
    comparison->selected.needs_all = comparison->as_csv         ? "--csv"
                                     : comparison->as_tree      ? "--tree"
                                     : comparison->page != NULL ? "--html"
                                                                : NULL;
    for (unsigned side = 0; status == STEP_STATUS_OK && side < SIDE_COUNT; side++)
        status = trace_set_find(arguments->operands[side], &sets[side]);
    if (status == STEP_STATUS_OK)
        status = verb_compare_sets(comparison, sets);
    trace_set_reset(&sets[SIDE_BEFORE]);
    trace_set_reset(&sets[SIDE_AFTER]);
    return status;
}

enum step_status verb_compare(int argc, char **argv)
{
    struct comparison comparison = {.report = {.axes = 1u << AXIS_CLASS,
                                               .top = TOP_NOT_CHOSEN,
                                               .depth = DEPTH_DEFAULT,
                                               .least = 0.01}};
    event_selection_init(&comparison.selected);
    const struct option_row rows[] = {
        {"by", 0, "WHAT", "group by class (default), site, thread, method, class+site ..., or all",
         take_axes, &comparison.report.axes},
        {"sort", 0, "WHAT", "sort by the change of: allocated, alive_at_end, calls, own_time, ...",
         take_metric, &comparison.report.sort},
        {"top", 'n', "N", "rows of each table (20, with --json and --csv all; 0: all)", take_count,
         &comparison.report.top},
        DEPTH_ROW(&comparison.report.depth),
        {"tree", 0, NULL, "call tree with the changes below each frame", take_flag,
         &comparison.as_tree},
        {"lines", 0, NULL, "distinguish frames by line, not only by method", take_flag,
         &comparison.with_lines},
        {"exact", 0, NULL, "do not match generated names (lambdas, proxies)", take_flag,
         &comparison.exact_names},
        {"json", 0, NULL, "as JSON", take_flag, &comparison.as_json},
        {"csv", 0, NULL, "as CSV", take_flag, &comparison.as_csv},
        {"html", 0, "FILE", "write an HTML page", take_text, &comparison.page},
        GATE_ROWS(&comparison.gates),
        SELECTION_ROWS(&comparison.selected),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (arguments_read(&arguments, argc, argv, 2, 2)) {
        bool for_programs = comparison.as_json || comparison.as_csv;
        comparison.report.with_times = for_programs;
        if (comparison.report.top == TOP_NOT_CHOSEN)
            comparison.report.top = for_programs ? 0 : TOP_DEFAULT;
        arguments.status = verb_compare_run(&comparison, &arguments);
    }
    gates_reset(&comparison.gates);
    return arguments.status;
}
