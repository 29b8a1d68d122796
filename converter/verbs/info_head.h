/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the part of `steptrace info` that is the same for all traces. */
#ifndef CONVERTER_VERBS_INFO_HEAD_H
#define CONVERTER_VERBS_INFO_HEAD_H

#include "converter/trace/event_source.h"
#include "format/json/json_output.h"

/* Prints the state: complete, cut, damaged or running; as text, and as members of an object. */
void info_print_state(const struct event_source *source, const struct trace_summary *summary);
void info_put_state(struct json_output *json, const struct event_source *source,
                    const struct trace_summary *summary);

/* Prints how the trace was recorded. */
void info_print_properties(const struct event_source *source);
void info_put_properties(struct json_output *json, const struct event_source *source);

#endif
