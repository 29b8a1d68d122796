/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace dump: the events as lines of text on standard output. */
#include "input.h"
#include "verb.h"

static const struct verb_help help = {
    "dump", "IN [OPTION]...",
    "Prints the events, or a part of them, in the trace's order: the lines of the\n"
    "text format. IN is a trace in any format that can be read; - is standard input.\n"};

static enum step_status put_events(void *user, const struct trace_event *events, size_t count,
                                   struct step_error *error)
{
    struct trace_sink *sink = user;
    return sink->operations->put(sink, events, count, error);
}

static enum step_status print(struct input *input)
{
    static const struct trace_sink_options options = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct output_file file;
    struct trace_sink *sink = NULL;
    enum step_status status = output_file_open(&file, "-", &error);
    if (status == STEP_STATUS_OK)
        status = lines_sink_create(&file, input->source, &options, &sink, &error);
    if (status == STEP_STATUS_OK) {
        enum step_status given = input_each(input, put_events, sink);
        status = sink->operations->close(sink, &error);
        sink->operations->destroy(sink);
        if (given != STEP_STATUS_OK) {
            output_file_abort(&file);
            return given;
        }
    }
    if (status == STEP_STATUS_OK)
        status = output_file_commit(&file, &error);
    output_file_abort(&file);
    return status == STEP_STATUS_OK ? status : tell_error(&error);
}

enum step_status verb_dump(int argc, char **argv)
{
    struct trace_wish wish;
    struct input input;
    trace_wish_init(&wish);
    const struct option_row rows[] = {WISH_ROWS(&wish)};
    struct arguments arguments = {
        .help = &help, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    enum step_status status = arguments_parse(&arguments, argc, argv);
    if (status == STEP_STATUS_OK && !arguments.help_wanted)
        status = arguments_expect(&arguments, 1, 1);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    status = input_open(&input, arguments.operands[0], NULL, &wish);
    if (status != STEP_STATUS_OK)
        return status;
    status = print(&input);
    enum step_status damage = input_tell_damage(&input);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}
