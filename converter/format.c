/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats. */
#include "format.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct trace_format formats[] = {
    {"step", ".step", "\x9eSTP", step_source_create, step_sink_create},
    {"text", ".zip", "PK\003\004", text_source_create, text_sink_create},
    {"lines", ".txt", "VS:", lines_source_create, lines_sink_create},
    {"memory-infra", ".memory-infra.json", NULL, NULL, memory_infra_sink_create},
    {"memory-infra.gz", ".memory-infra.json.gz", NULL, NULL, memory_infra_gzip_sink_create},
    {"pprof", ".pb.gz", NULL, NULL, pprof_sink_create},
    {"collapsed", ".collapsed", NULL, NULL, collapsed_sink_create},
    {"speedscope-calls", ".calls.speedscope.json", NULL, NULL, speedscope_calls_sink_create},
    {"chrome-trace", ".trace.json", NULL, NULL, chrome_trace_sink_create},
    {"speedscope", ".speedscope.json", NULL, NULL, speedscope_sink_create},
    {"hatf", ".hatf", NULL, NULL, hatf_sink_create},
    {"hatf.gz", ".hatf.gz", NULL, NULL, hatf_gzip_sink_create},
    {"hatf.zst", ".hatf.zst", NULL, NULL, hatf_zstd_sink_create},
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

const struct trace_format *trace_format_by_content(const char *path)
{
    char start[16] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    ssize_t got = read(file, start, sizeof start - 1);
    close(file);
    for (size_t i = 0; got > 0 && i < FORMAT_COUNT; i++)
        if (formats[i].magic != NULL &&
            strncmp(start, formats[i].magic, strlen(formats[i].magic)) == 0)
            return &formats[i];
    return NULL;
}

const char *trace_format_names(void)
{
    return "step, text, lines, hatf, hatf.gz, hatf.zst, memory-infra, memory-infra.gz, "
           "pprof, collapsed, speedscope, speedscope-calls, chrome-trace";
}
