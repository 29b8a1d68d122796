/* SPDX-License-Identifier: Apache-2.0 */
/* The text format, in a ZIP entry (text) or plain (lines). */
#ifndef CONVERTER_FORMATS_TEXT_TEXT_FORMAT_H
#define CONVERTER_FORMATS_TEXT_TEXT_FORMAT_H

#include "converter/events/event_sink.h"

enum step_status text_source_create(const char *path, const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error);
enum step_status lines_source_create(const char *path, const struct event_selection *selected,
                                     struct opened_trace *out, struct step_error *error);
enum step_status text_sink_create(struct output_file *output, const struct event_source *source,
                                  const struct event_sink_options *options, struct event_sink **out,
                                  struct step_error *error);
enum step_status lines_sink_create(struct output_file *output, const struct event_source *source,
                                   const struct event_sink_options *options,
                                   struct event_sink **out, struct step_error *error);

#endif
