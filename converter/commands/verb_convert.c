/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace convert: converts a trace to another format. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/commands/heap_of_dump.h"
#include "converter/formats/metatf/metatf_records.h"
#include "converter/formats/pour.h"
#include "converter/graph/dated_file.h"
#include "converter/heap/heap_tracker.h"
#include "converter/heap/heap_writer.h"
#include "converter/output/output_limit.h"
#include "converter/records/record_filter.h"
#include "converter/trace/call_events.h"
#include "converter/trace/selection_options.h"
#include "format/json/json_output.h"
#include "steptrace/packed.h"

VERB(convert);

enum {
    OPTIONS_MOST = 64, /* options of formats and common options; `arguments` records which
                          were given */
    GZIP_LEVEL_MOST = 9
};

/* ---- the conversion ---- */

struct conversion {
    struct event_selection selected;
    struct event_selection of_heap; /* selection of objects for heap formats */
    struct format_settings settings;
    struct format_job job; /* built from these */
    const struct trace_format *from;
    uint64_t limit_output;
    bool as_json;      /* print the result as JSON */
    bool as_records;   /* convert records of any definition unchanged */
    bool exact_deaths; /* compute exact deaths first, unless the trace has them */
};

static const char *help_text(void)
{
    static const char intro[] =
        "Converts a trace to another format, chosen by the ending of OUT or by --to=NAME.\n"
        "Formats with a star can also be read; those with a plus are compressed if .gz or "
        ".zst\n"
        "follows the ending, as in run.hatf.zst:\n";
    static const char records[] = "the records of a STEP trace of any definition; .step has them "
                                  "too:\n";
    static const char *const heads[] = {
        [FORMAT_NEEDS_EVENTS] = intro,
        [FORMAT_NEEDS_ALLOCATIONS] = "allocations and frees of any trace:\n",
        [FORMAT_NEEDS_HEAP] = "the heap at one moment of a trace, or heap dumps of other tools:\n",
        [FORMAT_NEEDS_GRAPH] = "",
        [FORMAT_NEEDS_CALLS] = "calls, if the trace has method events:\n",
        [FORMAT_NEEDS_RECORDS] = records,
        [FORMAT_NEEDS_TABLES] = "its tables (--table), for other engines:\n"};
    static char *text;
    size_t length;
    free(text);
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return "";
    for (unsigned needs = 0; needs < sizeof heads / sizeof heads[0]; needs++)
        trace_format_help((enum format_needs) needs, heads[needs], out);
    fputs("IN or OUT may be -, standard input or output (then name the format).\n", out);
    fclose(out);
    return text;
}

/* Returns the format of `run.step.gz`, which its ending does not compress, so that the message can
 * say so; NULL: it is none, or no compressor's ending. */
static const struct trace_format *unpacked_format(const char *output)
{
    if (step_packing_by_ending(output) == STEP_PACKING_NONE)
        return NULL;
    char *name = strndup(output, (size_t) (strrchr(output, '.') - output));
    const struct trace_format *format = name != NULL ? trace_format_by_ending(name) : NULL;
    free(name);
    return format != NULL && trace_format_packing(format, output) == STEP_PACKING_NONE ? format
                                                                                       : NULL;
}

/* A file that is not what a compressor's ending says cannot be unpacked. */
static enum step_status check_packing(const struct arguments *arguments,
                                      const struct format_job *job)
{
    enum step_packing packing = trace_format_packing(job->format, job->output);
    if (step_packing_by_ending(job->output) != STEP_PACKING_NONE &&
        step_packing_by_ending(job->output) != packing)
        return arguments_fault(arguments,
                               "%s is not compressed by its ending: '%s' cannot end "
                               "in %s",
                               job->format->name, job->output, strrchr(job->output, '.'));
    if (packing == STEP_PACKING_GZIP && format_settings_level(job->settings) > GZIP_LEVEL_MOST)
        return arguments_fault(arguments, "--level=%d: gzip has levels 1 to %d",
                               format_settings_level(job->settings), GZIP_LEVEL_MOST);
    return STEP_STATUS_OK;
}

static enum step_status find_output_format(const struct arguments *arguments,
                                           struct conversion *conversion)
{
    if (conversion->job.output == NULL)
        return arguments_fault(arguments, "-o OUT is missing");
    if (conversion->job.format == NULL)
        conversion->job.format = trace_format_by_ending(conversion->job.output);
    if (conversion->job.format == NULL)
        conversion->job.format = unpacked_format(conversion->job.output);
    if (conversion->job.format == NULL)
        return arguments_fault(arguments, "the ending of '%s' names no format: --to=FORMAT does",
                               conversion->job.output);
    if (conversion->job.format->is_directory && strcmp(conversion->job.output, "-") == 0)
        return arguments_fault(arguments, "a %s trace is a directory, not standard output",
                               conversion->job.format->name);
    return check_packing(arguments, &conversion->job);
}

