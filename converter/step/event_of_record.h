/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a STEP trace into events, and its dictionaries into names. */
#ifndef CONVERTER_STEP_EVENT_OF_RECORD_H
#define CONVERTER_STEP_EVENT_OF_RECORD_H

#include "converter/step/java_records.h"
#include "converter/trace/event_source.h"

struct stepfile_decoder {
    struct java_records java;
    struct trace_names *names; /* borrowed */
};

/* Fills the event, but for its time, which is given in the trace's own ticks.  False: the record is
 * no event (or memory ran out for a name, which then stays unknown). */
bool stepfile_decoder_event(struct stepfile_decoder *decoder, const struct step_record_view *view,
                            struct trace_event *event, uint64_t *ticks);

/* False: the record is no fact. */
bool stepfile_decoder_fact(struct stepfile_decoder *decoder, const struct step_record_view *view,
                           struct trace_fact *fact);

/* Puts an entry of a dictionary (STEP_JAVA_CLASS, _METHOD, _THREAD, _FRAME) into the names.  False:
 * the file does not have it, or not yet. */
bool stepfile_decoder_name(struct stepfile_decoder *decoder, int record, uint64_t id);

#endif
