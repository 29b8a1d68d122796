/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats. */
#include "converter/open/format_table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "converter/allocs/events_as_allocs.h"
#include "converter/base/arguments.h"
#include "converter/formats/call_formats.h"
#include "converter/formats/hatf/hatf_format.h"
#include "converter/formats/heaptrack/heaptrack_format.h"
#include "converter/formats/metatf/metatf_format.h"
#include "converter/formats/step/stepfile.h"
#include "converter/formats/text/text_format.h"
#include "steptrace/packed.h"

static size_t compression_options(struct option_row *rows, struct event_sink_options *options)
{
    rows[0] = (struct option_row){
        "level", 0, "N", "of the compression, 1 to 19 (gzip: 9)", take_level, &options->level};
    return 1;
}

/* In the order of trace_format_names(). */
static const struct trace_format formats[] = {
    {.name = "step",
     .ending = ".step",
     .magic = "\x9eSTP",
     .takes_any_records = true,
     .open_source = stepfile_source_create,
     .open_sink = stepfile_sink_create,
     .open_alloc_sink = stepfile_alloc_sink_create,
     .help_line = 1,
     .help = ".step      STEP, what the agent writes                       (in and out)",
     .options_place = 2,
     .options = stepfile_options},
    {.name = "text",
     .ending = ".zip",
     .magic = "PK\003\004",
     .open_source = text_source_create,
     .open_sink = text_sink_create,
     .help_line = 2,
     .help = ".zip       text, a line an event, in a ZIP entry `trace`     (in and out)"},
    {.name = "lines",
     .ending = ".txt",
     .magic = "VS:",
     .open_source = lines_source_create,
     .open_sink = lines_sink_create,
     .help_line = 3,
     .help = ".txt       the same lines without the ZIP file               (in and out)"},
    {.name = "hatf",
     .ending = ".hatf",
     .open_source = hatf_source_create,
     .open_stream = hatf_stream_create,
     .open_alloc_sink = hatf_alloc_sink_create,
     .help_line = 4,
     .help = ".hatf      HATF 1.0; also .hatf.gz and .hatf.zst             (in and out)",
     .options_place = 1,
     .options = hatf_options},
    {.name = "hatf.gz",
     .ending = ".hatf.gz",
     .open_source = hatf_source_create,
     .open_stream = hatf_stream_create,
     .open_alloc_sink = hatf_gzip_alloc_sink_create,
     .options_place = 4,
     .options = compression_options},
    {.name = "hatf.zst",
     .ending = ".hatf.zst",
     .open_source = hatf_source_create,
     .open_stream = hatf_stream_create,
     .open_alloc_sink = hatf_zstd_alloc_sink_create},
    {.name = "hatf.zip",
     .ending = ".hatf.zip",
     .open_source = hatf_source_create,
     .open_alloc_sink = hatf_split_alloc_sink_create,
     .help_line = 5,
     .help = ".hatf.zip  HATF in streams, each in an entry of its own       (in and out)"},
    {.name = "hatf.txt",
     .ending = ".hatf.txt",
     .magic = "# HATF",
     .open_source = hatf_text_source_create,
     .open_stream = hatf_text_stream_create,
     .open_alloc_sink = hatf_text_alloc_sink_create,
     .help_line = 6,
     .help = ".hatf.txt  HATF's records as text, a line a record            (in and out)"},
    {.name = "mtf",
     .ending = ".mtf",
     .magic = "\177MTF",
     .open_source = metatf_source_create,
     .open_sink = metatf_sink_create,
     .open_alloc_sink = metatf_alloc_sink_create,
     .help_line = 7,
     .help = ".mtf       Meta-TF, with its DTD in it; --split=address too   (in and out)",
     .options_place = 3,
     .options = metatf_options},
    {.name = "simple-binary",
     .ending = ".simple.bin",
     .open_alloc_sink = simple_binary_alloc_sink_create,
     .help_line = 9,
     .help = ".simple.bin the HATF paper's simple binary, 4 numbers a record (out)"},
    {.name = "memory-replay",
     .ending = ".memory-replay.txt",
     .open_alloc_sink = replay_alloc_sink_create,
     .help_line = 8,
     .help = "memory-replay  text for Android's memory_replay              (out)"},
    {.name = "heaptrack",
     .ending = ".heaptrack",
     .follows_objects = true,
     .open_sink = heaptrack_sink_create,
     .help_line = 10,
     .help = ".heaptrack heaptrack; also .heaptrack.gz and .heaptrack.zst   (out)"},
    {.name = "heaptrack.gz",
     .ending = ".heaptrack.gz",
     .follows_objects = true,
     .open_sink = heaptrack_gzip_sink_create},
    {.name = "heaptrack.zst",
     .ending = ".heaptrack.zst",
     .follows_objects = true,
     .open_sink = heaptrack_zstd_sink_create},
    {.name = "memory-infra",
     .ending = ".memory-infra.json",
     .kind = FORMAT_OF_HEAPS,
     .reads_dumps = true,
     .heap_writer = &memory_infra_writer,
     .help_line = 1,
     .help = ".memory-infra.json  Chromium's heap dumps; also with .gz     (in and out)",
     .options_place = 5,
     .options = heap_options},
    {.name = "memory-infra.gz",
     .ending = ".memory-infra.json.gz",
     .kind = FORMAT_OF_HEAPS,
     .reads_dumps = true,
     .is_gzipped = true,
     .heap_writer = &memory_infra_writer},
    {.name = "pprof",
     .ending = ".pb.gz",
     .kind = FORMAT_OF_HEAPS,
     .is_gzipped = true,
     .heap_writer = &pprof_writer,
     .help_line = 2,
     .help = ".pb.gz              pprof                                    (out)"},
    {.name = "collapsed",
     .ending = ".collapsed",
     .kind = FORMAT_OF_HEAPS,
     .heap_writer = &collapsed_writer,
     .help_line = 3,
     .help = ".collapsed          stacks for flame graphs                  (out)"},
    {.name = "speedscope",
     .ending = ".speedscope.json",
     .kind = FORMAT_OF_HEAPS,
     .heap_writer = &speedscope_writer,
     .help_line = 4,
     .help = ".speedscope.json    speedscope                               (out)"},
    {.name = "speedscope-calls",
     .ending = ".calls.speedscope.json",
     .kind = FORMAT_OF_CALLS,
     .open_sink = speedscope_calls_sink_create,
     .help_line = 2,
     .help = ".calls.speedscope.json  speedscope                           (out)"},
    {.name = "chrome-trace",
     .ending = ".trace.json",
     .kind = FORMAT_OF_CALLS,
     .open_sink = chrome_trace_sink_create,
     .help_line = 1,
     .help = ".trace.json         Chrome trace events                      (out)"},
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const struct trace_format *trace_format_by_name(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

/* The longest, where one ending is the end of another. */
const struct trace_format *trace_format_by_ending(const char *path)
{
    const struct trace_format *format = NULL;
    size_t length = strlen(path), longest = 0;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        size_t ending = strlen(formats[i].ending);
        if (ending > longest && length > ending &&
            strcasecmp(path + length - ending, formats[i].ending) == 0) {
            format = &formats[i];
            longest = ending;
        }
    }
    return format;
}

/* HATF has no magic; ours begins with a comment.  A split trace is a ZIP file whose first entry has
 * one of two names. */
static const struct trace_format *hatf_by_content(const char *start, size_t length)
{
    static const char comment[] = "HATF 1.0";
    if (length >= 3 + sizeof comment - 1 && start[0] == HATF_COMMENT &&
        memcmp(start + 3, comment, sizeof comment - 1) == 0)
        return trace_format_by_name("hatf");
    if (length >= 34 && memcmp(start, "PK\003\004", 4) == 0 &&
        (memcmp(start + 30, "hatf", 4) == 0 || memcmp(start + 30, "tag", 3) == 0))
        return trace_format_by_name("hatf.zip");
    return NULL;
}

const struct trace_format *trace_format_of_start(const char *start, size_t length)
{
    const struct trace_format *format = length > 0 ? hatf_by_content(start, length) : NULL;
    for (size_t i = 0; length > 0 && format == NULL && i < FORMAT_COUNT; i++)
        if (formats[i].magic != NULL &&
            strncmp(start, formats[i].magic, strlen(formats[i].magic)) == 0)
            format = &formats[i];
    return format;
}

static size_t read_start(const char *path, char *start, size_t size)
{
    struct step_packed_input *input;
    size_t length = 0, got = 1;
    if (step_packed_input_open(path, &input, NULL) != STEP_STATUS_OK)
        return 0;
    while (length < size && got > 0 &&
           step_packed_input_read(input, start + length, size - length, &got, NULL) ==
               STEP_STATUS_OK)
        length += got;
    step_packed_input_close(input);
    return length;
}

const struct trace_format *trace_format_by_content(const char *path)
{
    char start[40] = {0};
    return trace_format_of_start(start, read_start(path, start, sizeof start - 1));
}

/* The entries of a ZIP file are found from its end. */
bool trace_format_streams(const struct trace_format *format, const struct standard_input *start)
{
    return format != NULL && format->open_stream != NULL &&
           (start->length < 4 || memcmp(start->start, "PK\3\4", 4) != 0);
}

bool take_input_format(void *format_target, const char *value, const char **fault)
{
    static char expected[576];
    const struct trace_format *format = trace_format_by_name(value);
    snprintf(expected, sizeof expected, "formats are %s", trace_format_names());
    *fault = expected;
    *(const struct trace_format **) format_target = format;
    return format != NULL;
}

const char *trace_format_names(void)
{
    static char names[512];
    size_t used = 0;
    for (size_t i = 0; i < FORMAT_COUNT && used < sizeof names; i++)
        used += (size_t) snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                  formats[i].name);
    return names;
}

