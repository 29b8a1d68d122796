/* SPDX-License-Identifier: Apache-2.0 */
/* The properties that a STEP file gets which is made of another trace. */
#ifndef CONVERTER_STEP_STEP_PROPERTIES_H
#define CONVERTER_STEP_STEP_PROPERTIES_H

#include "converter/trace/event_source.h"
#include "steptrace/writer.h"

/* Those of the source, a producer if it names none, and the resolution. */
void step_properties_copy(struct step_writer *writer, const struct event_source *source,
                          uint64_t resolution_ns);

#endif
