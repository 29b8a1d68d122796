/* SPDX-License-Identifier: Apache-2.0 */
/* Converts records of a STEP trace to events, and its dictionaries to names. */
#ifndef CONVERTER_STEP_EVENT_OF_RECORD_H
#define CONVERTER_STEP_EVENT_OF_RECORD_H

#include "converter/step/java_records.h"
#include "converter/trace/event_source.h"

struct stepfile_decoder {
    struct java_records java;
    struct trace_names *names; /* borrowed */
};

/* Sets all members of the event except its time, which `*ticks` returns in the trace's ticks.
 * Returns false if the record is not an event.  If memory runs out for a name, the name stays
 * unknown and `names->no_memory` is set. */
bool stepfile_decoder_event(struct stepfile_decoder *decoder, const struct step_record_view *view,
                            struct trace_event *event, uint64_t *ticks);

/* Converts a record to a fact.  Returns false if it is not one. */
bool stepfile_decoder_fact(struct stepfile_decoder *decoder, const struct step_record_view *view,
                           struct trace_fact *fact);

/* Adds an entry of a dictionary (STEP_JAVA_CLASS, _METHOD, _THREAD, _FRAME) to the names.
 * Returns false if the file does not have the entry (yet). */
bool stepfile_decoder_name(struct stepfile_decoder *decoder, int record, uint64_t id);

#endif
