/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace dump: the events as lines of text on standard output. */
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/base/output_file.h"
#include "converter/events/selection_options.h"
#include "converter/formats/hatf/hatf_format.h"
#include "converter/formats/text/text_format.h"
#include "converter/open/input.h"
#include "converter/records/record_dump.h"
#include "converter/verbs/verb.h"

static const struct verb_help help = {
    "dump", "IN [OPTION]...",
    "Prints the events, or a part of them, in the trace's order: the lines of the\n"
    "text format, or, for a heap trace, those of .hatf.txt. IN is a trace in any format\n"
    "that can be read; - is standard input. Records of STEP traces of other definitions\n"
    "are printed through the definition in the trace, and so are all with --record.\n"};

static enum step_status put_events(void *user, const struct trace_event *events, size_t count,
                                   struct step_error *error)
{
    struct event_sink *sink = user;
    return sink->operations->put(sink, events, count, error);
}

static enum step_status put_record(void *user, const struct hatf_record *record,
                                   struct step_error *error)
{
    struct alloc_sink *sink = user;
    return sink->operations->put(sink, record, error);
}

/* Sets `*is_reported` where the fault was told already. */
static enum step_status print_events(struct input *input, struct output_file *file,
                                     bool *is_reported, struct step_error *error)
{
    static const struct event_sink_options options = {.is_shown = true};
    struct event_sink *sink = NULL;
    enum step_status status = lines_sink_create(file, input->source, &options, &sink, error);
    if (status != STEP_STATUS_OK)
        return status;
    enum step_status given = input_each(input, put_events, sink);
    status = sink->operations->close(sink, error);
    sink->operations->destroy(sink);
    *is_reported = given != STEP_STATUS_OK;
    return *is_reported ? given : status;
}

static enum step_status print_records(struct input *input, struct output_file *file,
                                      bool *is_reported, struct step_error *error)
{
    static const struct event_sink_options options = {.is_shown = true};
    struct alloc_sink *sink = NULL;
    enum step_status status =
        hatf_text_alloc_sink_create(file, input->source, &options, &sink, error);
    if (status != STEP_STATUS_OK)
        return status;
    enum step_status given = input_each_record(input, put_record, sink);
    status = sink->operations->close(sink, error);
    sink->operations->destroy(sink);
    *is_reported = given != STEP_STATUS_OK;
    return *is_reported ? given : status;
}

static enum step_status print(struct input *input)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct output_file file;
    bool is_reported = false;
    enum step_status status = output_file_open(&file, "-", &error);
    if (status == STEP_STATUS_OK) {
        status = input->allocs != NULL ? print_records(input, &file, &is_reported, &error)
                                       : print_events(input, &file, &is_reported, &error);
        if (status == STEP_STATUS_OK)
            status = output_file_commit(&file, &error);
        output_file_abort(&file);
    }
    return status == STEP_STATUS_OK || is_reported ? status : report_error(&error);
}

/* Kinds and classes are those of Java events. */
static enum step_status dump_records(const struct arguments *arguments,
                                     const struct record_dump *records)
{
    struct event_selection plain;
    event_selection_init(&plain);
    if (records->selected.selected->kinds != plain.kinds ||
        records->selected.selected->class_glob != NULL)
        return arguments_fault(arguments, "--kind and --class are not for records; see --record");
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
