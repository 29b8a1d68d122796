/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace may lack that began in a running JVM with missed=no: objects of calls that had begun
 * before it, and nobody has compared with the JVM's counters.  A phase that is a method's call has
 * no such call in its thread; one of the program, or of the class steptrace.Phase, may have.
 */
#ifndef CONVERTER_TRACE_MISSED_OBJECTS_H
#define CONVERTER_TRACE_MISSED_OBJECTS_H

#include "converter/trace/event_source.h"

/* Returns why objects of such calls may be missing in what is selected; NULL: none are.  `phases`
 * are patterns of the phases that are asked for; NULL: all phases, each for itself.  Call it when
 * the events are read. */
const char *missed_objects_of(const struct event_source *source,
                              const struct selected_globs *phases);

#endif
