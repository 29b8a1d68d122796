/* SPDX-License-Identifier: Apache-2.0 */
/* The lines, and members of JSON, that `steptrace info` prints of any trace. */
#ifndef CONVERTER_COMMANDS_INFO_PRINT_H
#define CONVERTER_COMMANDS_INFO_PRINT_H

#include "converter/formats/input.h"
#include "format/json/json_output.h"

/* Returns 0 if there are none. */
double info_bytes_per_item(const struct trace_summary *summary, uint64_t count);

/* A row is a label and a value. */
void info_print_label(const char *label);
/* Escapes line feeds and other characters that would break the table. */
void info_print_value(const char *value);
void info_print_row(const char *label, uint64_t value);
void info_print_times(uint64_t first_ns, uint64_t last_ns);

/* The rows of the file: its name, format and size. `unit`: what `count` counts, or NULL. */
void info_print_trace(const char *path, const struct trace_summary *summary, uint64_t count,
                      const char *unit);
/* The row that says whether it is complete. */
void info_print_state(const struct event_source *source, const struct trace_summary *summary);
void info_print_properties(const struct event_source *source);

/* The members of JSON that say the same; the caller closes `json`. */
void info_json_begin(struct json_output *json, const char *path, const struct event_source *source,
                     const struct trace_summary *summary);
void info_put_properties(struct json_output *json, const struct event_source *source);

/* Reads a heap trace, prints its summary, and reports damage. */
enum step_status info_allocs(struct input *input, const char *path, bool json);

#endif
