/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace convert: a trace from one format into another. */
#include <stdio.h>
#include <string.h>

#include "converter/allocs/events_as_allocs.h"
#include "converter/base/memory_limit.h"
#include "converter/base/output_file.h"
#include "converter/events/selection_options.h"
#include "converter/heap/heap_export.h"
#include "converter/heap/heap_tracker.h"
#include "converter/open/input.h"
#include "converter/records/record_export.h"
#include "converter/verbs/heap_of_dump.h"
#include "converter/verbs/verb.h"

struct conversion {
    struct event_selection selected;
    struct event_sink_options sink;
    struct record_options allocs; /* of `sink` */
    struct heap_export heap;      /* the same */
    const struct trace_format *from;
    const struct trace_format *to;
    const char *output;
    struct record_wish records;
    enum record_format record_format; /* of records of any definition; NOTHING: not these */
};

static bool take_format(void *format_target, const char *value, const char **fault)
{
    static char expected[512];
    const struct trace_format *format = trace_format_by_name(value);
    snprintf(expected, sizeof expected, "formats are %s", trace_format_names());
    *fault = expected;
    *(const struct trace_format **) format_target = format;
    return format != NULL;
}

static bool take_output_format(void *conversion_target, const char *value, const char **fault)
{
    struct conversion *conversion = conversion_target;
    conversion->record_format = record_format_by_name(value);
    conversion->to = NULL;
    return conversion->record_format != RECORDS_AS_NOTHING ||
           take_format(&conversion->to, value, fault);
}

static bool take_addresses(void *addresses_target, const char *value, const char **fault)
{
    static const char *const names[] = {"id", "bump", "malloc"};
    *fault = "id, bump or malloc is expected";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(value, names[i]) == 0) {
            *(enum record_addresses *) addresses_target = (enum record_addresses) i;
            return true;
        }
    return false;
}

static bool take_attributes(void *bool_target, const char *value, const char **fault)
{
    *fault = "class is expected";
    *(bool *) bool_target = true;
    return strcmp(value, "class") == 0;
}

static bool take_encoding(void *encoding_target, const char *value, const char **fault)
{
    *fault = "naive, small-size, same-size, combined-size, base-offset-1, base-offset-2, "
             "best-base-offset, stride, best or optimal is expected";
    for (unsigned i = 0; i < HATF_ENCODING_COUNT; i++)
        if (strcmp(value, hatf_encoding_name((enum hatf_encoding) i)) == 0) {
            *(enum hatf_encoding *) encoding_target = (enum hatf_encoding) i;
            return true;
        }
    return false;
}

static bool take_split(void *split_target, const char *value, const char **fault)
{
    *fault = "fields or address is expected";
    *(enum hatf_split *) split_target =
        strcmp(value, "fields") == 0 ? HATF_SPLIT_FIELDS : HATF_SPLIT_ADDRESS;
    return strcmp(value, "fields") == 0 || strcmp(value, "address") == 0;
}

static bool take_omitted(void *unsigned_target, const char *value, const char **fault)
{
    *fault = "time, thread, heap and attributes are expected, with + between";
    for (;;) {
        size_t length = strcspn(value, "+");
        unsigned field = HATF_TIME;
        while (field < HATF_FIELD_COUNT &&
               (strlen(hatf_field_name((enum hatf_field) field)) != length ||
                strncmp(value, hatf_field_name((enum hatf_field) field), length) != 0))
            field++;
        if (field == HATF_FIELD_COUNT)
            return false;
        *(unsigned *) unsigned_target |= 1u << field;
        if (value[length] == '\0')
            return true;
        value += length + 1;
    }
}

static const struct verb_help help = {
    "convert", "IN -o OUT [OPTION]...",
    "Turns a trace into another format. Formats go by the files' endings:\n"
    "  .step      STEP, what the agent writes                       (in and out)\n"
    "  .zip       text, a line an event, in a ZIP entry `trace`     (in and out)\n"
    "  .txt       the same lines without the ZIP file               (in and out)\n"
    "  .hatf      HATF 1.0; also .hatf.gz and .hatf.zst             (in and out)\n"
    "  .hatf.zip  HATF in streams, each in an entry of its own       (in and out)\n"
    "  .hatf.txt  HATF's records as text, a line a record            (in and out)\n"
    "  .mtf       Meta-TF, with its DTD in it; --split=address too   (in and out)\n"
    "  memory-replay  text for Android's memory_replay              (out)\n"
    "and heaps, those of a trace at one moment, or heap dumps of others:\n"
    "  .memory-infra.json  Chromium's heap dumps; also with .gz     (in and out)\n"
    "  .pb.gz              pprof                                    (out)\n"
    "  .collapsed          stacks for flame graphs                  (out)\n"
    "  .speedscope.json    speedscope                               (out)\n"
    "and calls, where the trace has method events:\n"
    "  .trace.json         Chrome trace events                      (out)\n"
    "  .calls.speedscope.json  speedscope                           (out)\n"
    "and the records of a STEP trace of any definition, with --record and --where:\n"
    "  .jsonl     JSON lines, an object a record                    (out)\n"
    "  .csv       a table                                           (out)\n"
    "  .step      STEP, of the same definition                      (out)\n"
    "IN or OUT may be -, standard input or output (then name the format).\n"};

