/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats: names, endings, and how a source or a sink of each is opened.  A row is all
 * that a format needs besides its own files. */
#ifndef CONVERTER_FORMAT_H
#define CONVERTER_FORMAT_H

#include "converter/allocs/alloc_sink.h"
#include "converter/events/event_sink.h"
#include "converter/events/event_source.h"
#include "converter/heap/heap_writer.h"

struct trace_format {
    const char *name;
    const char *ending;
    const char *magic;                /* the first bytes of a file; NULL: it has none */
    trace_opener open_source;         /* NULL: the format is only written */
    event_sink_open open_sink;        /* NULL: it takes no events, but records */
    alloc_sink_open open_record_sink; /* NULL: it takes no records */
    const struct heap_writer_operations *heap_writer; /* of a format of heaps; else NULL */
    bool heap_is_gzipped;
};

/* NULL where there is none. */
const struct trace_format *trace_format_by_name(const char *name);
const struct trace_format *trace_format_by_ending(const char *path);
/* By what the file starts with. */
const struct trace_format *trace_format_by_content(const char *path);
/* The names, with commas between. */
const char *trace_format_names(void);

/* A sink of events in that format, of any that can be written. */
enum step_status trace_format_open_sink(const struct trace_format *format,
                                        struct output_file *output,
                                        const struct event_source *source,
                                        const struct event_sink_options *options,
                                        struct event_sink **out, struct step_error *error);

#endif
