/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace convert: a trace from one format into another. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/allocs/events_as_allocs.h"
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/ctf/ctf_export.h"
#include "converter/events/selection_options.h"
#include "converter/heap/heap_export.h"
#include "converter/heap/heap_tracker.h"
#include "converter/open/pour.h"
#include "converter/records/copy_trace.h"
#include "converter/records/metatf_records.h"
#include "converter/records/record_export.h"
#include "converter/table_export/table_export.h"
#include "converter/verb_parts/date_deaths.h"
#include "converter/verb_parts/heap_of_dump.h"
#include "converter/verb_parts/keepers_of_trace.h"
#include "converter/verbs/verb.h"
#include "format/json/json_output.h"

enum { OPTIONS_MOST = 64 };

struct conversion {
    struct event_selection selected;
    struct event_selection of_heap; /* objects that a heap tells of */
    struct event_sink_options sink;
    struct alloc_options allocs; /* of `sink` */
    struct heap_export heap;     /* the same */
    const struct trace_format *from;
    const struct trace_format *to;
    const char *output;
    bool as_json;      /* what was done is told */
    bool as_hprof;     /* a heap dump of Java's own */
    bool exact_deaths; /* found first, where the trace has not got them */
    struct record_selection records;
    enum record_format record_format; /* of records of any definition; NOTHING: not these */
    bool to_ctf;                      /* records too, into a directory */
    struct table_export tables;       /* the same of tables */
};

static bool take_output_format(void *conversion_target, const char *value, const char **fault)
{
    struct conversion *conversion = conversion_target;
    conversion->record_format = record_format_by_name(value);
    conversion->tables.format = table_format_by_name(value);
    conversion->to_ctf = ctf_is_name(value);
    conversion->to = NULL;
    conversion->as_hprof = strcmp(value, "hprof") == 0;
    return conversion->as_hprof || conversion->to_ctf ||
           conversion->tables.format != TABLES_AS_NOTHING ||
           conversion->record_format != RECORDS_AS_NOTHING ||
           take_input_format(&conversion->to, value, fault);
}

static bool take_deaths(void *bool_target, const char *value, const char **fault)
{
    *fault = "exact or collected is expected";
    *(bool *) bool_target = strcmp(value, "exact") == 0;
    return *(bool *) bool_target || strcmp(value, "collected") == 0;
}

/* Of the tables of formats. */
static const char *help_text(void)
{
    static char text[5120];
    char traces[1024], heaps[1024], calls[512], records[512], ctf[128], tables[512];
    trace_format_help(FORMAT_OF_TRACES, traces, sizeof traces);
    trace_format_help(FORMAT_OF_HEAPS, heaps, sizeof heaps);
    trace_format_help(FORMAT_OF_CALLS, calls, sizeof calls);
    record_format_help(records, sizeof records);
    ctf_help(ctf, sizeof ctf);
    table_format_help(tables, sizeof tables);
    snprintf(text, sizeof text,
             "Turns a trace into another format. Formats go by the files' endings:\n"
             "%sand heaps, those of a trace at one moment, or heap dumps of others:\n"
             "%s  .hprof     hprof, a heap dump of Java's own: objects, references   (out)\n"
             "and calls, where the trace has method events:\n"
             "%sand the records of a STEP trace of any definition, with --record and --where:\n"
             "%s%sand its tables (--table), for other engines:\n"
             "%sIN or OUT may be -, standard input or output (then name the format).\n",
             traces, heaps, calls, records, ctf, tables);
    return text;
}

static bool has_hprof_ending(const char *path)
{
    static const char ending[] = ".hprof";
    size_t length = strlen(path);
    return length >= sizeof ending - 1 && strcmp(path + length - (sizeof ending - 1), ending) == 0;
}

