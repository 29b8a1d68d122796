/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, and the lookups in it.  A trace is opened with its format's functions; its
 * source is wrapped if another kind is needed. */
#include "converter/formats/format_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/arguments.h"
#include "converter/files/joined_files.h"
#include "converter/files/output_rights.h"
#include "converter/numbers/quantity.h"
#include "format/core/input_file.h"
#include "format/core/nearest_word.h"
#include "steptrace/packed.h"

MORE_FORMATS(TRACE_FORMAT_DECLARE)
#define ROW(name) &format_##name,
const struct trace_format *const trace_formats[TRACE_FORMAT_COUNT] = {TRACE_FORMATS(ROW)
                                                                          MORE_FORMATS(ROW)};
#undef ROW

/* Returns the length of a path or name without the ending of a compressor. */
static size_t unpacked_length(const char *path, size_t length)
{
    enum step_packing packing = step_packing_by_ending(path);
    return length - (packing == STEP_PACKING_GZIP   ? strlen(".gz")
                     : packing == STEP_PACKING_ZSTD ? strlen(".zst")
                                                    : 0);
}

static const struct trace_format *trace_format_by_name(const char *name, size_t length)
{
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++)
        if (strlen(trace_formats[i]->name) == length &&
            memcmp(trace_formats[i]->name, name, length) == 0)
            return trace_formats[i];
    return NULL;
}

/* If one extension is a suffix of another, the longest match wins.  That of a format that
 * compresses always (.pb.gz) has the compressor's ending in it. */
const struct trace_format *trace_format_by_ending(const char *path)
{
    const struct trace_format *format = NULL;
    size_t whole = strlen(path), longest = 0;
    while (whole > 1 && path[whole - 1] == '/')
        whole--;
    size_t unpacked = unpacked_length(path, whole);
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++) {
        const char *ending = trace_formats[i]->ending;
        size_t ending_length = ending != NULL ? strlen(ending) : 0;
        size_t length = trace_formats[i]->packs_by_ending ? unpacked : whole;
        if (ending_length > longest && length > ending_length &&
            strncasecmp(path + length - ending_length, ending, ending_length) == 0) {
            format = trace_formats[i];
            longest = ending_length;
        }
    }
    return format;
}

size_t trace_format_stem_length(const char *path)
{
    const struct trace_format *format = trace_format_by_ending(path);
    size_t length = strlen(path);
    if (format == NULL)
        return length;
    return (format->packs_by_ending ? unpacked_length(path, length) : length) -
           strlen(format->ending);
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
    size_t length = 0, got = 1;
    int file = input_file_open(path, INPUT_REGULAR, NULL);
    if (file < 0 ||
        step_packed_input_open_descriptor(file, path, NULL, 0, &input, NULL) != STEP_STATUS_OK)
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
    output_rights_note(path);
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

/* Returns the format that a name like `hatf.gz` means, or NULL. */
static const struct trace_format *packed_format(const char *name)
{
    size_t whole = strlen(name), length = unpacked_length(name, whole);
    const struct trace_format *format = length < whole ? trace_format_by_name(name, length) : NULL;
    return format != NULL && format->packs_by_ending ? format : NULL;
}

static const char *trace_format_name_at(const void *table, size_t i)
{
    return ((const struct trace_format *const *) table)[i]->name;
}

bool take_input_format(void *format_target, const char *value, const char **fault)
{
    static char expected[160];
    const struct trace_format *format = trace_format_by_name(value, strlen(value));
    const struct trace_format *packed = packed_format(value);
    const char *nearest =
        nearest_word_of(value, trace_format_name_at, trace_formats, TRACE_FORMAT_COUNT);
    if (packed != NULL)
        snprintf(expected, sizeof expected,
                 "the format is %s; a file whose name ends in %s is compressed", packed->name,
                 value + strlen(packed->name));
    else
        snprintf(expected, sizeof expected,
                 "there is no such format%s%s%s (`steptrace convert --help` lists all)",
                 nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "'?" : "");
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

void trace_format_help(enum format_needs needs, const char *head, FILE *out)
{
    for (size_t i = 0; i < TRACE_FORMAT_COUNT; i++) {
        const struct trace_format *format = trace_formats[i];
        bool is_read = format->open_source != NULL || format->reads_dumps;
        if (format->needs != needs)
            continue;
        fprintf(out, "%s  %-18s%-24s%s%s%s\n", head, format->name,
                format->ending != NULL ? format->ending : "", format->help, is_read ? " *" : "",
                format->packs_by_ending ? " +" : "");
        head = "";
    }
}

bool trace_format_has(const struct trace_format *format, const struct format_options *options)
{
    for (size_t i = 0; format->options != NULL && format->options[i] != NULL; i++)
        if (format->options[i] == options)
            return true;
    return false;
}

/* `format` NULL: by extension and content.  On failure, `out` is not set. */
static enum step_status trace_open(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected, struct opened_trace *out,
                                   struct step_error *error)
{
    format = trace_format_of(path, format);
    *out = (struct opened_trace){.format = format};
    if (format == NULL)
        return access(path, R_OK) == 0 ? step_error_set(error, STEP_STATUS_FORMAT, path,
                                                        STEP_NO_OFFSET, "unknown file format")
                                       : step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                                                        "cannot open: %s", strerror(errno));
    if (format->reads_dumps)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, path, STEP_NO_OFFSET,
                              "a trace of Chrome's events: only `steptrace heap` and `steptrace "
                              "convert` read the heap "
                              "dumps in it");
    if (format->open_source == NULL)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, path, STEP_NO_OFFSET,
                              "the format %s is only written, not read", format->name);
    return format->open_source(path, selected, out, error);
}

/* Says once that times of options are compared with steps. */
static void report_steps(const struct event_source *source, const struct event_selection *selected)
{
    static bool is_reported;
    bool has_times =
        selected->from_ns != 0 || selected->to_ns != UINT64_MAX || selected->lifetime.is_set;
    if (event_source_has_times(source) || !has_times || is_reported)
        return;
    report_line("%s: has no clock (resolution=none): times in selections are steps, and each "
                "collection ends one",
                source->path);
    is_reported = true;
}

enum step_status trace_open_events(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected,
                                   struct event_source **out, struct alloc_source **made_of,
                                   struct step_error *error)
{
    struct opened_trace trace;
    enum step_status status = trace_open(path, format, selected, &trace, error);
    *out = trace.events;
    if (trace.allocs != NULL)
        status = record_trace_source_create(trace.allocs, selected, out, error);
    if (made_of != NULL)
        *made_of = status == STEP_STATUS_OK ? trace.allocs : NULL;
    if (status == STEP_STATUS_OK)
        report_steps(*out, selected);
    return status;
}

enum step_status trace_open_allocs(const char *path, const struct trace_format *format,
                                   const struct alloc_options *options, struct alloc_source **out,
                                   struct step_error *error)
{
    struct event_selection selected;
    struct opened_trace trace;
    event_selection_init(&selected);
    enum step_status status = trace_open(path, format, &selected, &trace, error);
    if (status == STEP_STATUS_OK && trace.events != NULL)
        return event_alloc_source_create(trace.events, options, out, error);
    *out = trace.allocs;
    return status;
}
