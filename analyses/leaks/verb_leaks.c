/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace leaks: lists objects that survived collections and are alive at the end. */
#include <string.h>

#include "analyses/leaks/leak_rows.h"
#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/input.h"
#include "converter/statistics/gate_rule.h"
#include "converter/statistics/lasting_names.h"
#include "converter/trace/selection_options.h"

VERB(leaks);

#define SURVIVED_DEFAULT UINT64_C(3)

static const struct verb_help help = {
    .name = "leaks",
    .operands = "IN [OPTION]...",
    .text = "Lists objects that survived collections and were still alive at the end, by\n"
            "allocation site (by class if the trace has no call stacks), and how their number\n"
            "grew from collection to collection: steady growth first, objects allocated once\n"
            "last.\n"};

struct leaks_options {
    struct event_selection selected;
    struct leak_limits limits;
    struct suppressions suppressions;
    struct gates gates;
    const char *baseline;     /* NULL: none */
    struct measures measures; /* of the baseline, then of the trace */
    unsigned axes;            /* 0: default */
    uint64_t top, depth;
    bool with_existing;
    bool json;
    bool lacks_existing;
    bool is_older; /* of a trace with too few collections: old objects, not survivors */
};

#define NOT_GIVEN UINT64_MAX

/* Completes the limits.  In a trace with so few collections that nothing can have survived as many,
 * what lived for half of the recording is listed. */
static void choose_limits(struct leaks_options *options, const struct leak_tracker *tracker)
{
    bool is_asked = options->limits.survived != NOT_GIVEN || options->limits.age_ns != 0 ||
                    options->baseline != NULL || options->gates.count > 0;
    if (options->limits.survived == NOT_GIVEN)
        options->limits.survived = SURVIVED_DEFAULT;
    options->is_older = !is_asked && tracker->time_count < SURVIVED_DEFAULT;
    if (options->is_older)
        options->limits = (struct leak_limits){.survived = 0, .age_ns = tracker->heap.now_ns / 2};
}

static bool take_axes(void *unsigned_target, const char *value, const char **fault)
{
    static const struct {
        const char *text;
        unsigned axes;
    } words[] = {{"class", HEAP_BY_CLASS},
                 {"site", HEAP_BY_SITE},
                 {"class+site", HEAP_BY_CLASS | HEAP_BY_SITE},
                 {"class,site", HEAP_BY_CLASS | HEAP_BY_SITE}};
    *fault = "site, class or class+site is expected";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].text, value) == 0) {
            *(unsigned *) unsigned_target = words[i].axes;
            return true;
        }
    return false;
}

/* Adds a run, independent of the table's axes: for gates, and to compare with the baseline. */
static enum step_status verb_leaks_measure(struct leaks_options *options,
                                           const struct leak_tracker *tracker,
                                           enum measure_side side)
{
    return leak_rows_measure(tracker, &options->limits, &options->suppressions, side,
                             &options->measures)
               ? STEP_STATUS_OK
               : report_no_memory();
}

static enum step_status print_rows(struct leaks_options *options, const char *path,
                                   const struct leak_tracker *tracker)
{
    struct leak_rows rows;
    unsigned axes = options->axes;
    struct measure_run *runs = options->measures.runs;
    choose_limits(options, tracker);
    enum step_status status = verb_leaks_measure(options, tracker, SIDE_AFTER);
    if (status != STEP_STATUS_OK)
        return status;
    for (size_t i = 0; i < options->measures.run_count; i++)
        runs[i].path = runs[i].side == SIDE_BEFORE ? options->baseline : path;
    measures_report_mixture(&runs[0], &runs[options->measures.run_count - 1]);
    if (axes == 0)
        axes = tracker->heap.sites.count > 1 ? HEAP_BY_SITE : HEAP_BY_CLASS;
    if (!leak_rows_make(tracker, &options->limits, axes, &options->suppressions, &rows)) {
        leak_rows_reset(&rows);
        return report_no_memory();
    }
    const struct leak_report report = {.path = path,
                                       .tracker = tracker,
                                       .rows = &rows,
                                       .limits = options->limits,
                                       .is_older = options->is_older,
                                       .lacks_existing = options->lacks_existing,
                                       .axes = axes,
                                       .top = options->top,
                                       .depth = options->depth,
                                       .baseline = options->baseline,
                                       .measures = &options->measures};
    if (options->json && !options->gates.is_quiet)
        leak_print_json(&report);
    else if (!options->gates.is_quiet)
        leak_print_text(&report);
    leak_rows_reset(&rows);
    suppressions_report_unused(&options->suppressions);
    if (options->gates.count > 0)
        status = gates_judge(&options->gates, help.name, &options->measures, &verb_exit_code);
    return status;
}

