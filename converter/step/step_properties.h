/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a STEP file that is converted from another trace. */
#ifndef CONVERTER_STEP_STEP_PROPERTIES_H
#define CONVERTER_STEP_STEP_PROPERTIES_H

#include "converter/trace/event_source.h"
#include "steptrace/writer.h"

/* Writes the source's properties, the resolution, and a producer if the source names none. */
void step_properties_copy(struct step_writer *writer, const struct event_source *source,
                          uint64_t resolution_ns);

#endif
