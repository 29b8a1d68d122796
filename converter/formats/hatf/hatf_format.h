/* SPDX-License-Identifier: Apache-2.0 */
/* HATF: binary in its packings, split, as text, the paper's simple binary, and the text of
 * memory_replay. */
#ifndef CONVERTER_FORMATS_HATF_HATF_FORMAT_H
#define CONVERTER_FORMATS_HATF_HATF_FORMAT_H

#include "converter/allocs/alloc_sink.h"
#include "converter/allocs/alloc_source.h"

enum step_status hatf_source_create(const char *path, const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error);
enum step_status hatf_text_source_create(const char *path, const struct event_selection *selected,
                                         struct opened_trace *out, struct step_error *error);
/* Of standard input. */
enum step_status hatf_stream_create(const struct standard_input *start,
                                    const struct event_selection *selected,
                                    struct alloc_source **out, struct step_error *error);
enum step_status hatf_text_stream_create(const struct standard_input *start,
                                         const struct event_selection *selected,
                                         struct alloc_source **out, struct step_error *error);
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
enum step_status simple_binary_alloc_sink_create(struct output_file *output,
                                                 const struct event_source *source,
                                                 const struct event_sink_options *options,
                                                 struct alloc_sink **out, struct step_error *error);

size_t hatf_options(struct option_row *rows, struct event_sink_options *options);

#endif