/* Adds the options of all formats, shared ones once; `owners` are their formats. */
static size_t add_format_rows(struct conversion *conversion, struct option_row *rows, size_t count,
                              const struct format_options **owners)
{
    const struct format_options *added[FORMAT_GROUPS_MOST];
    size_t added_count = 0;
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++)
        for (size_t k = 0; trace_formats[i]->options != NULL; k++) {
            const struct format_options *options = trace_formats[i]->options[k];
            size_t at = 0;
            if (options == NULL)
                break;
            while (at < added_count && added[at] != options)
                at++;
            if (at < added_count)
                continue;
            added[added_count++] = options;
            char *values = format_settings_set(&conversion->settings, options);
            for (const struct format_option *item = options->items;
                 item->row.name != NULL && count < OPTIONS_MOST; item++) {
                rows[count] = item->row;
                rows[count].target = values + item->place;
                if (item->row.take == take_word) {
                    ((struct option_number *) item->row.target)->number = values + item->place;
                    rows[count].target = item->row.target;
                }
                owners[count++] = options;
            }
        }
    return count;
}

/* Rejects an option that belongs to other formats. */
static enum step_status check_owner(const struct arguments *arguments, size_t row,
                                    const struct format_options *owner,
                                    const struct format_job *job)
{
    char names[320];
    size_t used = 0;
    const struct trace_format *to = job->format;
    bool compresses = owner == &compression_options;
    if (owner == NULL || (arguments->given >> row & 1) == 0 || trace_format_has(to, owner) ||
        (compresses && trace_format_packing(to, job->output) != STEP_PACKING_NONE))
        return STEP_STATUS_OK;
    for (size_t i = 0; i < TRACE_FORMAT_COUNT && used < sizeof names; i++)
        if (trace_format_has(trace_formats[i], owner))
            used += (size_t) snprintf(names + used, sizeof names - used, "%s%s",
                                      used > 0 ? ", " : "", trace_formats[i]->name);
    return arguments_fault(arguments, "--%s is an option of %s%s, not of %s",
                           arguments->rows[row].name, names,
                           compresses ? " and of what is compressed by its ending" : "", to->name);
}

/* Converts records of any definition unchanged, if the user asked for that or the format supports
 * only that. */
static enum step_status prepare_records(const struct arguments *arguments,
                                        struct conversion *conversion)
{
    const struct record_selection *records =
        format_settings_get(&conversion->settings, &record_options);
    conversion->as_records = conversion->job.format->needs == FORMAT_NEEDS_RECORDS ||
                             records->names != NULL || records->condition_count > 0;
    if (conversion->as_records && !event_selection_is_slice(&conversion->selected))
        return arguments_fault(
            arguments, "records are selected by time, thread number, --record and --where only");
    return STEP_STATUS_OK;
}

/* A heap needs the whole trace: the heap tracker selects the objects. */
static enum step_status prepare_heap(const struct arguments *arguments,
                                     struct conversion *conversion)
{
    struct heap_export *heap = format_settings_set(&conversion->settings, &heap_moment_options);
    if (conversion->selected.kinds != TRACE_ALL_KINDS)
        return arguments_fault(arguments,
                               "a heap needs events of all kinds: --kind is not possible");
    conversion->of_heap = conversion->selected;
    heap->selected = &conversion->of_heap;
    heap_tracker_select(&conversion->selected, &conversion->of_heap);
    return STEP_STATUS_OK;
}

/* Calls that began before the slice are followed from the start of the trace. */
static void prepare_calls(struct conversion *conversion)
{
    struct event_selection *selected = &conversion->selected;
    uint64_t *from_ns = format_settings_set(&conversion->settings, &call_options);
    *from_ns = selected->from_ns;
    selected->from_ns = 0;
    selected->untracked = true;
    selected->kinds &= HEAP_KINDS;
    if (!conversion->job.format->follows_objects)
        selected->kinds &= ~TRACE_KIND_BIT(EVENT_OBJECT_ALLOC);
}