static enum step_status find_output_format(const struct arguments *arguments,
                                           struct conversion *conversion)
{
    if (conversion->output == NULL)
        return arguments_fault(arguments, "-o OUT is missing");
    if (conversion->tables.format != TABLES_AS_NOTHING || conversion->as_hprof)
        return STEP_STATUS_OK;
    if (conversion->record_format != RECORDS_AS_NOTHING)
        return STEP_STATUS_OK;
    if (conversion->to == NULL && !conversion->to_ctf) {
        conversion->record_format = record_format_by_ending(conversion->output);
        conversion->to_ctf = ctf_is_ending(conversion->output);
    }
    if (conversion->to_ctf && strcmp(conversion->output, "-") == 0)
        return arguments_fault(arguments, "a CTF trace is a directory, not standard output");
    if (conversion->to_ctf || conversion->record_format != RECORDS_AS_NOTHING)
        return STEP_STATUS_OK;
    if (conversion->to == NULL && has_hprof_ending(conversion->output)) {
        conversion->as_hprof = true;
        return STEP_STATUS_OK;
    }
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
    if (is_filtered && conversion->record_format == RECORDS_AS_NOTHING && !conversion->to_ctf) {
        if (!conversion->to->takes_any_records)
            return arguments_fault(arguments,
                                   "--record and --where are for .jsonl, .csv, .step and .ctf");
        conversion->record_format = RECORDS_AS_STEP;
    }
    if ((conversion->record_format != RECORDS_AS_NOTHING || conversion->to_ctf) &&
        !event_selection_is_slice(&conversion->selected))
        return arguments_fault(arguments,
                               "records are chosen by time, thread number, --record and --where");
    return STEP_STATUS_OK;
}

/* A heap is made of the whole trace, and its maker follows what lives and chooses of it. */
static enum step_status prepare_heap(const struct arguments *arguments,
                                     struct conversion *conversion)
{
    if (conversion->to->kind != FORMAT_OF_HEAPS)
        return STEP_STATUS_OK;
    if (conversion->selected.kinds != TRACE_ALL_KINDS)
        return arguments_fault(arguments, "a heap is made of all kinds of events, not of --kind");
    conversion->of_heap = conversion->selected;
    conversion->heap.selected = &conversion->of_heap;
    event_selection_init(&conversion->selected);
    conversion->selected.dtd_path = conversion->of_heap.dtd_path;
    conversion->selected.kinds = HEAP_KINDS;
    conversion->selected.untracked = true;
    return STEP_STATUS_OK;
}

/* Calls that began before the slice are followed from the trace's start. */
static void prepare_calls(struct conversion *conversion)
{
    struct event_selection *selected = &conversion->selected;
    if (conversion->to->kind != FORMAT_OF_CALLS)
        return;
    conversion->sink.calls_from_ns = selected->from_ns;
    selected->from_ns = 0;
    selected->untracked = true;
    selected->kinds &= HEAP_KINDS & ~TRACE_KIND_BIT(EVENT_OBJECT_ALLOC);
}

