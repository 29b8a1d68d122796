/* SPDX-License-Identifier: Apache-2.0 */
/* STEP files: sources and sinks of events and of allocations. */
#ifndef CONVERTER_FORMATS_STEP_STEPFILE_H
#define CONVERTER_FORMATS_STEP_STEPFILE_H

#include "converter/allocs/alloc_sink.h"
#include "converter/allocs/alloc_source.h"
#include "converter/events/event_sink.h"

enum step_status stepfile_source_create(const char *path, const struct event_selection *selected,
                                        struct opened_trace *out, struct step_error *error);
enum step_status stepfile_sink_create(struct output_file *output, const struct event_source *source,
                                      const struct event_sink_options *options,
                                      struct event_sink **out, struct step_error *error);
/* A trace with records of hatf.step; takes the reader over, also when it fails. */
enum step_status stepfile_alloc_source_create(const char *path, struct step_reader *reader,
                                              struct alloc_source **out, struct step_error *error);
/* The same of a trace that is still written: its blocks as they stand in the file, with the streams
 * as far as they are; END where there is no more so far.  The reader is borrowed, and refreshed by
 * whoever has it. */
enum step_status stepfile_alloc_tail_create(const char *path, struct step_reader *reader,
                                            struct alloc_source **out, struct step_error *error);
enum step_status stepfile_alloc_sink_create(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct alloc_sink **out, struct step_error *error);
/* Does the file have records of hatf.step? */
bool stepfile_reader_has_heap_events(const struct step_reader *reader);

size_t stepfile_options(struct option_row *rows, struct event_sink_options *options);

#endif
