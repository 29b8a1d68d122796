/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace dump: prints events as lines of text. */
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/metatf/metatf_records.h"
#include "converter/formats/pour.h"
#include "converter/output/output_limit.h"
#include "converter/records/record_dump.h"
#include "converter/trace/selection_options.h"

VERB(dump);

static const struct verb_help help = {
    "dump", "IN [OPTION]...",
    "Prints events in the order of the trace: as lines of the text format, or of\n"
    ".hatf.txt for a heap trace. IN is a trace in any readable format; - is standard\n"
    "input. Records of STEP traces with other definitions are printed by the definition\n"
    "in the trace; --record does the same for any trace.\n"};

/* Prints the lines of the text format or, for a heap trace, of HATF. */
static enum step_status verb_dump_print(struct input *input)
{
    struct format_settings settings = {.count = 0};
    bool *is_shown = format_settings_set(&settings, &shown_options);
    const struct pouring pouring = {.to = input->allocs != NULL ? &format_hatf_txt : &format_lines,
                                    .settings = &settings,
                                    .writes_broken_part = true};
    *is_shown = true;
    return input_pour(input, &pouring, "-", NULL);
}

static enum step_status dump_json(const struct arguments *arguments,
                                  const struct record_dump *records)
{
    if (!event_selection_is_slice(records->selected.selected) || records->entries ||
        records->selected.maps)
        return arguments_fault(arguments, "--json: records are selected by time, thread number, "
                                          "--record and --where only; no --entries, no --maps");
    struct format_settings settings = {.count = 0};
    struct record_selection *selected = format_settings_set(&settings, &record_options);
    *selected = records->selected;
    const struct format_job job = {.format = &format_jsonl,
                                   .input = arguments->operands[0],
                                   .output = "-",
                                   .selected = selected->selected,
                                   .settings = &settings};
    return format_jsonl.write(&job);
}

/* Records of other definitions can only be selected by time and thread. */
static enum step_status dump_records(const struct arguments *arguments, const char *path,
                                     const struct record_dump *records)
{
    if (!event_selection_is_slice(records->selected.selected))
        return arguments_fault(
            arguments, "records are selected by time, thread number, --record and --where only");
    return record_dump(path, records);
}

/* Handles a trace with another DTD, and requests for records. */
static enum step_status dump_metatf(const struct arguments *arguments, const char *path,
                                    const struct record_dump *records)
{
    const struct event_selection *selected = records->selected.selected;
    const struct metatf_choice choice = {.dtd_path = selected->dtd_path,
                                         .names = records->selected.names,
                                         .metadata = selected->metadata};
    if (!event_selection_is_all(selected) || records->selected.condition_count > 0 ||
        records->selected.maps || records->entries)
        return arguments_fault(arguments, "Meta-TF's records are selected by --record only");
    return metatf_records_put(path, "-", &choice);
}

/* Prints the events of a trace, or what its records turn out to be. */
static enum step_status dump_events(const struct arguments *arguments,
                                    const struct trace_format *from,
                                    const struct record_dump *records)
{
    struct input input;
    enum step_status damage = STEP_STATUS_OK;
    enum step_status status =
        input_open(&input, arguments->operands[0], from, records->selected.selected);
    if (status != STEP_STATUS_OK)
        return status;
    switch (input.source->content) {
    case TRACE_OF_METATF_RECORDS:
        status = dump_metatf(arguments, input.source->path, records);
        break;
    case TRACE_OF_STEP_RECORDS:
        status = dump_records(arguments, input.source->path, records);
        break;
    default:
        status = verb_dump_print(&input);
        damage = input_report_damage(&input);
    }
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}

static enum step_status dump(const struct arguments *arguments, const struct trace_format *from,
                             const struct record_dump *records)
{
    if (!record_dump_is_wanted(records))
        return dump_events(arguments, from, records);
    return trace_format_of(arguments->operands[0], from) == &format_mtf
               ? dump_metatf(arguments, arguments->operands[0], records)
               : dump_records(arguments, arguments->operands[0], records);
}

enum step_status verb_dump(int argc, char **argv)
{
    struct event_selection selected;
    const struct trace_format *from = NULL;
    uint64_t limit_output = OUTPUT_LIMIT_DEFAULT;
    event_selection_init(&selected);
    selected.needs_all = NULL;
    bool as_json = false;
    struct record_dump records = {.selected = {.selected = &selected}};
    const struct option_row rows[] = {
        FROM_ROW(&from),
        SELECTION_ROWS(&selected),
        {"metadata", 0, NULL, "HATF: also print changes of widths and interpretations", take_flag,
         &selected.metadata},
        {"record", 0, "NAMES", "only records of these types and their subtypes", take_text,
         &records.selected.names},
        {"records", 0, NULL, "all records with their fields, also of Java and heap traces",
         take_flag, &records.all},
        {"maps", 0, NULL, "with --record, also records that `map` attributes turn into these types",
         take_flag, &records.selected.maps},
        {"where", 0, "FIELD=VALUE",
         "only records whose field matches; also != < <= > >=", take_condition, &records.selected},
        {"entries", 0, NULL, "the entries of the dictionaries, not the records", take_flag,
         &records.entries},
        {"json", 0, NULL, "STEP: records as JSON, one per line", take_flag, &as_json},
        OUTPUT_LIMIT_ROW(&limit_output),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    output_limit_set(limit_output, arguments.operands[0]);
    enum step_status status =
        as_json ? dump_json(&arguments, &records) : dump(&arguments, from, &records);
    return output_limit_end() ? STEP_STATUS_CORRUPT : status;
}
