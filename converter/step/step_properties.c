/* SPDX-License-Identifier: Apache-2.0 */
/* Copies properties from a source to a writer. */
#include "converter/step/stepfile.h"

#include <inttypes.h>
#include <stdio.h>

void step_properties_copy(struct step_writer *writer, const struct event_source *source,
                          uint64_t resolution_ns)
{
    char resolution[32];
    bool has_producer = event_source_property(source, "producer") != NULL;
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key != NULL; i++)
        step_writer_property(writer, property.key, property.value);
    if (!has_producer)
        step_writer_property(writer, "producer", "StepTrace steptrace " STEPTRACE_VERSION);
    snprintf(resolution, sizeof resolution, "%" PRIu64, resolution_ns);
    if (event_source_has_times(source))
        step_writer_property(writer, "resolution-ns", resolution);
}