static enum step_status parse(struct conversion *conversion, struct arguments *arguments, int argc,
                              char **argv)
{
    const struct option_row first[] = {
        {"output", 'o', "OUT", "the file to write", take_text, &conversion->output},
        {"to", 0, "FORMAT", "its format, by name: see above", take_output_format, conversion},
        FROM_ROW(&conversion->from)};
    const struct option_row last[] = {
        {"record", 0, "NAMES", "records: of these types and those that extend them", take_text,
         &conversion->records.names},
        {"table", 0, "NAMES", "tables: which, as objects,calls", take_text,
         &conversion->tables.tables},
        {"columns", 0, "NAMES", "tables: of one, only these columns", take_text,
         &conversion->tables.columns},
        {"run", 0, "NAME", "tables: what the run is called; else like the file", take_text,
         &conversion->tables.run},
        {"part-rows", 0, "N", "tables: rows of a Parquet file of a directory (16777216)",
         take_count, &conversion->tables.part_rows},
        {"clock", 0, NULL, "tables: times are those of the clock, not since the start", take_flag,
         &conversion->tables.by_clock},
        {"where", 0, "FIELD=VALUE", "records: whose field is so; also != < <= > >=", take_condition,
         &conversion->records},
        {"deaths", 0, "WHICH", "frees at which time: exact (found as `deaths` does), or collected",
         take_deaths, &conversion->exact_deaths},
        {"json", 0, NULL, "tell as JSON what was written", take_flag, &conversion->as_json},
        SELECTION_ROWS(&conversion->selected),
        DEFINITION_ROW,
        MEMORY_ROW};
    enum { FIRST = sizeof first / sizeof first[0], LAST = sizeof last / sizeof last[0] };
    struct option_row rows[OPTIONS_MOST];
    memcpy(rows, first, sizeof first);
    size_t count =
        FIRST + trace_format_options(rows + FIRST, OPTIONS_MOST - FIRST - LAST, &conversion->sink);
    memcpy(rows + count, last, sizeof last);
    static struct verb_help help;
    help = (struct verb_help){"convert", "IN -o OUT [OPTION]...", help_text()};
    arguments->help = &help;
    arguments->rows = rows;
    arguments->row_count = count + LAST;
    enum step_status status = arguments_parse(arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments->help_wanted)
        return status;
    status = arguments_expect(arguments, 1, 1);
    if (status == STEP_STATUS_OK)
        status = find_output_format(arguments, conversion);
    if (status == STEP_STATUS_OK && conversion->as_hprof &&
        !event_selection_is_all(&conversion->selected))
        return arguments_fault(arguments, "an .hprof is of the whole heap at one moment");
    if (conversion->tables.format != TABLES_AS_NOTHING || conversion->as_hprof)
        return status;
    if (status == STEP_STATUS_OK)
        status = prepare_records(arguments, conversion);
    if (status != STEP_STATUS_OK || conversion->record_format != RECORDS_AS_NOTHING ||
        conversion->to_ctf)
        return status;
    prepare_calls(conversion);
    if (conversion->to->follows_objects && event_selection_is_all(&conversion->selected))
        conversion->selected.untracked = true;
    return prepare_heap(arguments, conversion);
}

/* A trace with a DTD of its own, or the records of any as JSON lines or a table. */
static enum step_status convert_metatf(const struct arguments *arguments, const char *path,
                                       const struct conversion *conversion)
{
    struct metatf_choice choice = {.dtd_path = conversion->selected.dtd_path,
                                   .names = conversion->records.names,
                                   .sink = &conversion->sink};
    if (!event_selection_is_all(&conversion->selected) || conversion->records.condition_count > 0)
        return arguments_fault(arguments, "of Meta-TF's records only --record chooses");
    if (conversion->record_format == RECORDS_AS_JSON_LINES)
        choice.form = METATF_AS_JSON_LINES;
    else if (conversion->record_format == RECORDS_AS_CSV)
        choice.form = METATF_AS_CSV;
    else if (conversion->to == trace_format_by_name("mtf") && choice.names == NULL)
        choice.form = METATF_AS_METATF;
    else if (conversion->to == trace_format_by_name("lines"))
        choice.form = METATF_AS_LINES;
    else
        return arguments_fault(
            arguments, "the records of its DTD become .txt, .jsonl, .csv, or all of them .mtf");
    return metatf_records_put(path, conversion->output, &choice);
}

