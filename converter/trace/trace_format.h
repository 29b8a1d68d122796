/* SPDX-License-Identifier: Apache-2.0 */
/* What a format of traces is: each format's own file defines one struct trace_format, and this file
 * lists them.  Names, endings, help, options and functions all come from there. */
#ifndef CONVERTER_TRACE_TRACE_FORMAT_H
#define CONVERTER_TRACE_TRACE_FORMAT_H

#include "converter/base/arguments.h"
#include "converter/trace/event_source.h"
#include "steptrace/packed.h"

struct alloc_sink;
struct event_sink;
struct heap_writer_operations;
struct output_file;
struct standard_input;

/* All formats, in the order of `steptrace convert --help`: X.name is what format_X is called. */
/* clang-format off */
#define TRACE_FORMATS(X) \
    X(step) X(text) X(lines) X(hatf) X(hatf_gz) X(hatf_zst) X(hatf_zip) X(hatf_txt) X(mtf) \
    X(simple_binary) X(memory_replay) X(heaptrack) X(heaptrack_gz) X(heaptrack_zst) \
    X(memory_infra) X(memory_infra_gz) X(pprof) X(collapsed) X(speedscope) \
    X(speedscope_calls) X(chrome_trace) X(csv) X(jsonl) X(ctf) X(hprof) X(parquet) \
    X(clickhouse_native)
/* clang-format on */

/* ---- options ---- */

/* An option, and where its value stands in the structure of the values. */
struct format_option {
    struct option_row row;
    size_t place;
};

/* Options that belong to formats, and the structure of their values, in which zeros are the
 * defaults. */
struct format_options {
    size_t size_bytes;                   /* of the structure */
    const struct format_option *items;   /* no name behind the last; NULL: only verbs set values */
    const struct format_options *shares; /* others that have the structure; NULL: its own */
};

enum { FORMAT_GROUPS_MOST = 24, FORMAT_VALUES_BYTES = 1024 };

/* The values that were chosen.  Starts zeroed. */
struct format_settings {
    size_t count;
    size_t used_bytes;
    struct {
        const struct format_options *options;
        void *values;
    } items[FORMAT_GROUPS_MOST];
    _Alignas(max_align_t) unsigned char room[FORMAT_VALUES_BYTES];
};

/* The values of these options, to be changed; the settings must not move after it. */
void *format_settings_set(struct format_settings *settings, const struct format_options *options);
/* The same to be read: the defaults where nothing was set, or `settings` is NULL. */
const void *format_settings_get(const struct format_settings *settings,
                                const struct format_options *options);

/* --level of formats that compress. */
extern const struct format_options compression_options;
int format_settings_level(const struct format_settings *settings);

/* ---- formats ---- */

enum format_needs {
    FORMAT_NEEDS_EVENTS,
    FORMAT_NEEDS_ALLOCATIONS, /* events become some */
    FORMAT_NEEDS_HEAP,        /* what lives at a moment */
    FORMAT_NEEDS_GRAPH,       /* and which object refers to which */
    FORMAT_NEEDS_CALLS,
    FORMAT_NEEDS_RECORDS, /* of STEP traces of any definition */
    FORMAT_NEEDS_TABLES,
};

/* A file to be written in a format. */
struct format_output {
    const struct trace_format *format;
    struct output_file *file;          /* borrowed */
    const struct event_source *source; /* gives names and provenance, and outlives the sink */
    const struct format_settings *settings;
};

/* A trace to be written by a format that reads it by itself. */
struct format_job {
    const struct trace_format *format;
    const char *input;
    const char *output;
    const struct event_selection *selected;
    const struct format_settings *settings;
};

struct trace_format {
    const char *name;
    const char *ending; /* NULL: only the name chooses it */
    const char *help;   /* what it is */
    enum format_needs needs;
    enum step_packing packing; /* of the whole file */
    bool is_directory;
    /* What can be chosen of it, NULL behind the last; or NULL. */
    const struct format_options *const *options;
    /* reading */
    const char *magic; /* the first bytes of a file; NULL: none, or more is to be looked at */
    bool (*starts)(const char *start, size_t length); /* that; a zero follows */
    bool reads_dumps;         /* it is read as heap dumps (heap_of_dump.h) */
    trace_opener open_source; /* NULL: it is only written */
    /* Standard input as it comes; NULL: it must be seekable. */
    enum step_status (*open_stream)(const struct standard_input *start,
                                    const struct event_selection *selected,
                                    struct alloc_source **out, struct step_error *error);
    /* writing: from events, from allocations if it has these, or all by itself */
    bool follows_objects; /* its sink does: a free's number is enough for it */
    enum step_status (*open_sink)(const struct format_output *to, struct event_sink **out,
                                  struct step_error *error);
    enum step_status (*open_alloc_sink)(const struct format_output *to, struct alloc_sink **out,
                                        struct step_error *error);
    const struct heap_writer_operations *heap_writer;
    enum step_status (*write)(const struct format_job *job); /* faults are reported */
};

#define TRACE_FORMAT_DECLARE(name) extern const struct trace_format format_##name;
TRACE_FORMATS(TRACE_FORMAT_DECLARE)
#undef TRACE_FORMAT_DECLARE

#endif
