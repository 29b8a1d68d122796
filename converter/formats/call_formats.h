/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of calls. */
#ifndef CONVERTER_FORMATS_CALL_FORMATS_H
#define CONVERTER_FORMATS_CALL_FORMATS_H

#include "converter/events/event_sink.h"

enum step_status speedscope_calls_sink_create(struct output_file *output,
                                              const struct event_source *source,
                                              const struct event_sink_options *options,
                                              struct event_sink **out, struct step_error *error);
enum step_status chrome_trace_sink_create(struct output_file *output,
                                          const struct event_source *source,
                                          const struct event_sink_options *options,
                                          struct event_sink **out, struct step_error *error);

#endif
