/* SPDX-License-Identifier: Apache-2.0 */
/* Where HATF's records go: one interface over all formats of heap traces. */
#ifndef CONVERTER_RECORD_SINK_H
#define CONVERTER_RECORD_SINK_H

#include "converter/allocs/alloc_source.h"
#include "converter/allocs/events_as_allocs.h"
#include "converter/base/output_file.h"
#include "converter/events/event_sink.h"

struct alloc_sink {
    const struct alloc_sink_operations *operations;
};

struct alloc_sink_operations {
    enum step_status (*put)(struct alloc_sink *sink, const struct hatf_record *record,
                            struct step_error *error);
    /* Writes what is left; called once, and not after a put that failed. */
    enum step_status (*close)(struct alloc_sink *sink, struct step_error *error);
    void (*destroy)(struct alloc_sink *sink);
};

/* `source` gives provenance, and outlives the sink; `output` is the caller's. */
typedef enum step_status (*alloc_sink_open)(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct alloc_sink **out, struct step_error *error);

/* A sink of events, for traces that have no records: they become some on the way. */
enum step_status event_sink_create(alloc_sink_open open, struct output_file *output,
                                   const struct event_source *source,
                                   const struct event_sink_options *options,
                                   struct event_sink **out, struct step_error *error);

/* Sets what is to be left out of a record to 0 or empty; comments stay. */
void record_omit(struct hatf_record *record, unsigned omitted);

enum step_status hatf_alloc_sink_create(struct output_file *output,
                                        const struct event_source *source,
                                        const struct event_sink_options *options,
                                        struct alloc_sink **out, struct step_error *error);
enum step_status hatf_gzip_alloc_sink_create(struct output_file *output,
                                             const struct event_source *source,
                                             const struct event_sink_options *options,
                                             struct alloc_sink **out, struct step_error *error);
enum step_status hatf_zstd_alloc_sink_create(struct output_file *output,
                                             const struct event_source *source,
                                             const struct event_sink_options *options,
                                             struct alloc_sink **out, struct step_error *error);
enum step_status hatf_split_alloc_sink_create(struct output_file *output,
                                              const struct event_source *source,
                                              const struct event_sink_options *options,
                                              struct alloc_sink **out, struct step_error *error);
enum step_status hatf_text_alloc_sink_create(struct output_file *output,
                                             const struct event_source *source,
                                             const struct event_sink_options *options,
                                             struct alloc_sink **out, struct step_error *error);
enum step_status replay_alloc_sink_create(struct output_file *output,
                                          const struct event_source *source,
                                          const struct event_sink_options *options,
                                          struct alloc_sink **out, struct step_error *error);
enum step_status metatf_alloc_sink_create(struct output_file *output,
                                          const struct event_source *source,
                                          const struct event_sink_options *options,
                                          struct alloc_sink **out, struct step_error *error);
enum step_status stepfile_alloc_sink_create(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct alloc_sink **out, struct step_error *error);

#endif
