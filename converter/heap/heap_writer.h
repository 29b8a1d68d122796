/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface that all output formats for heaps implement.  A writer receives snapshots, from a trace
 * (heap_sink.c) or from an imported dump, and writes them to a file.
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
    const char *title;               /* description of the program, or NULL; borrowed */
    uint64_t process;                /* its process id */
    uint64_t start_ns;               /* wall-clock time of time zero; 0: unknown */
    const struct level_curve *curve; /* of the operations' `draws`; borrowed */
    struct output_stream stream;     /* the output */
};

struct heap_writer_operations {
    /* Writes a snapshot.  Its rows are unordered; the writer may reorder and fold them. */
    enum step_status (*put)(struct heap_writer *writer, struct heap_snapshot *snapshot,
                            struct step_error *error);
    /* Writes the rest to the stream; NULL: there is none.  Called once, and not after a put that
     * failed. */
    enum step_status (*close)(struct heap_writer *writer, struct step_error *error);
    void (*reset)(struct heap_writer *writer);
    size_t size_bytes; /* size of the writer's structure, which begins with a struct heap_writer */
    bool takes_series; /* supports several snapshots */
    bool takes_peak_and_end; /* gets two snapshots, in this order, in place of one at --at */
    bool draws;              /* and the size of the heap over time */
};

/* Creates a writer.  `output` is borrowed. */
enum step_status heap_writer_create(const struct heap_writer_operations *operations,
                                    const struct step_output *output,
                                    const struct heap_export *options,
                                    const struct heap_sites *sites, struct heap_writer **out,
                                    struct step_error *error);
/* Closes the writer and its stream. */
enum step_status heap_writer_close(struct heap_writer *writer, struct step_error *error);
void heap_writer_destroy(struct heap_writer *writer);

/* heap_sink.c: creates a sink of events that passes snapshots of the heap to a writer. */
enum step_status heap_sink_create(const struct format_output *to, struct event_sink **out,
                                  struct step_error *error);

#endif
