/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and the lookups in it. */
#include "converter/formats/format_table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "converter/base/arguments.h"
#include "converter/base/rotated_files.h"
#include "steptrace/packed.h"

#define ROW(name) &format_##name,
const struct trace_format *const trace_formats[TRACE_FORMAT_COUNT] = {TRACE_FORMATS(ROW)};
#undef ROW

static const struct trace_format *trace_format_by_name(const char *name)
{
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++)
        if (strcmp(trace_formats[i]->name, name) == 0)
            return trace_formats[i];
    return NULL;
}

/* If one extension is a suffix of another, the longest match wins. */
const struct trace_format *trace_format_by_ending(const char *path)
{
    const struct trace_format *format = NULL;
    size_t length = strlen(path), longest = 0;
    while (length > 1 && path[length - 1] == '/')
        length--;
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++) {
        const char *ending = trace_formats[i]->ending;
        size_t ending_length = ending != NULL ? strlen(ending) : 0;
        if (ending_length > longest && length > ending_length &&
            strncasecmp(path + length - ending_length, ending, ending_length) == 0) {
            format = trace_formats[i];
            longest = ending_length;
        }
    }
    return format;
}

/* The last match wins: a ZIP file with HATF's entry names is HATF. */
const struct trace_format *trace_format_of_start(const char *start, size_t length)
{
    const struct trace_format *format = NULL;
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++) {
        const char *magic = trace_formats[i]->magic;
        if (magic != NULL
                ? strncmp(start, magic, strlen(magic)) == 0
                : trace_formats[i]->starts != NULL && trace_formats[i]->starts(start, length))
            format = trace_formats[i];
    }
    return format;
}

/* Does not read from pipes: that would wait for a writer, and consume its data. */
static size_t read_start(const char *path, char *start, size_t size)
{
    struct step_packed_input *input;
    struct stat about;
    size_t length = 0, got = 1;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
        step_packed_input_open(path, &input, NULL) != STEP_STATUS_OK)
        return 0;
    while (length < size && got > 0 &&
           step_packed_input_read(input, start + length, size - length, &got, NULL) ==
               STEP_STATUS_OK)
        length += got;
    step_packed_input_close(input);
    return length;
}

const struct trace_format *trace_format_of(const char *path, const struct trace_format *from)
{
    char start[40] = {0};
    const struct trace_format *format = from != NULL ? from : trace_format_by_ending(path);
    if (format == NULL && rotated_files_exist(path))
        return &format_step;
    if (from != NULL || strcmp(path, "-") == 0 ||
        (format != NULL && (format->open_source != NULL || format->reads_dumps)))
        return format;
    const struct trace_format *started =
        trace_format_of_start(start, read_start(path, start, sizeof start - 1));
    return format == NULL || (started != NULL && started->open_source != NULL) ? started : format;
}

/* A ZIP file's directory is at its end. */
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
    for (size_t i = 0; i < TRACE_FORMAT_COUNT && used < sizeof names; i++)
        used += (size_t) snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                  trace_formats[i]->name);
    return names;
}

void trace_format_help(enum format_needs needs, FILE *out)
{
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++) {
        const struct trace_format *format = trace_formats[i];
        bool is_read = format->open_source != NULL || format->reads_dumps;
        if (format->needs == needs)
            fprintf(out, "  %-18s%-24s%s%s\n", format->name,
                    format->ending != NULL ? format->ending : "", format->help,
                    is_read ? " *" : "");
    }
}

bool trace_format_has(const struct trace_format *format, const struct format_options *options)
{
    for (size_t i = 0; format->options != NULL && format->options[i] != NULL; i++)
        if (format->options[i] == options)
            return true;
    return false;
}
