/* SPDX-License-Identifier: Apache-2.0 */
/* Where HATF's records go: one interface over all formats of heap traces. */
#ifndef CONVERTER_RECORD_SINK_H
#define CONVERTER_RECORD_SINK_H

#include "converter/allocs/alloc_source.h"
#include "converter/base/output_file.h"
#include "converter/events/event_sink.h"

struct record_sink {
    const struct record_sink_operations *operations;
};

struct record_sink_operations {
    enum step_status (*put)(struct record_sink *sink, const struct hatf_record *record,
                            struct step_error *error);
    /* Writes what is left; called once, and not after a put that failed. */
    enum step_status (*close)(struct record_sink *sink, struct step_error *error);
    void (*destroy)(struct record_sink *sink);
};

/* `source` gives provenance, and outlives the sink; `output` is the caller's. */
typedef enum step_status (*record_sink_open)(struct output_file *output,
                                             const struct event_source *source,
                                             const struct event_sink_options *options,
                                             struct record_sink **out, struct step_error *error);

/* A sink of events, for traces that have no records: they become some on the way. */
enum step_status event_sink_create(record_sink_open open, struct output_file *output,
                                   const struct event_source *source,
                                   const struct event_sink_options *options,
                                   struct event_sink **out, struct step_error *error);

/* Sets what is to be left out of a record to 0 or empty; comments stay. */
void record_omit(struct hatf_record *record, unsigned omitted);

enum step_status hatf_record_sink_create(struct output_file *output,
                                         const struct event_source *source,
                                         const struct event_sink_options *options,
                                         struct record_sink **out, struct step_error *error);
enum step_status hatf_gzip_record_sink_create(struct output_file *output,
                                              const struct event_source *source,
                                              const struct event_sink_options *options,
                                              struct record_sink **out, struct step_error *error);
enum step_status hatf_zstd_record_sink_create(struct output_file *output,
                                              const struct event_source *source,
                                              const struct event_sink_options *options,
                                              struct record_sink **out, struct step_error *error);
enum step_status hatf_split_record_sink_create(struct output_file *output,
                                               const struct event_source *source,
                                               const struct event_sink_options *options,
                                               struct record_sink **out, struct step_error *error);
enum step_status hatf_text_record_sink_create(struct output_file *output,
                                              const struct event_source *source,
                                              const struct event_sink_options *options,
                                              struct record_sink **out, struct step_error *error);
enum step_status replay_record_sink_create(struct output_file *output,
                                           const struct event_source *source,
                                           const struct event_sink_options *options,
                                           struct record_sink **out, struct step_error *error);
enum step_status metatf_record_sink_create(struct output_file *output,
                                           const struct event_source *source,
                                           const struct event_sink_options *options,
                                           struct record_sink **out, struct step_error *error);
enum step_status step_record_sink_create(struct output_file *output,
                                         const struct event_source *source,
                                         const struct event_sink_options *options,
                                         struct record_sink **out, struct step_error *error);

#endif
