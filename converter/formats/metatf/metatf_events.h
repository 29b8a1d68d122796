/* SPDX-License-Identifier: Apache-2.0 */
/* A record of java.dtd's section of events, as an event. */
#ifndef CONVERTER_FORMATS_METATF_METATF_EVENTS_H
#define CONVERTER_FORMATS_METATF_METATF_EVENTS_H

#include "converter/events/event.h"
#include "converter/formats/metatf/metatf_tables.h"

/* False: it refers to what the tables do not have. */
bool metatf_event_take(const struct metatf_tables *tables, const struct step_java_metatf_event *in,
                       struct trace_event *event, struct metatf_dangling *dangling);

#endif
