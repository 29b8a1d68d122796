/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of trace formats.  The source file of each format defines one struct trace_format
 * with its name, file name extension, help, options and functions; this header lists them. */
#ifndef CONVERTER_TRACE_TRACE_FORMAT_H
#define CONVERTER_TRACE_TRACE_FORMAT_H

#include "converter/cli/arguments.h"
#include "converter/trace/event_source.h"
#include "steptrace/packed.h"

struct heap_writer_operations;
struct output_file;
struct standard_input;
struct trace_sink_operations;

/* The formats, in the order of `steptrace convert --help`.  X(name) is defined as format_name.
 * Analyses register more (steptrace_formats() in cmake/registry.cmake). */
/* clang-format off */
#define TRACE_FORMATS(X) \
    X(step) X(text) X(lines) X(hatf) X(hatf_zip) X(hatf_txt) X(mtf) \
    X(simple_binary) X(memory_replay) X(heaptrack) X(memory_infra) X(pprof) X(otlp) \
    X(callgrind) X(callgrind_calls) X(dhat) X(massif) \
    X(collapsed) X(speedscope) X(speedscope_calls) X(chrome_trace) X(lifetimes) X(csv) X(jsonl) X(ctf) \
    X(jfr) X(hprof) X(heapdump) X(elephant_tracks)
/* clang-format on */

/* ---- options ---- */

/* An option, and the offset of its value in the structure of values. */
struct format_option {
    struct option_row row;
    size_t place;
};

/* A group of format options.  All-zero values are the defaults. */
struct format_options {
    size_t size_bytes;                   /* size of the structure of values */
    const struct format_option *items;   /* ends without name; NULL: only verbs set values */
    const struct format_options *shares; /* group that has the structure; NULL: this one */
};

enum { FORMAT_GROUPS_MOST = 24, FORMAT_VALUES_BYTES = 1024 };

/* The option values that were set.  Zero-initialise. */
struct format_settings {
    size_t count;
    size_t used_bytes;
    struct {
        const struct format_options *options;
        void *values;
    } items[FORMAT_GROUPS_MOST];
    _Alignas(max_align_t) unsigned char room[FORMAT_VALUES_BYTES];
};

/* Returns the values of a group for writing.  The settings must not move afterwards. */
void *format_settings_set(struct format_settings *settings, const struct format_options *options);
/* Returns the values of a group for reading; the defaults if none were set or `settings` is
 * NULL. */
const void *format_settings_get(const struct format_settings *settings,
                                const struct format_options *options);

/* --level, for formats that compress. */
extern const struct format_options compression_options;
int format_settings_level(const struct format_settings *settings);

/* A bool for verbs that print lines for people: also escapes control characters in names. */
extern const struct format_options shown_options;

/* ---- formats ---- */

enum format_needs {
    FORMAT_NEEDS_EVENTS,
    FORMAT_NEEDS_ALLOCATIONS, /* made from events if the trace has no allocations */
    FORMAT_NEEDS_HEAP,        /* the live objects at a moment */
    FORMAT_NEEDS_GRAPH,       /* and the references between them */
    FORMAT_NEEDS_CALLS,
    FORMAT_NEEDS_RECORDS, /* of STEP traces with any definition */
    FORMAT_NEEDS_TABLES,
};

/* Returns how a file of this format and name is compressed. */
enum step_packing trace_format_packing(const struct trace_format *format, const char *path);

/* An output file to be written in a format. */
struct format_output {
    const struct trace_format *format;
    struct output_file *file;          /* borrowed */
    const struct event_source *source; /* provides names and properties; outlives the sink */
    const struct format_settings *settings;
};

/* A conversion by a format that reads the input itself. */
struct format_job {
    const struct trace_format *format;
    const char *input;
    const char *output;
    const struct event_selection *selected;
    const struct format_settings *settings;
};

struct trace_format {
    const char *name;
    const char *ending; /* file name extension; NULL: the format must be named */
    const char *help;   /* short description */
    enum format_needs needs;
    bool shows_allocations;    /* it needs events, but its viewers show allocations above all */
    enum step_packing packing; /* compression of the whole file, whatever its name */
    /* .gz or .zst after the ending compresses it: all that are one file, but for those that
     * compress their parts (STEP, ZIP, Meta-TF) or always, and for lines, whose compressed form is
     * the ZIP file `text`. */
    bool packs_by_ending;
    bool is_directory;
    const char *post_type; /* media type for an HTTP server; NULL: it is only written to files */
    /* Groups of options, ending with NULL; or NULL. */
    const struct format_options *const *options;
    /* Reading. */
    const char *magic; /* the first bytes of a file; NULL: none, or `starts` decides */
    bool (*starts)(const char *start, size_t length); /* recognises the (terminated) first bytes */
    bool reads_dumps;         /* it is read as a heap dump (heap_of_dump.h) */
    trace_opener open_source; /* NULL: write-only */
    /* Reads standard input as a stream; NULL: the input must be seekable. */
    enum step_status (*open_stream)(const struct standard_input *start,
                                    const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error);
    bool shows_stacks;    /* of allocations: they are derived where the trace has none */
    bool follows_objects; /* the sink tracks objects: a free needs only the object's number */
    /* Writing: from events, from allocations (also those that events become if there is no other
     * sink), or by `write`. */
    const struct trace_sink_operations *sink;
    const struct trace_sink_operations *alloc_sink;
    const struct heap_writer_operations *heap_writer;
    enum step_status (*write)(const struct format_job *job); /* reports its errors */
};

#define TRACE_FORMAT_DECLARE(name) extern const struct trace_format format_##name;
TRACE_FORMATS(TRACE_FORMAT_DECLARE)

#endif
