/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace layout: prints what the objects of a trace would take under other object layouts. */
#include "analyses/layout/layout_totals.h"
#include "converter/cli/verb.h"
#include "converter/formats/input.h"
#include "converter/trace/selection_options.h"
#include "converter/trace/unmatched.h"

VERB(layout);

static const struct verb_help help = {
    .name = "layout",
    .operands = "IN [OPTION]...",
    .text = "Prints what the objects of a trace would take under other object layouts of\n"
            "HotSpot, by class. The trace needs the agent's option layout=yes. LAYOUT is what\n"
            "differs from the traced JVM: header=8 (compact headers), 12 or 16 (without\n"
            "compressed class pointers), reference=4 or 8 (without compressed oops),\n"
            "alignment=8..256 (ObjectAlignmentInBytes), fields=old (packing of JDK 14 and\n"
            "earlier), joined by commas; and values: the classes of --value are value classes\n"
            "(JEP 401), flattened as JDK 28 does.\n"};

struct layout_options {
    struct event_selection selected;
    const struct trace_format *from;
    struct layout_changes changes;
    struct selected_globs values;
    uint64_t top;
    bool json, csv;
};

/* Returns NULL, or why the trace has no layouts. */
static const char *find_traced(const struct input *input, struct object_layout *traced)
{
    if (input->allocs != NULL)
        return "the trace is of a native program, whose blocks have no object layout; record a "
               "Java program with the agent's option layout=yes";
    const char *layout = event_source_property(input->source, "layout").unshown;
    if (layout == NULL)
        return "the trace has no object layouts: record with the agent's option layout=yes "
               "(steptrace record -O layout=yes)";
    return object_layout_of_property(
        layout, event_source_property(input->source, "java-vm-version").unshown, traced);
}

static void verb_layout_print(const struct layout_options *options,
                              const struct layout_totals *totals)
{
    if (options->json)
        layout_print_json(totals);
    else if (options->csv)
        layout_print_csv(totals);
    else
        layout_print_text(totals, options->top);
}

static enum step_status verb_layout_add_up(const struct layout_options *options,
                                           struct input *input, struct layout_totals *totals)
{
    enum step_status status = event_source_layouts(input->source, layout_totals_put_name, totals);
    if (status == STEP_STATUS_OK)
        status = event_source_layouts(input->source, layout_totals_put_fields, totals);
    if (status != STEP_STATUS_OK)
        return report_no_memory();
    status = input_each(input, layout_totals_put, totals);
    if (status != STEP_STATUS_OK)
        return status;
    if (!layout_totals_finish(totals))
        return report_no_memory();
    report_unmatched(totals->path, &input->source->names,
                     &(struct event_selection){.classes = options->values, .marks_phases = true},
                     false);
    if (totals->instances > 0 && totals->classes_with_fields == 0)
        return report_unfit(totals->path, "the trace has no fields of classes (java.Layout), which "
                                          "`convert` does not keep: use the recorded trace");
    verb_layout_print(options, totals);
    return input_report_damage(input);
}

/* Returns NULL, or why one of the layouts is not possible. */
static const char *find_impossible(const struct layout_totals *totals)
{
    const char *fault = NULL;
    for (size_t i = 1; i < totals->layout_count && fault == NULL; i++)
        fault = object_layout_fault(&totals->layouts[i]);
    return fault;
}

static enum step_status verb_layout_run(const struct layout_options *options, const char *path)
{
    struct input input;
    struct object_layout traced;
    struct layout_totals totals;
    enum step_status status = input_open(&input, path, options->from, &options->selected);
    if (status != STEP_STATUS_OK)
        return status;
    const char *fault = find_traced(&input, &traced);
    if (fault != NULL) {
        status = report_unfit(path, fault);
    } else {
        layout_totals_init(&totals, &traced, &options->changes, &options->values,
                           &input.source->names);
        totals.path = path;
        fault = find_impossible(&totals);
        if (fault != NULL)
            report_line("layout: %s", fault);
        status = fault != NULL ? STEP_STATUS_INVALID : verb_layout_add_up(options, &input, &totals);
        layout_totals_reset(&totals);
    }
    input_close(&input);
    return status;
}

static void set_defaults(struct layout_options *options)
{
    static const char *const layouts[] = {"header=8", "header=16", "reference=8", "alignment=16",
                                          "alignment=32"};
    static const char *const values[] = {"values", "header=8", "header=8,values"};
    bool has_values = options->values.count > 0;
    const char *const *defaults = has_values ? values : layouts;
    size_t count = has_values ? sizeof values / sizeof values[0] : sizeof layouts / sizeof *layouts;
    const char *fault;
    for (size_t i = 0; i < count; i++)
        take_layout_change(&options->changes, defaults[i], &fault);
}

/* `values` and the classes that it is about go together. */
static enum step_status verb_layout_check(const struct arguments *arguments,
                                          const struct layout_options *options)
{
    bool has_layout = false;
    for (size_t i = 0; i < options->changes.count; i++)
        has_layout |= options->changes.items[i].values;
    if (has_layout && options->values.count == 0)
        return arguments_fault(arguments, "--as values: --value says which classes are meant");
    if (!has_layout && options->values.count > 0)
        return arguments_fault(arguments, "--value: no layout of --as has `values`");
    return STEP_STATUS_OK;
}

enum step_status verb_layout(int argc, char **argv)
{
    struct layout_options options = {.top = TOP_DEFAULT};
    event_selection_init(&options.selected);
    options.selected.kinds = TRACE_KIND_BIT(EVENT_OBJECT_ALLOC);
    options.selected.untracked = true;
    const struct option_row rows[] = {
        {"as", 0, "LAYOUT", "what differs, as header=8,alignment=16; may be given several times",
         take_layout_change, &options.changes},
        {"value", 0, "CLASS", "taken for a value class in layouts with `values`; a pattern",
         take_globs, &options.values},
        {"top", 0, "N", "print N classes (20; 0: all)", take_count, &options.top},
        {"csv", 0, NULL, "as CSV, all classes", take_flag, &options.csv},
        {"json", 0, NULL, "as JSON, all classes", take_flag, &options.json},
        OBJECT_SELECTION_ROWS(&options.selected),
        FROM_ROW(&options.from),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (options.csv && options.json)
        return arguments_fault(&arguments, "--csv and --json: choose one");
    if (options.changes.count == 0)
        set_defaults(&options);
    enum step_status status = verb_layout_check(&arguments, &options);
    if (status != STEP_STATUS_OK)
        return status;
    return verb_layout_run(&options, arguments.operands[0]);
}
