/* SPDX-License-Identifier: Apache-2.0 */
/* Lookup of formats by name, by file extension, and by content; opening of traces of any format. */
#ifndef CONVERTER_FORMATS_FORMAT_TABLE_H
#define CONVERTER_FORMATS_FORMAT_TABLE_H

#include <stdio.h>

#include "converter/files/standard_input.h"
#include "converter/formats/more_formats.h"
#include "converter/trace/allocs_as_events.h"
#include "converter/trace/events_as_allocs.h"
#include "converter/trace/trace_format.h"

#define TRACE_FORMAT_ONE(name) +1
enum { TRACE_FORMAT_COUNT = 0 TRACE_FORMATS(TRACE_FORMAT_ONE) MORE_FORMATS(TRACE_FORMAT_ONE) };
extern const struct trace_format *const trace_formats[TRACE_FORMAT_COUNT];

/* Returns NULL if no format has this extension. */
const struct trace_format *trace_format_by_ending(const char *path);
/* Returns the length of the path without its format's extension and that of a compressor. */
size_t trace_format_stem_length(const char *path);
/* Returns the format of a file: `from` if it is not NULL, else by extension, else by content, after
 * decompression with gzip or zstd.  Returns NULL if it is unknown, or for standard input ("-"). */
const struct trace_format *trace_format_of(const char *path, const struct trace_format *from);
/* Returns the format by the first `length` bytes of a file.  A zero byte must follow them. */
const struct trace_format *trace_format_of_start(const char *start, size_t length);
/* Returns true if standard input that begins with `start` can be read as a stream. */
bool trace_format_streams(const struct trace_format *format, const struct standard_input *start);

/* Parses the value of the option that names the input format. */
bool take_input_format(void *format_target, const char *value, const char **fault);
#define FROM_ROW(format)                                                                           \
    {                                                                                              \
        "from", 0, "FORMAT", "format of IN, by name", take_input_format, (format)                  \
    }
/* Prints the help text for all formats with these needs, if there are any: the head, and a line for
 * each.  A star marks the formats that can be
 * read, a plus those that are compressed by the ending of the file. */
void trace_format_help(enum format_needs needs, const char *head, FILE *out);
/* Returns true if the format supports these options. */
bool trace_format_has(const struct trace_format *format, const struct format_options *options);
/* Returns the names of all formats, separated by commas. */
const char *trace_format_names(void);

/* Opens a trace of any format as a source of events or of allocations.  `path` must outlive the
 * source. */

/* If `made_of` is not NULL, sets it to the allocations that the events are derived from, which the
 * events own, or to NULL if there are none. */
enum step_status trace_open_events(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected,
                                   struct event_source **out, struct alloc_source **made_of,
                                   struct step_error *error);

/* Opens all allocations, unfiltered.  `options` (of Java traces) NULL: the defaults. */
enum step_status trace_open_allocs(const char *path, const struct trace_format *format,
                                   const struct alloc_options *options, struct alloc_source **out,
                                   struct step_error *error);

#endif