static enum step_status verb_convert_prepare(const struct arguments *arguments,
                                             struct conversion *conversion)
{
    bool takes_all = event_selection_is_all(&conversion->selected);
    switch (conversion->job.format->needs) {
    case FORMAT_NEEDS_GRAPH:
        return takes_all
                   ? STEP_STATUS_OK
                   : arguments_fault(arguments, "%s contains all objects and accepts no selection",
                                     conversion->job.format->name);
    case FORMAT_NEEDS_TABLES:
        return STEP_STATUS_OK;
    case FORMAT_NEEDS_HEAP:
        return prepare_heap(arguments, conversion);
    case FORMAT_NEEDS_CALLS:
        prepare_calls(conversion);
        return STEP_STATUS_OK;
    default:
        if (conversion->job.format->follows_objects && takes_all)
            conversion->selected.untracked = true;
        conversion->selected.derives_stacks = conversion->job.format->shows_stacks;
        return prepare_records(arguments, conversion);
    }
}

static enum step_status verb_convert_parse(struct conversion *conversion,
                                           struct arguments *arguments, int argc, char **argv)
{
    const struct option_row first[] = {
        {"output", 'o', "OUT", "the file to write", take_text, &conversion->job.output},
        {"to", 0, "FORMAT", "format of OUT, by name: see above", take_input_format,
         &conversion->job.format},
        FROM_ROW(&conversion->from)};
    const struct option_row last[] = {
        {"deaths", 0, "WHICH", "time of frees: exact (computed as by `deaths`) or collected",
         WORDS(conversion->exact_deaths, "collected", "exact")},
        {"json", 0, NULL, "print what was written as JSON", take_flag, &conversion->as_json},
        OUTPUT_LIMIT_ROW(&conversion->limit_output),
        SELECTION_ROWS(&conversion->selected),
        READING_ROWS};
    enum { FIRST = sizeof first / sizeof first[0], LAST = sizeof last / sizeof last[0] };
    struct option_row rows[OPTIONS_MOST + LAST];
    memcpy(rows, first, sizeof first);
    const struct format_options *owners[OPTIONS_MOST + LAST] = {NULL};
    size_t count = add_format_rows(conversion, rows, FIRST, owners);
    memcpy(rows + count, last, sizeof last);
    static struct verb_help help;
    help = (struct verb_help){"convert", "IN -o OUT [OPTION]...", help_text()};
    arguments->help = &help;
    arguments->rows = rows;
    arguments->row_count = count + LAST;
    if (!arguments_read(arguments, argc, argv, 1, 1))
        return arguments->status;
    enum step_status status = find_output_format(arguments, conversion);
    for (size_t i = FIRST; status == STEP_STATUS_OK && i < count; i++)
        status = check_owner(arguments, i, owners[i], &conversion->job);
    return status == STEP_STATUS_OK ? verb_convert_prepare(arguments, conversion) : status;
}

/* Converts a trace with another DTD, or the records of any trace to JSON lines or a table. */
static enum step_status convert_metatf(const struct arguments *arguments,
                                       const struct conversion *conversion, const char *path)
{
    const struct trace_format *to = conversion->job.format;
    const struct record_selection *records =
        format_settings_get(&conversion->settings, &record_options);
    struct metatf_choice choice = {.dtd_path = conversion->selected.dtd_path,
                                   .names = records->names,
                                   .settings = &conversion->settings};
    if (!event_selection_is_all(&conversion->selected) || records->condition_count > 0)
        return arguments_fault(arguments, "Meta-TF's records are selected by --record only");
    if (to != &format_jsonl && to != &format_csv && to != &format_mtf && to != &format_lines)
        return arguments_fault(arguments, "the records of its DTD can be written as .txt, .jsonl "
                                          "or .csv, or all of them as .mtf");
    choice.form = to == &format_jsonl ? METATF_AS_JSON_LINES
                  : to == &format_csv ? METATF_AS_CSV
                  : to == &format_mtf ? METATF_AS_METATF
                                      : METATF_AS_LINES;
    return metatf_records_put(path, conversion->job.output, &choice);
}

static enum step_status pour(struct input *input, struct conversion *conversion, const char *in)
{
    const struct pouring pouring = {.to = conversion->job.format,
                                    .settings = &conversion->settings};
    enum step_status status =
        input_choose_objects(input, in, conversion->from, &conversion->of_heap);
    if (status == STEP_STATUS_OK)
        status = input_pour(input, &pouring, conversion->job.output, NULL);
    enum step_status damage = input_report_damage(input);
    return status == STEP_STATUS_OK ? damage : status;
}

