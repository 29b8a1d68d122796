/* SPDX-License-Identifier: Apache-2.0 */
/* Sources and sinks of events and of allocations for STEP files. */
#ifndef CONVERTER_STEP_STEPFILE_H
#define CONVERTER_STEP_STEPFILE_H

#include "converter/trace/alloc_source.h"
#include "converter/trace/trace_format.h"
#include "steptrace/writer.h"

enum step_status stepfile_source_create(const char *path, const struct event_selection *selected,
                                        struct opened_trace *out, struct step_error *error);
/* The same for a trace of events whose reader is open.  Takes ownership of `reader`, even on
 * failure. */
enum step_status stepfile_event_source_create(const char *path, struct step_reader *reader,
                                              const struct event_selection *selected,
                                              struct event_source **out, struct step_error *error);
extern const struct trace_sink_operations stepfile_sink_operations;
/* Opens a trace with records of hatf.step.  Takes ownership of `reader`, even on failure. */
enum step_status stepfile_alloc_source_create(const char *path, struct step_reader *reader,
                                              struct alloc_source **out, struct step_error *error);
/* Opens such a trace while it is being written.  Returns records in the order of the file's
 * blocks, so that streams are not merged; END if there are no more yet.  `reader` is borrowed;
 * the caller refreshes it. */
enum step_status stepfile_alloc_tail_create(const char *path, struct step_reader *reader,
                                            struct alloc_source **out, struct step_error *error);
/* Makes a tail skip the frees for which `is_known` returns true, because they were reported
 * before. */
typedef bool (*stepfile_is_known)(void *user, uint64_t stream, uint64_t number);
void stepfile_alloc_tail_pass(struct alloc_source *tail, stepfile_is_known is_known, void *user);
extern const struct trace_sink_operations stepfile_alloc_sink_operations;
/* Returns whether the file has records of hatf.step. */
bool stepfile_reader_has_heap_events(const struct step_reader *reader);

/* Maps HATF records to records of hatf.step, and back. */

/* Number of slots of the longest record. */
enum { HEAP_STEP_SLOTS = 7 };

/* How a HATF tag is stored.  The slots of a record are time, thread, attributes; then, if the
 * tag has them, heap, size, the old address or an age, and the new address or a rank. */
struct alloc_form {
    uint8_t plain;  /* enum heap_record */
    uint8_t placed; /* the same with age and rank; `plain` if there is no such record */
    bool has_old;
    bool has_new;
};

extern const struct alloc_form alloc_forms[HATF_COMMENT];

struct stepfile_options {
    bool is_plain;                 /* store addresses, without the heap's model */
    uint32_t packed_block_records; /* not 0: packed, like `steptrace pack` */
};
extern const struct format_options stepfile_options;

/* Creates the writer of a trace that is converted from another one, with these options and the
 * source's properties, the resolution, which it sets, and a producer if the source names none. */
enum step_status stepfile_writer_create(const struct format_output *to,
                                        struct step_writer_options *options,
                                        uint64_t *resolution_ns, struct step_writer **writer,
                                        struct step_error *error);

#endif
