/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats: names, endings, and how a source or a sink of each is opened. */
#ifndef CONVERTER_FORMAT_H
#define CONVERTER_FORMAT_H

#include "converter/allocs/alloc_sink.h"
#include "converter/base/output_file.h"
#include "converter/events/event_sink.h"
#include "converter/events/event_source.h"

typedef enum step_status (*event_source_open)(const char *path,
                                              const struct event_selection *selected,
                                              struct event_source **out, struct step_error *error);

struct trace_format {
    const char *name;
    const char *ending;
    const char *magic;                /* the first bytes of a file; NULL: it has none */
    event_source_open open_source;    /* NULL: the format is only written */
    event_sink_open open_sink;        /* NULL: it takes no events, but records */
    alloc_sink_open open_record_sink; /* NULL: it takes no records */
};

/* NULL where there is none. */
const struct trace_format *trace_format_by_name(const char *name);
const struct trace_format *trace_format_by_ending(const char *path);
/* By what the file starts with. */
const struct trace_format *trace_format_by_content(const char *path);
/* The names, with commas between. */
const char *trace_format_names(void);

/* Opens a trace; `format` NULL: by ending and content. */
enum step_status trace_format_open(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected,
                                   struct event_source **out, struct step_error *error);

enum step_status stepfile_source_create(const char *path, const struct event_selection *selected,
                                        struct event_source **out, struct step_error *error);
enum step_status metatf_source_create(const char *path, const struct event_selection *selected,
                                      struct event_source **out, struct step_error *error);
enum step_status metatf_sink_create(struct output_file *output, const struct event_source *source,
                                    const struct event_sink_options *options,
                                    struct event_sink **out, struct step_error *error);
enum step_status text_source_create(const char *path, const struct event_selection *selected,
                                    struct event_source **out, struct step_error *error);
enum step_status lines_source_create(const char *path, const struct event_selection *selected,
                                     struct event_source **out, struct step_error *error);
enum step_status stepfile_sink_create(struct output_file *output, const struct event_source *source,
                                      const struct event_sink_options *options,
                                      struct event_sink **out, struct step_error *error);
enum step_status text_sink_create(struct output_file *output, const struct event_source *source,
                                  const struct event_sink_options *options, struct event_sink **out,
                                  struct step_error *error);
enum step_status lines_sink_create(struct output_file *output, const struct event_source *source,
                                   const struct event_sink_options *options,
                                   struct event_sink **out, struct step_error *error);
enum step_status hatf_source_create(const char *path, const struct event_selection *selected,
                                    struct event_source **out, struct step_error *error);
enum step_status hatf_text_source_create(const char *path, const struct event_selection *selected,
                                         struct event_source **out, struct step_error *error);

/* Heaps: sink_heap.c. */
#define SINK_CREATE(name)                                                                          \
    enum step_status name(struct output_file *output, const struct event_source *source,           \
                          const struct event_sink_options *options, struct event_sink **out,       \
                          struct step_error *error)
SINK_CREATE(memory_infra_sink_create);
SINK_CREATE(memory_infra_gzip_sink_create);
SINK_CREATE(pprof_sink_create);
SINK_CREATE(collapsed_sink_create);
SINK_CREATE(speedscope_sink_create);
/* Calls. */
SINK_CREATE(speedscope_calls_sink_create);
SINK_CREATE(chrome_trace_sink_create);

#endif
