/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats. */
#include "converter/open/format_table.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "converter/allocs/events_as_allocs.h"
#include "converter/formats/call_formats.h"
#include "converter/formats/hatf/hatf_format.h"
#include "converter/formats/metatf/metatf_format.h"
#include "converter/formats/step/stepfile.h"
#include "converter/formats/text/text_format.h"

/* Where one ending is the end of another, the longer one stands first. */
static const struct trace_format formats[] = {
    {"step", ".step", "\x9eSTP", stepfile_source_create, stepfile_sink_create,
     stepfile_alloc_sink_create, NULL, false},
    {"hatf.zip", ".hatf.zip", NULL, hatf_source_create, NULL, hatf_split_alloc_sink_create, NULL,
     false},
    {"hatf.txt", ".hatf.txt", "# HATF", hatf_text_source_create, NULL, hatf_text_alloc_sink_create,
     NULL, false},
    {"mtf", ".mtf", "\177MTF", metatf_source_create, metatf_sink_create, metatf_alloc_sink_create,
     NULL, false},
    {"text", ".zip", "PK\003\004", text_source_create, text_sink_create, NULL, NULL, false},
    {"lines", ".txt", "VS:", lines_source_create, lines_sink_create, NULL, NULL, false},
    {"hatf", ".hatf", NULL, hatf_source_create, NULL, hatf_alloc_sink_create, NULL, false},
    {"hatf.gz", ".hatf.gz", NULL, hatf_source_create, NULL, hatf_gzip_alloc_sink_create, NULL,
     false},
    {"hatf.zst", ".hatf.zst", NULL, hatf_source_create, NULL, hatf_zstd_alloc_sink_create, NULL,
     false},
    {"memory-replay", ".memory-replay.txt", NULL, NULL, NULL, replay_alloc_sink_create, NULL,
     false},
    {"memory-infra", ".memory-infra.json", NULL, NULL, NULL, NULL, &memory_infra_writer, false},
    {"memory-infra.gz", ".memory-infra.json.gz", NULL, NULL, NULL, NULL, &memory_infra_writer,
     true},
    {"pprof", ".pb.gz", NULL, NULL, NULL, NULL, &pprof_writer, true},
    {"collapsed", ".collapsed", NULL, NULL, NULL, NULL, &collapsed_writer, false},
    {"speedscope-calls", ".calls.speedscope.json", NULL, NULL, speedscope_calls_sink_create, NULL,
     NULL, false},
    {"chrome-trace", ".trace.json", NULL, NULL, chrome_trace_sink_create, NULL, NULL, false},
    {"speedscope", ".speedscope.json", NULL, NULL, NULL, NULL, &speedscope_writer, false},
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const struct trace_format *trace_format_by_name(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

const struct trace_format *trace_format_by_ending(const char *path)
{
    size_t length = strlen(path);
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        size_t ending = strlen(formats[i].ending);
        if (length > ending && strcasecmp(path + length - ending, formats[i].ending) == 0)
            return &formats[i];
    }
    return NULL;
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

const struct trace_format *trace_format_by_content(const char *path)
{
    char start[40] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    ssize_t got = read(file, start, sizeof start - 1);
    close(file);
    const struct trace_format *format = got > 0 ? hatf_by_content(start, (size_t) got) : NULL;
    for (size_t i = 0; got > 0 && format == NULL && i < FORMAT_COUNT; i++)
        if (formats[i].magic != NULL &&
            strncmp(start, formats[i].magic, strlen(formats[i].magic)) == 0)
            format = &formats[i];
    return format;
}

const char *trace_format_names(void)
{
    return "step, text, lines, hatf, hatf.gz, hatf.zst, hatf.zip, hatf.txt, mtf, memory-replay, "
           "memory-infra, memory-infra.gz, pprof, collapsed, speedscope, speedscope-calls, "
           "chrome-trace";
}

enum step_status trace_format_open_sink(const struct trace_format *format,
                                        struct output_file *output,
                                        const struct event_source *source,
                                        const struct event_sink_options *options,
                                        struct event_sink **out, struct step_error *error)
{
    if (format->heap_writer != NULL)
        return heap_sink_create(format->heap_writer, format->heap_is_gzipped, output, source,
                                options, out, error);
    if (format->open_sink != NULL)
        return format->open_sink(output, source, options, out, error);
    return event_sink_create(format->open_record_sink, output, source, options, out, error);
}
