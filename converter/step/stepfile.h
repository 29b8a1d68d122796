/* SPDX-License-Identifier: Apache-2.0 */
/* STEP files: sources and sinks of events and of allocations. */
#ifndef CONVERTER_STEP_STEPFILE_H
#define CONVERTER_STEP_STEPFILE_H

#include "converter/trace/alloc_sink.h"
#include "converter/trace/alloc_source.h"
#include "converter/trace/event_sink.h"

enum step_status stepfile_source_create(const char *path, const struct event_selection *selected,
                                        struct opened_trace *out, struct step_error *error);
enum step_status stepfile_sink_create(const struct format_output *to, struct event_sink **out,
                                      struct step_error *error);
/* A trace with records of hatf.step; takes the reader over, also when it fails. */
enum step_status stepfile_alloc_source_create(const char *path, struct step_reader *reader,
                                              struct alloc_source **out, struct step_error *error);
/* The same of a trace that is still written: its blocks as they stand in the file, with the streams
 * as far as they are; END where there is no more so far.  The reader is borrowed, and refreshed by
 * whoever has it. */
enum step_status stepfile_alloc_tail_create(const char *path, struct step_reader *reader,
                                            struct alloc_source **out, struct step_error *error);
/* Frees of a tail of which this is true are passed over: they were told of before. */
typedef bool (*stepfile_is_told)(void *user, uint64_t stream, uint64_t number);
void stepfile_alloc_tail_pass(struct alloc_source *tail, stepfile_is_told is_told, void *user);
enum step_status stepfile_alloc_sink_create(const struct format_output *to, struct alloc_sink **out,
                                            struct step_error *error);
/* Does the file have records of hatf.step? */
bool stepfile_reader_has_heap_events(const struct step_reader *reader);

struct stepfile_options {
    bool is_plain;                 /* addresses as they are, without the heap's model */
    uint32_t packed_block_records; /* not 0: packed as `steptrace pack` does */
};
extern const struct format_options stepfile_options;

#endif