static enum step_status verb_leaks_follow(struct leaks_options *options, const char *path,
                                          struct input *input,
                                          const struct event_selection *selected,
                                          enum measure_side side)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct leak_tracker tracker;
    enum step_status status = STEP_STATUS_OK;
    if (leak_tracker_init(&tracker, input->source, options->with_existing, selected)) {
        status = heap_tracker_weigh(&tracker.heap, input->source, &error);
        status = status == STEP_STATUS_OK ? input_each(input, leak_tracker_put, &tracker)
                                          : report_error(&error);
        if (status == STEP_STATUS_OK) {
            status = heap_tracker_finish(&tracker.heap, &error);
            if (status != STEP_STATUS_OK)
                report_error(&error);
        }
    } else {
        status = report_no_memory();
    }
    trace_report_not_recorded(path, event_source_not_recorded(input->source));
    options->lacks_existing =
        options->with_existing &&
        trace_lacks_existing(event_source_property(input->source, "existing").unshown);
    measures_note_lack(&options->measures, measures_find_lack(input->source, selected));
    if (side == SIDE_BEFORE)
        choose_limits(options, &tracker);
    if (status == STEP_STATUS_OK && options->gates.count > 0 &&
        !measures_note_names(&options->measures, &input->source->names, selected,
                             input->events == 0))
        status = report_no_memory();
    if (status == STEP_STATUS_OK)
        status = side == SIDE_BEFORE ? verb_leaks_measure(options, &tracker, side)
                                     : print_rows(options, path, &tracker);
    leak_tracker_reset(&tracker);
    return status;
}

static enum step_status verb_leaks_read_trace(struct leaks_options *options, const char *path,
                                              enum measure_side side)
{
    struct input input;
    struct event_selection selected = options->selected, all;
    heap_tracker_select(&all, &selected);
    if (options->gates.count > 0)
        measures_want_names(&all);
    enum step_status status = event_selection_needs_deaths(&selected)
                                  ? input_open_seekable(&input, path, NULL, &all)
                                  : input_open(&input, path, NULL, &all);
    if (status != STEP_STATUS_OK)
        return status;
    status = input_choose_objects(&input, path, NULL, &selected);
    if (status == STEP_STATUS_OK)
        status = verb_leaks_follow(options, path, &input, &selected, side);
    enum step_status damage = input_report_damage(&input);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}

/* Compares with the intact part of a damaged baseline. */
static enum step_status verb_leaks_run(struct leaks_options *options,
                                       const struct arguments *arguments)
{
    enum step_status before =
        gates_check(&options->gates, arguments, METRICS_OF_LEAKS,
                    options->baseline == NULL ? "add --baseline=TRACE" : NULL);
    if (before != STEP_STATUS_OK)
        return before;
    if (!measures_init(&options->measures, SIDE_COUNT))
        return report_no_memory();
    if (options->baseline != NULL)
        before = verb_leaks_read_trace(options, options->baseline, SIDE_BEFORE);
    if (before != STEP_STATUS_OK && before != STEP_STATUS_CORRUPT)
        return before;
    if (options->baseline != NULL && options->measures.run_count == 0)
        return before;
    enum step_status status = verb_leaks_read_trace(options, arguments->operands[0], SIDE_AFTER);
    return status == STEP_STATUS_OK ? before : status;
}

enum step_status verb_leaks(int argc, char **argv)
{
    struct leaks_options options = {
        .limits = {.survived = NOT_GIVEN}, .top = TOP_DEFAULT, .depth = DEPTH_DEFAULT};
    event_selection_init(&options.selected);
    options.selected.needs_all = NULL;
    const struct option_row rows[] = {
        {"survived", 0, "N", "objects that survived at least N collections (3)", take_count,
         &options.limits.survived},
        {"older-than", 0, "T", "objects at least this old at the end, as 10s", take_time,
         &options.limits.age_ns},
        {"by", 0, "WHAT", "site, class or class+site", take_axes, &options.axes},
        TOP_ROW(&options.top),
        DEPTH_ROW(&options.depth),
        {"existing", 0, NULL, "also objects that existed when tracing started", take_flag,
         &options.with_existing},
        {"suppress", 0, "FILE",
         "leave out what the file lists: class:GLOB or site:GLOB, one per line", take_suppressions,
         &options.suppressions},
        {"baseline", 0, "FILE", "list only what did not survive in this other trace", take_text,
         &options.baseline},
        {"json", 0, NULL, "as JSON", take_flag, &options.json},
        GATE_ROWS(&options.gates),
        OBJECT_SELECTION_ROWS(&options.selected),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (arguments_read(&arguments, argc, argv, 1, 1))
        arguments.status = verb_leaks_run(&options, &arguments);
    measures_reset(&options.measures);
    gates_reset(&options.gates);
    suppressions_reset(&options.suppressions);
    return arguments.status;
}