void trace_format_help(enum format_kind kind, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned line = 1; line <= FORMAT_COUNT; line++)
        for (size_t i = 0; i < FORMAT_COUNT && used < out_size; i++)
            if (formats[i].kind == kind && formats[i].help_line == line)
                used += (size_t) snprintf(out + used, out_size - used, "  %s\n", formats[i].help);
}

size_t trace_format_options(struct option_row *rows, size_t capacity,
                            struct event_sink_options *options)
{
    size_t count = 0;
    for (unsigned place = 1; place <= FORMAT_COUNT; place++)
        for (size_t i = 0; i < FORMAT_COUNT; i++)
            if (formats[i].options_place == place && count + FORMAT_OPTIONS_MOST <= capacity)
                count += formats[i].options(rows + count, options);
    return count;
}

enum step_status trace_format_open_sink(const struct trace_format *format,
                                        struct output_file *output,
                                        const struct event_source *source,
                                        const struct event_sink_options *options,
                                        struct event_sink **out, struct step_error *error)
{
    if (format->heap_writer != NULL)
        return heap_sink_create(format->heap_writer, format->is_gzipped, output, source, options,
                                out, error);
    if (format->open_sink != NULL)
        return format->open_sink(output, source, options, out, error);
    return event_sink_create(format->open_alloc_sink, output, source, options, out, error);
}