static enum step_status find_output_format(const struct arguments *arguments,
                                           struct conversion *conversion)
{
    if (conversion->output == NULL)
        return arguments_fault(arguments, "-o OUT is missing");
    if (conversion->record_format != RECORDS_AS_NOTHING)
        return STEP_STATUS_OK;
    if (conversion->to == NULL)
        conversion->record_format = record_format_by_ending(conversion->output);
    if (conversion->record_format != RECORDS_AS_NOTHING)
        return STEP_STATUS_OK;
    if (conversion->to == NULL)
        conversion->to = trace_format_by_ending(conversion->output);
    if (conversion->to == NULL)
        return arguments_fault(arguments,
                               "the ending of '%s' names no format; --to=FORMAT does (%s)",
                               conversion->output, trace_format_names());
    return STEP_STATUS_OK;
}

/* Records of any definition are converted as they are. */
static enum step_status prepare_records(const struct arguments *arguments,
                                        struct conversion *conversion)
{
    bool is_filtered = conversion->records.names != NULL || conversion->records.condition_count > 0;
    if (is_filtered && conversion->record_format == RECORDS_AS_NOTHING) {
        if (strcmp(conversion->to->name, "step") != 0)
            return arguments_fault(arguments,
                                   "--record and --where are for .jsonl, .csv and .step");
        conversion->record_format = RECORDS_AS_STEP;
    }
    struct event_selection plain;
    event_selection_init(&plain);
    if (conversion->record_format != RECORDS_AS_NOTHING &&
        (conversion->selected.kinds != plain.kinds || conversion->selected.class_glob != NULL))
        return arguments_fault(arguments, "--kind and --class are not for records; see --record");
    return STEP_STATUS_OK;
}

/* A heap is made of the whole trace, and its maker follows what lives. */
static enum step_status prepare_heap(const struct arguments *arguments,
                                     struct conversion *conversion)
{
    if (conversion->to->heap_writer == NULL)
        return STEP_STATUS_OK;
    if (!event_selection_is_all(&conversion->selected))
        return arguments_fault(arguments, "a heap is that of the whole trace; --at chooses when");
    conversion->selected.kinds = HEAP_KINDS;
    conversion->selected.untracked = true;
    return STEP_STATUS_OK;
}

/* Calls that began before the slice are followed from the trace's start. */
static void prepare_calls(struct conversion *conversion)
{
    struct event_selection *selected = &conversion->selected;
    if (strcmp(conversion->to->name, "chrome-trace") != 0 &&
        strcmp(conversion->to->name, "speedscope-calls") != 0)
        return;
    conversion->sink.calls_from_ns = selected->from_ns;
    selected->from_ns = 0;
    selected->untracked = true;
    selected->kinds &= HEAP_KINDS & ~TRACE_KIND_BIT(EVENT_OBJECT_ALLOC);
}

static enum step_status parse(struct conversion *conversion, struct arguments *arguments, int argc,
                              char **argv)
{
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the file to write", take_text, &conversion->output},
        {"to", 0, "FORMAT", "its format, by name: see above", take_output_format, conversion},
        {"from", 0, "FORMAT", "the format of IN", take_format, &conversion->from},
        {"addresses", 0, "HOW", "HATF: id (default), bump or malloc", take_addresses,
         &conversion->allocs.addresses},
        {"attributes", 0, "class", "HATF: store the class name with each object", take_attributes,
         &conversion->allocs.class_attributes},
        {"encoding", 0, "NAME", "HATF: naive (default), small-size, ..., best or optimal",
         take_encoding, &conversion->sink.encoding},
        {"split", 0, "HOW", "HATF: a ZIP file of streams: fields or address", take_split,
         &conversion->sink.split},
        {"omit", 0, "FIELDS", "HATF: leave out time, thread, heap, attributes (with +)",
         take_omitted, &conversion->sink.omitted},
        {"plain", 0, NULL, "heap trace to STEP: addresses as they are", take_flag,
         &conversion->sink.is_plain},
        {"unpacked", 0, NULL, "Meta-TF: do not compress sections", take_flag,
         &conversion->sink.is_unpacked},
        {"level", 0, "N", "of the compression, 1 to 19 (gzip: 9)", take_level,
         &conversion->sink.level},
        {"at", 0, "MOMENT", "heaps: peak (default), end, gc:N or a time", take_heap_moment,
         &conversion->heap},
        {"every", 0, "STEP", "memory-infra: a dump at every step (100ms) or after every gc",
         take_heap_series, &conversion->heap},
        {"allocated", 0, NULL, "heaps: what was allocated, dead or not", take_flag,
         &conversion->heap.allocated},
        {"least", 0, "SIZE", "memory-infra: of an entry, bytes or a share (0.1%)", take_heap_least,
         &conversion->heap},
        {"v2", 0, NULL, "memory-infra: write heaps_v2", take_flag, &conversion->heap.v2},
        {"record", 0, "NAMES", "records: of these types and those that extend them", take_text,
         &conversion->records.names},
        {"where", 0, "FIELD=VALUE", "records: whose field is so; also != < <= > >=", take_condition,
         &conversion->records},
        SELECTION_ROWS(&conversion->selected),
        MEMORY_ROW};
    arguments->help = &help;
    arguments->rows = rows;
    arguments->row_count = sizeof rows / sizeof rows[0];
    enum step_status status = arguments_parse(arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments->help_wanted)
        return status;
    status = arguments_expect(arguments, 1, 1);
    if (status == STEP_STATUS_OK)
        status = find_output_format(arguments, conversion);
    if (status == STEP_STATUS_OK)
        status = prepare_records(arguments, conversion);
    if (status != STEP_STATUS_OK || conversion->record_format != RECORDS_AS_NOTHING)
        return status;
    prepare_calls(conversion);
    return prepare_heap(arguments, conversion);
}

