/* SPDX-License-Identifier: Apache-2.0 */
/* Converts records of a STEP trace to events, and its dictionaries to names. */
#ifndef CONVERTER_STEP_EVENT_OF_RECORD_H
#define CONVERTER_STEP_EVENT_OF_RECORD_H

#include "converter/step/java_records.h"
#include "converter/trace/event_source.h"
#include "steptrace/records.h"

/* Ids that were looked up last, by their low bits: 0 where there is none. */
#define STEPFILE_LAST_IDS 1024u

struct stepfile_decoder {
    struct java_records java;
    struct trace_names *names; /* borrowed */
    uint32_t classes[STEPFILE_LAST_IDS], frames[STEPFILE_LAST_IDS];
    uint64_t thread; /* of the last run */
};

/* Sets all members of the event except its time, which `*ticks` returns in the trace's ticks.
 * Returns false if the record is not an event.  If memory runs out for a name, the name stays
 * unknown and `names->no_memory` is set. */
bool stepfile_decoder_event(struct stepfile_decoder *decoder, const struct step_record_view *view,
                            struct trace_event *event, uint64_t *ticks);

/* Returns whether stepfile_decoder_run() takes records of a type of the file: those of most events,
 * unless the file's definition has other fields. */
bool stepfile_decoder_takes_runs(const struct stepfile_decoder *decoder, uint32_t record);
/* The same as stepfile_decoder_event() for a run of such records: `events` has room for all.  Sets
 * the time, too. */
void stepfile_decoder_run(struct stepfile_decoder *decoder, const struct step_records_run *run,
                          struct trace_event *events);

/* Converts a record to a fact.  Returns false if it is not one. */
bool stepfile_decoder_fact(struct stepfile_decoder *decoder, const struct step_record_view *view,
                           struct trace_fact *fact);

/* Adds an entry of a dictionary (STEP_JAVA_CLASS, _METHOD, _THREAD, _FRAME) to the names.
 * Returns false if the file does not have the entry (yet). */
bool stepfile_decoder_name(struct stepfile_decoder *decoder, int record, uint64_t id);

#endif
