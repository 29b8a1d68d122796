/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace dump: the events as lines of text on standard output. */
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/events/selection_options.h"
#include "converter/open/pour.h"
#include "converter/records/record_dump.h"
#include "converter/verbs/verb.h"

static const struct verb_help help = {
    "dump", "IN [OPTION]...",
    "Prints the events, or a part of them, in the trace's order: the lines of the\n"
    "text format, or, for a heap trace, those of .hatf.txt. IN is a trace in any format\n"
    "that can be read; - is standard input. Records of STEP traces of other definitions\n"
    "are printed through the definition in the trace, and so are all with --record.\n"};

/* The lines of the text format or, of a heap trace, of HATF's. */
static enum step_status print(struct input *input)
{
    static const struct event_sink_options options = {.is_shown = true};
    const struct pouring pouring = {
        .to = trace_format_by_name(input->allocs != NULL ? "hatf.txt" : "lines"),
        .options = &options,
        .writes_broken_part = true};
    return input_pour(input, &pouring, "-", NULL);
}

/* Records of any definition have but times and threads. */
static enum step_status dump_records(const struct arguments *arguments,
                                     const struct record_dump *records)
{
    if (!event_selection_is_slice(records->selected.selected))
        return arguments_fault(arguments,
                               "records are chosen by time, thread number, --record and --where");
    return record_dump(arguments->operands[0], records);
}

enum step_status verb_dump(int argc, char **argv)
{
    struct event_selection selected;
    struct input input;
    event_selection_init(&selected);
    struct record_dump records = {.selected = {.selected = &selected}};
    const struct option_row rows[] = {
        SELECTION_ROWS(&selected),
        {"record", 0, "NAMES", "only records of these types and those that extend them", take_text,
         &records.selected.names},
        {"records", 0, NULL, "all records with their fields, of a Java or heap trace too",
         take_flag, &records.all},
        {"maps", 0, NULL, "with --record, also what `map` attributes make such records of",
         take_flag, &records.selected.maps},
        {"where", 0, "FIELD=VALUE",
         "only records whose field is so; also != < <= > >=", take_condition, &records.selected},
        {"entries", 0, NULL, "the entries of the dictionaries, not the records", take_flag,
         &records.entries},
        DEFINITION_ROW,
        MEMORY_ROW};
    struct arguments arguments = {
        .help = &help, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    enum step_status status = arguments_parse(&arguments, argc, argv);
    if (status == STEP_STATUS_OK && !arguments.help_wanted)
        status = arguments_expect(&arguments, 1, 1);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    if (record_dump_is_wanted(&records))
        return dump_records(&arguments, &records);
    status = input_open(&input, arguments.operands[0], NULL, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (input.source->is_foreign) {
        status = dump_records(&arguments, &records);
        input_close(&input);
        return status;
    }
    status = print(&input);
    enum step_status damage = input_report_damage(&input);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}