static enum step_status put_events(void *user, const struct trace_event *events, size_t count,
                                   struct step_error *error)
{
    struct event_sink *sink = user;
    return sink->operations->put(sink, events, count, error);
}

struct record_pour {
    struct alloc_sink *sink;
    unsigned omitted;
};

static enum step_status put_record(void *user, const struct hatf_record *record,
                                   struct step_error *error)
{
    const struct record_pour *pour = user;
    struct hatf_record copy = *record;
    record_omit(&copy, pour->omitted);
    return pour->sink->operations->put(pour->sink, &copy, error);
}

/* A heap trace into a format that takes records. */
static enum step_status pour_records(struct input *input, const struct conversion *conversion,
                                     struct output_file *file, struct step_error *error,
                                     bool *is_reported)
{
    struct record_pour pour = {.omitted = conversion->sink.omitted};
    enum step_status status =
        conversion->to->open_record_sink(file, input->source, &conversion->sink, &pour.sink, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = input_each_record(input, put_record, &pour);
    *is_reported = status != STEP_STATUS_OK;
    if (status == STEP_STATUS_OK)
        status = pour.sink->operations->close(pour.sink, error);
    pour.sink->operations->destroy(pour.sink);
    return status;
}

static enum step_status pour_events(struct input *input, const struct conversion *conversion,
                                    struct output_file *file, struct step_error *error,
                                    bool *is_reported)
{
    struct event_sink *sink = NULL;
    const struct trace_format *to = conversion->to;
    enum step_status status =
        trace_format_open_sink(to, file, input->source, &conversion->sink, &sink, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = input_each(input, put_events, sink);
    *is_reported = status != STEP_STATUS_OK;
    /* what is true of the whole trace may not be so of a part */
    if (status == STEP_STATUS_OK && sink->operations->put_fact != NULL &&
        event_selection_is_all(&conversion->selected))
        status = event_source_facts(input->source, sink->operations->put_fact, sink, error);
    if (status == STEP_STATUS_OK)
        status = sink->operations->close(sink, error);
    sink->operations->destroy(sink);
    return status;
}

/* Gives the input's events or records to a sink; whatever fails is told. */
static enum step_status pour(struct input *input, const struct conversion *conversion,
                             struct output_file *file)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    bool is_reported = false;
    bool has_records = input->allocs != NULL && conversion->to->open_record_sink != NULL;
    enum step_status status = has_records
                                  ? pour_records(input, conversion, file, &error, &is_reported)
                                  : pour_events(input, conversion, file, &error, &is_reported);
    if (status == STEP_STATUS_OK)
        status = output_file_commit(file, &error);
    if (status != STEP_STATUS_OK && !is_reported)
        report_error(&error);
    return status;
}

enum step_status verb_convert(int argc, char **argv)
{
    struct conversion conversion = {.heap = {.at = {.kind = HEAP_AT_PEAK}}};
    struct arguments arguments = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct input input;
    struct output_file file;
    event_selection_init(&conversion.selected);
    conversion.records.selected = &conversion.selected;
    conversion.sink.records = &conversion.allocs;
    conversion.sink.heap = &conversion.heap;
    enum step_status status = parse(&conversion, &arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    if (conversion.record_format != RECORDS_AS_NOTHING)
        return record_export(arguments.operands[0], conversion.output, conversion.record_format,
                             conversion.sink.level, &conversion.records);
    if (heap_import_is_meant(arguments.operands[0], conversion.from))
        return heap_import_convert(arguments.operands[0], conversion.to, &conversion.sink,
                                   conversion.output);
    status = input_open(&input, arguments.operands[0], conversion.from, &conversion.selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (input.source->is_foreign && strcmp(conversion.to->name, "step") == 0) {
        const char *path = input.spool >= 0 ? input.spool_path : arguments.operands[0];
        status = record_export(path, conversion.output, RECORDS_AS_STEP, conversion.sink.level,
                               &conversion.records);
        input_close(&input);
        return status;
    }
    status = output_file_open(&file, conversion.output, &error);
    if (status == STEP_STATUS_OK) {
        status = pour(&input, &conversion, &file);
        output_file_abort(&file);
    } else {
        report_error(&error);
    }
    enum step_status damage = input_report_damage(&input);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}
