/* SPDX-License-Identifier: Apache-2.0 */
/* Meta-TF, of Java's and of HATF's DTD. */
#ifndef CONVERTER_FORMATS_METATF_METATF_FORMAT_H
#define CONVERTER_FORMATS_METATF_METATF_FORMAT_H

#include "converter/allocs/alloc_sink.h"
#include "converter/allocs/alloc_source.h"
#include "converter/events/event_sink.h"

enum step_status metatf_source_create(const char *path, const struct event_selection *selected,
                                      struct opened_trace *out, struct step_error *error);
/* A trace with a DTD of HATF; `dtd_path` NULL: the file tells. */
enum step_status metatf_alloc_source_create(const char *path, const char *dtd_path,
                                            struct alloc_source **out, struct step_error *error);
enum step_status metatf_sink_create(struct output_file *output, const struct event_source *source,
                                    const struct event_sink_options *options,
                                    struct event_sink **out, struct step_error *error);
enum step_status metatf_alloc_sink_create(struct output_file *output,
                                          const struct event_source *source,
                                          const struct event_sink_options *options,
                                          struct alloc_sink **out, struct step_error *error);

/* The names of HATF's records in its DTD, by tag. */
extern const char *const metatf_heap_records[HATF_METADATA];

/* All of a writer's options that people choose. */
struct metatf_writer_options;
void metatf_layout_options(struct metatf_writer_options *how,
                           const struct event_sink_options *options);

size_t metatf_options(struct option_row *rows, struct event_sink_options *options);

#endif