static enum step_status convert_trace(const struct arguments *arguments,
                                      struct conversion *conversion, const char *in)
{
    struct input input;
    if (conversion->as_hprof)
        return keepers_write_hprof(in, &conversion->heap.at, conversion->output);
    if (conversion->tables.format != TABLES_AS_NOTHING) {
        conversion->tables.output = conversion->output;
        conversion->tables.level = conversion->sink.level;
        conversion->tables.selected = &conversion->selected;
        return table_export(in, &conversion->tables);
    }
    if (conversion->to_ctf)
        return ctf_export(in, conversion->output, &conversion->records);
    if (conversion->record_format != RECORDS_AS_NOTHING &&
        metatf_records_are_meant(in, conversion->from))
        return convert_metatf(arguments, in, conversion);
    if (conversion->record_format != RECORDS_AS_NOTHING)
        return record_export(in, conversion->output, conversion->record_format,
                             conversion->sink.level, &conversion->records);
    if (heap_of_dump_is_meant(in, conversion->from))
        return heap_of_dump_convert(in, conversion->to, &conversion->sink, conversion->output);
    enum step_status status = input_open(&input, in, conversion->from, &conversion->selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (input.source->is_foreign &&
        metatf_records_are_meant(input.source->path, conversion->from)) {
        status = convert_metatf(arguments, input.source->path, conversion);
        input_close(&input);
        return status;
    }
    const char *path = input.spool >= 0 ? input.spool_path : in;
    if (conversion->to->takes_any_records &&
        (input.source->is_foreign ||
         (event_selection_is_all(&conversion->selected) && stepfile_has_graph(path)))) {
        status = record_export(path, conversion->output, RECORDS_AS_STEP, conversion->sink.level,
                               &conversion->records);
        input_close(&input);
        return status;
    }
    const struct pouring pouring = {.to = conversion->to, .options = &conversion->sink};
    status = input_choose_objects(&input, in, conversion->from, &conversion->of_heap);
    if (status == STEP_STATUS_OK)
        status = input_pour(&input, &pouring, conversion->output, NULL);
    enum step_status damage = input_report_damage(&input);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}

static enum step_status convert(const struct arguments *arguments, struct conversion *conversion)
{
    struct dated_spool spool;
    const char *in = arguments->operands[0];
    if (!conversion->exact_deaths)
        return convert_trace(arguments, conversion, in);
    enum step_status dated = date_deaths_spooled(in, &spool);
    if (dated != STEP_STATUS_OK && dated != STEP_STATUS_CORRUPT)
        return dated;
    enum step_status status = convert_trace(arguments, conversion, spool.path);
    if (spool.descriptor >= 0)
        close(spool.descriptor);
    return status == STEP_STATUS_OK ? dated : status;
}

static const char *output_format_name(const struct conversion *conversion)
{
    if (conversion->as_hprof)
        return "hprof";
    if (conversion->tables.format != TABLES_AS_NOTHING)
        return conversion->tables.format == TABLES_AS_PARQUET ? "parquet" : "clickhouse-native";
    if (conversion->to_ctf)
        return "ctf";
    switch (conversion->record_format) {
    case RECORDS_AS_JSON_LINES:
        return "jsonl";
    case RECORDS_AS_CSV:
        return "csv";
    case RECORDS_AS_STEP:
        return "step";
    default:
        return conversion->to->name;
    }
}

/* After a conversion: of what could be read, where the input was damaged. */
static void tell_as_json(const struct conversion *conversion, const char *in, bool is_whole)
{
    struct json_output json;
    struct stat status;
    json_init(&json, stdout);
    json_begin_object(&json, NULL);
    json_text(&json, "input", in);
    json_text(&json, "output", conversion->output);
    json_text(&json, "format", output_format_name(conversion));
    json_bool(&json, "whole", is_whole);
    if (stat(conversion->output, &status) == 0)
        json_number(&json, "file_bytes", (uint64_t) status.st_size);
    json_end_object(&json);
    json_finish(&json);
}

enum step_status verb_convert(int argc, char **argv)
{
    struct conversion conversion = {.heap = {.at = {.kind = HEAP_AT_PEAK}}};
    struct arguments arguments = {0};
    event_selection_init(&conversion.selected);
    event_selection_init(&conversion.of_heap);
    conversion.records.selected = &conversion.selected;
    conversion.sink.records = &conversion.allocs;
    conversion.sink.heap = &conversion.heap;
    enum step_status status = parse(&conversion, &arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    if (conversion.as_json && strcmp(conversion.output, "-") == 0)
        return arguments_fault(&arguments, "--json: standard output is the trace's");
    status = convert(&arguments, &conversion);
    if (conversion.as_json && (status == STEP_STATUS_OK || status == STEP_STATUS_CORRUPT))
        tell_as_json(&conversion, arguments.operands[0], status == STEP_STATUS_OK);
    return status;
}
