/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats that hold heaps: one interface over all of them.  A writer takes snapshots, from a trace
 * (heap_sink.c) or from an imported dump, and writes them into a file.
 */
#ifndef CONVERTER_HEAP_HEAP_WRITER_H
#define CONVERTER_HEAP_HEAP_WRITER_H

#include "converter/base/output_stream.h"
#include "converter/heap/heap_export.h"
#include "converter/heap/heap_snapshot.h"
#include "converter/trace/event_sink.h"

struct heap_writer {
    const struct heap_writer_operations *operations;
    const struct heap_sites *sites; /* borrowed; may grow between snapshots */
    struct heap_export options;
    const char *title;           /* what the program was, or NULL; borrowed */
    uint64_t process;            /* its number */
    uint64_t start_ns;           /* the wall clock at time zero; 0: not known */
    struct output_stream stream; /* where it goes */
};

struct heap_writer_operations {
    /* Takes the snapshot's rows in any order, and may reorder and fold them. */
    enum step_status (*put)(struct heap_writer *writer, struct heap_snapshot *snapshot,
                            struct step_error *error);
    /* Writes what is left to the stream; called once, not after a put that failed. */
    enum step_status (*close)(struct heap_writer *writer, struct step_error *error);
    void (*reset)(struct heap_writer *writer);
    size_t size_bytes; /* of the writer's own struct, which begins with a heap_writer */
    bool takes_series; /* else one snapshot */
};

/* Makes a writer; `output` is borrowed. */
enum step_status heap_writer_create(const struct heap_writer_operations *operations,
                                    const struct step_output *output,
                                    const struct heap_export *options,
                                    const struct heap_sites *sites, struct heap_writer **out,
                                    struct step_error *error);
/* Closes writer and stream. */
enum step_status heap_writer_close(struct heap_writer *writer, struct step_error *error);
void heap_writer_destroy(struct heap_writer *writer);

/* heap_sink.c: a sink of events that follows what lives and hands its snapshots to a writer. */
enum step_status heap_sink_create(const struct format_output *to, struct event_sink **out,
                                  struct step_error *error);

#endif
