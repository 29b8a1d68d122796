/* SPDX-License-Identifier: Apache-2.0 */
/* What young generations of several sizes would have copied and promoted, for a report. */
#ifndef CONVERTER_REPORT_REPORT_COLLECTORS_H
#define CONVERTER_REPORT_REPORT_COLLECTORS_H

#include "converter/simulate/simulation.h"
#include "converter/trace/event_source.h"
#include "format/json/json_output.h"

/* NULL: not simulated, since a part of the trace was selected.  Returns false if out of memory. */
bool report_collectors_begin(struct simulation **simulation, const struct event_source *source);
/* Sizes that add up to more than the models can count end the simulation, not the report. */
enum step_status report_collectors_put(struct simulation **simulation,
                                       const struct trace_event *events, size_t count,
                                       struct step_error *error);
void report_collectors_end(struct simulation *simulation);
/* Writes the member "collectors": null if nothing was collected. */
void report_collectors_put_data(const struct simulation *simulation, struct json_output *json);

#endif
