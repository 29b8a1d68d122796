/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a STEP trace into events, and its dictionaries into names. */
#ifndef CONVERTER_STEP_EVENT_OF_RECORD_H
#define CONVERTER_STEP_EVENT_OF_RECORD_H

#include "converter/trace/event_source.h"
#include "steptrace/java_trace.h"

/* Set in files where threads' numbers may stand in their names, as "#17" or "#17 name": those that
 * the converter wrote (step_events_sink.c). */
#define THREAD_NUMBERS_PROPERTY "thread-numbers"
#define THREAD_NUMBERS_IN_NAMES "name"

struct stepfile_decoder {
    struct step_reader *reader; /* borrowed */
    struct step_java_trace_binding binding;
    int *records; /* by record of the file: the nearest that we know, or -1 */
    size_t record_count;
    uint64_t resolution_ns;
    bool numbers_in_names;
    struct trace_names *names; /* borrowed */
};

enum step_status stepfile_decoder_init(struct stepfile_decoder *decoder, struct step_reader *reader,
                                       struct trace_names *names, struct step_error *error);
void stepfile_decoder_reset(struct stepfile_decoder *decoder);

/* Reads the properties again: of a trace that is being written they may have come since. */
void stepfile_decoder_refresh(struct stepfile_decoder *decoder);

/* The kind that records of the file's type become; EVENT_KIND_COUNT: they are no events. */
enum step_text_kind stepfile_decoder_kind(const struct stepfile_decoder *decoder, uint32_t record);

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

/* The number, as text shows it, of a thread that the file's dictionary has. */
uint64_t stepfile_decoder_thread_number(const struct stepfile_decoder *decoder, uint64_t id);
/* The same of a thread with that dictionary entry's name, which is taken off the name. */
uint64_t stepfile_thread_number(const struct step_reader *reader, struct step_bytes *name,
                                uint64_t id);

#endif
