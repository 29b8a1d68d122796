/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace nominal: prints the nominal statistics of the DaCapo benchmark suite. */
#include <string.h>

#include "analyses/nominal/nominal.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/input.h"
#include "converter/graph/graph_source.h"
#include "converter/layout/object_layout.h"
#include "converter/records/record_dump.h"
#include "converter/trace/selection_options.h"

VERB(nominal);

static const struct verb_help help = {
    .name = "nominal",
    .operands = "IN [OPTION]...",
    .text =
        "Prints the nominal statistics of the DaCapo Chopin benchmark suite that a trace\n"
        "determines (AOA, AOL, AOM, AOS, ARA, BAS, BUF, GLK, GMD, GMU, GTO), and the\n"
        "dispersion of lifetimes (ALD), in the suite's YAML. Each is marked as exact, a bound,\n"
        "an estimate or unknown, with the reason.\n"};

struct nominal_call {
    struct event_selection selected;
    const struct trace_format *from;
    struct nominal_options options;
    bool as_json;
};

/* Returns whether the traced JVM was told not to compress pointers. */
static bool is_uncompressed(const struct event_source *source)
{
    return object_layout_guess(event_source_property(source, "command-line").unshown).reference ==
           8;
}

/* The trace's index has the number of its stores. */
static enum step_status count_stores(struct nominal *nominal, const struct input *input,
                                     const char *path, struct step_error *error)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct graph_source source = {.wanted = NULL};
    if (input->source->content != TRACE_OF_GRAPHS)
        return STEP_STATUS_OK;
    const char *name = input->spool >= 0 ? input->spool_path : path;
    enum step_status status = stepfile_open(name, NEEDS_ALL_OBJECTS, &reader, &seekable, error);
    if (status == STEP_STATUS_OK)
        status = graph_source_init(&source, reader, error);
    if (status == STEP_STATUS_OK) {
        nominal->has_array_stores = graph_source_has_stores(&source);
        nominal->array_stores = source.inventory.counts[GRAPH_ELEMENT];
    }
    graph_source_reset(&source);
    step_reader_destroy(reader);
    seekable_path_close(&seekable);
    return status;
}

static enum step_status verb_nominal_read_all(struct nominal *nominal, struct input *input,
                                              const char *path, struct step_error *error)
{
    enum step_status status = event_source_phases(input->source, nominal_put_phase, nominal, error);
    if (status == STEP_STATUS_OK)
        status = count_stores(nominal, input, path, error);
    if (status != STEP_STATUS_OK)
        return report_error(error);
    status = input_each(input, nominal_put, nominal);
    if (status != STEP_STATUS_OK)
        return status;
    nominal_finish(nominal);
    if (nominal->objects > 0 && nominal->bytes == 0)
        return report_unfit(path, "the objects have no sizes, which all statistics need" NO_SIZES);
    return nominal_put_names(nominal, &input->source->names) ? STEP_STATUS_OK : report_no_memory();
}

static enum step_status verb_nominal_count(const struct nominal_call *call, struct input *input,
                                           const char *path)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct nominal nominal;
    enum step_status status =
        nominal_init(&nominal, &call->options) ? STEP_STATUS_OK : report_no_memory();
    nominal.path = path;
    nominal.is_native = input->allocs != NULL;
    nominal.unit = event_source_time_unit(input->source);
    nominal.lacks_existing =
        trace_lacks_existing(event_source_property(input->source, "existing").unshown);
    nominal.is_uncompressed = is_uncompressed(input->source);
    if (status == STEP_STATUS_OK)
        status = verb_nominal_read_all(&nominal, input, path, &error);
    if (status == STEP_STATUS_OK) {
        input->unknown_frees = nominal.unknown_frees;
        status = input_report_damage(input);
        nominal.is_incomplete = status != STEP_STATUS_OK;
        if (call->as_json)
            nominal_print_json(&nominal);
        else
            nominal_print_yaml(&nominal);
    }
    nominal_reset(&nominal);
    return status;
}

static enum step_status verb_nominal_run(struct nominal_call *call, const char *path)
{
    struct input input;
    struct event_selection all;
    event_selection_init(&all);
    all.untracked = true;
    all.kinds = TRACE_KIND_BIT(EVENT_VM_START) | TRACE_KIND_BIT(EVENT_VM_DEATH) |
                TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    event_selection_mark_phases(&all, &call->selected);
    call->options.phases = call->selected.phases;
    enum step_status status = input_open_seekable(&input, path, call->from, &all);
    if (status != STEP_STATUS_OK)
        return status;
    status = verb_nominal_count(call, &input, path);
    input_close(&input);
    return status;
}

enum step_status verb_nominal(int argc, char **argv)
{
    struct nominal_call call = {.as_json = false};
    event_selection_init(&call.selected);
    const struct option_row rows[] = {
        {"phase", 0, "GLOB", "only allocations in phases of this name, as measure", take_names,
         &call.selected.phases},
        {"run-time", 0, "T", "how long the same work takes without the agent", take_time,
         &call.options.run_ns},
        {"min-heap", 0, "SIZE", "the measured minimum heap, for GTO", take_size,
         &call.options.heap_bytes},
        {"json", 0, NULL, "as JSON", take_flag, &call.as_json},
        FROM_ROW(&call.from),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    return verb_nominal_run(&call, arguments.operands[0]);
}
