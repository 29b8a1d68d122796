/* SPDX-License-Identifier: Apache-2.0 */
/* Destination of events or of allocations: the interface of all output formats that are written
 * while the trace is read. */
#ifndef CONVERTER_TRACE_TRACE_SINK_H
#define CONVERTER_TRACE_TRACE_SINK_H

#include "converter/output/output_file.h"
#include "converter/output/output_stream.h"
#include "converter/trace/copy_loss.h"
#include "converter/trace/trace_format.h"
#include "steptrace/hatf.h"

#define TRACE_SINK_LOSS_ROOM (sizeof COPY_LOSS_COMMENT + TRACE_ABOUT_LOSS_ROOM)

struct trace_sink {
    const struct trace_sink_operations *operations;
    const struct event_source *source; /* provides names and properties; borrowed */
    struct output_file *file;          /* borrowed */
    struct step_packed_output *packed; /* NULL: the file is not compressed */
    struct output_stream stream;       /* of a sink that prints */
};

struct trace_sink_operations {
    size_t size_bytes;   /* of the sink's structure, which begins with a struct trace_sink */
    bool has_properties; /* of a sink of allocations: a copy says there what it lacks, not in a
                            comment */
    bool prints;         /* to `stream`, which is compressed as the format says */
    /* Begins the file.  The rest of the structure is zero. */
    enum step_status (*open)(struct trace_sink *sink, const struct format_output *to,
                             struct step_error *error);
    /* One of these two. */
    enum step_status (*put)(struct trace_sink *sink, const struct trace_event *events, size_t count,
                            struct step_error *error);
    enum step_status (*put_alloc)(struct trace_sink *sink, const struct hatf_record *record,
                                  struct step_error *error);
    /* Writes a fact, after the last event; NULL: the format cannot store facts. */
    enum step_status (*put_fact)(void *sink, const struct trace_fact *fact);
    /* Writes the rest; NULL: there is none. */
    enum step_status (*close)(struct trace_sink *sink, struct step_error *error);
    /* Frees what the structure holds, also after an open that failed; NULL: nothing. */
    void (*reset)(struct trace_sink *sink);
};

/* Creates the sink of allocations if there is one and they are wanted, else that of events. */
enum step_status trace_sink_create(const struct format_output *to, bool of_allocs,
                                   struct trace_sink **out, struct step_error *error);
enum step_status trace_sink_put(struct trace_sink *sink, const struct trace_event *events,
                                size_t count, struct step_error *error);
enum step_status trace_sink_put_alloc(struct trace_sink *sink, const struct hatf_record *record,
                                      struct step_error *error);
/* Completes the file.  Called once, and not after a put that failed. */
enum step_status trace_sink_close(struct trace_sink *sink, struct step_error *error);
void trace_sink_destroy(struct trace_sink *sink);

/* For implementations: writes the comment that says what the copy lacks (copy_loss.h).  Returns
 * false if that is nothing.  Call it when all events are there. */
bool trace_sink_loss(const struct trace_sink *sink, char comment[TRACE_SINK_LOSS_ROOM]);
/* For implementations: sets `output` to the sink's file, compressed as the format says. */
enum step_status trace_sink_pack(struct trace_sink *sink, const struct format_output *to,
                                 struct step_output *output, struct step_error *error);

#endif
