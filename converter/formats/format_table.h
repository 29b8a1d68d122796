/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats: found by name, by ending, by what a file starts with. */
#ifndef CONVERTER_FORMATS_FORMAT_TABLE_H
#define CONVERTER_FORMATS_FORMAT_TABLE_H

#include <stdio.h>

#include "converter/base/standard_input.h"
#include "converter/trace/trace_format.h"

#define TRACE_FORMAT_ONE(name) +1
enum { TRACE_FORMAT_COUNT = 0 TRACE_FORMATS(TRACE_FORMAT_ONE) };
extern const struct trace_format *const trace_formats[TRACE_FORMAT_COUNT];

/* NULL where there is none. */
const struct trace_format *trace_format_by_ending(const char *path);
/* What a file is in: `from` where it is not NULL, else by its ending, else by what it starts with,
 * unpacked where gzip or zstd packed it.  NULL: it is not known, or standard input ("-"). */
const struct trace_format *trace_format_of(const char *path, const struct trace_format *from);
/* By what it starts with; a zero follows its `length` bytes. */
const struct trace_format *trace_format_of_start(const char *start, size_t length);
/* May standard input, which starts so, be read as it comes? */
bool trace_format_streams(const struct trace_format *format, const struct standard_input *start);

/* The option that names the format of IN. */
bool take_input_format(void *format_target, const char *value, const char **fault);
#define FROM_ROW(format)                                                                           \
    {                                                                                              \
        "from", 0, "FORMAT", "format of IN, by name", take_input_format, (format)                  \
    }
/* The help's lines of all formats that need the same; a star marks those that are read. */
void trace_format_help(enum format_needs needs, FILE *out);
/* Are these options among those of the format? */
bool trace_format_has(const struct trace_format *format, const struct format_options *options);
/* The names, with commas between. */
const char *trace_format_names(void);

#endif