/* Chooses the conversion by the trace's content and the format's needs. */
static enum step_status convert_opened(const struct arguments *arguments, struct input *input,
                                       struct conversion *conversion, const char *in)
{
    enum step_status (*copy)(const struct format_job *job) = conversion->job.format->write;
    conversion->job.input = input->spool >= 0 ? input->spool_path : in;
    switch (input->source->content) {
    case TRACE_OF_METATF_RECORDS:
        return convert_metatf(arguments, conversion, input->source->path);
    case TRACE_OF_STEP_RECORDS:
        return copy != NULL ? copy(&conversion->job) : pour(input, conversion, in);
    case TRACE_OF_GRAPHS:
        return copy != NULL && event_selection_is_all(&conversion->selected)
                   ? copy(&conversion->job)
                   : pour(input, conversion, in);
    default:
        return pour(input, conversion, in);
    }
}

/* STEP and Meta-TF have the property that says so. */
static void report_no_clock(const struct input *input, const struct trace_format *to,
                            const char *in)
{
    bool has_times = to->needs == FORMAT_NEEDS_EVENTS || to->needs == FORMAT_NEEDS_ALLOCATIONS ||
                     to->needs == FORMAT_NEEDS_CALLS;
    if (has_times && to != &format_step && to != &format_mtf &&
        !event_source_has_times(input->source))
        report_line(
            "%s: has no clock (resolution=none): its times are steps, and each collection ends "
            "one",
            in);
}

static enum step_status convert_trace(const struct arguments *arguments,
                                      struct conversion *conversion, const char *in)
{
    struct input input;
    const struct trace_format *from = trace_format_of(in, conversion->from);
    const struct trace_format *to = conversion->job.format;
    conversion->job.input = in;
    if (conversion->as_records && from == &format_mtf && !to->is_directory)
        return convert_metatf(arguments, conversion, in);
    if (conversion->as_records || to->needs == FORMAT_NEEDS_TABLES ||
        to->needs == FORMAT_NEEDS_GRAPH)
        return to->write(&conversion->job);
    if (from != NULL && from->reads_dumps)
        return heap_of_dump_convert(&conversion->job);
    enum step_status status = input_open(&input, in, conversion->from, &conversion->selected);
    if (status != STEP_STATUS_OK)
        return status;
    report_no_clock(&input, to, in);
    status = convert_opened(arguments, &input, conversion, in);
    input_close(&input);
    return status;
}

static enum step_status convert(const struct arguments *arguments, struct conversion *conversion)
{
    struct dated_spool spool;
    const char *in = arguments->operands[0];
    if (!conversion->exact_deaths)
        return convert_trace(arguments, conversion, in);
    enum step_status dated = date_deaths_spooled(in, &spool);
    if (spool.path[0] == '\0')
        return dated;
    enum step_status status = convert_trace(arguments, conversion, spool.path);
    if (spool.descriptor >= 0)
        close(spool.descriptor);
    return status == STEP_STATUS_OK ? dated : status;
}

/* Prints the result after a conversion; of a damaged input, the result for the intact part. */
static void print_as_json(const struct conversion *conversion, const char *in, bool is_whole)
{
    struct json_output json;
    struct stat status;
    json_open(&json, stdout);
    json_text(&json, "input", in);
    json_text(&json, "output", conversion->job.output);
    json_text(&json, "format", conversion->job.format->name);
    json_bool(&json, "whole", is_whole);
    if (stat(conversion->job.output, &status) == 0)
        json_number(&json, "file_bytes", (uint64_t) status.st_size);
    json_close(&json);
}

enum step_status verb_convert(int argc, char **argv)
{
    struct conversion conversion = {.limit_output = OUTPUT_LIMIT_DEFAULT};
    struct arguments arguments = {0};
    event_selection_init(&conversion.selected);
    event_selection_init(&conversion.of_heap);
    conversion.job.selected = &conversion.selected;
    conversion.job.settings = &conversion.settings;
    enum step_status status = verb_convert_parse(&conversion, &arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    if (conversion.as_json && strcmp(conversion.job.output, "-") == 0)
        return arguments_fault(&arguments, "--json: standard output is the trace's");
    output_limit_set(conversion.limit_output, arguments.operands[0]);
    status = convert(&arguments, &conversion);
    if (output_limit_end())
        status = STEP_STATUS_CORRUPT; /* exit status 3: the input would expand too much */
    else if (conversion.as_json && (status == STEP_STATUS_OK || status == STEP_STATUS_CORRUPT))
        print_as_json(&conversion, arguments.operands[0], status == STEP_STATUS_OK);
    return status;
}
