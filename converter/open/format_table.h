/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats: names, endings, and how a source or a sink of each is opened.  A row is all
 * that a format needs besides its own files. */
#ifndef CONVERTER_OPEN_FORMAT_TABLE_H
#define CONVERTER_OPEN_FORMAT_TABLE_H

#include "converter/allocs/alloc_sink.h"
#include "converter/allocs/alloc_source.h"
#include "converter/events/event_sink.h"
#include "converter/events/event_source.h"
#include "converter/files/standard_input.h"
#include "converter/heap/heap_writer.h"

enum format_kind { FORMAT_OF_TRACES, FORMAT_OF_HEAPS, FORMAT_OF_CALLS };

struct trace_format {
    const char *name;
    const char *ending;
    const char *magic; /* the first bytes of a file; NULL: it has none */
    enum format_kind kind;
    bool takes_any_records; /* its files hold records of any definition */
    bool reads_dumps;       /* a file of it is read as heap dumps (heap_of_dump.h) */
    bool is_gzipped;        /* what `heap_writer` writes is */
    bool follows_objects;   /* its sink does: a free's number is enough for it */
    /* reading and writing */
    trace_opener open_source;        /* NULL: the format is only written */
    alloc_stream_opener open_stream; /* standard input as it comes; NULL: it must be seekable */
    event_sink_open open_sink;       /* NULL: it takes no events, but records or heaps */
    alloc_sink_open open_alloc_sink; /* NULL: it takes no records */
    const struct heap_writer_operations *heap_writer; /* of a format of heaps; else NULL */
    /* what people read */
    unsigned help_line; /* place of `help` among the formats of its kind, from 1 */
    const char *help;   /* its line of `steptrace convert --help`; NULL: another's line names it */
    unsigned options_place; /* of `options` in that help, from 1 */
    format_options options; /* NULL: none, or another format that shares them has them */
};

/* NULL where there is none. */
const struct trace_format *trace_format_by_name(const char *name);
const struct trace_format *trace_format_by_ending(const char *path);
/* By what the file starts with, unpacked where gzip or zstd packed it. */
const struct trace_format *trace_format_by_content(const char *path);
/* By that start itself; a zero follows its `length` bytes. */
const struct trace_format *trace_format_of_start(const char *start, size_t length);
/* May standard input, which starts so, be read as it comes? */
bool trace_format_streams(const struct trace_format *format, const struct standard_input *start);

/* The option by which verbs are told what IN is. */
bool take_input_format(void *format_target, const char *value, const char **fault);
#define FROM_ROW(format)                                                                           \
    {                                                                                              \
        "from", 0, "FORMAT", "the format of IN, by name", take_input_format, (format)              \
    }
/* The help's lines of all formats of a kind, two spaces before each. */
void trace_format_help(enum format_kind kind, char *out, size_t out_size);
/* The option rows of all formats; returns how many, `capacity` at most. */
size_t trace_format_options(struct option_row *rows, size_t capacity,
                            struct event_sink_options *options);
/* The names, with commas between. */
const char *trace_format_names(void);

/* A sink of events in that format, of any that can be written. */
enum step_status trace_format_open_sink(const struct trace_format *format,
                                        struct output_file *output,
                                        const struct event_source *source,
                                        const struct event_sink_options *options,
                                        struct event_sink **out, struct step_error *error);

#endif
