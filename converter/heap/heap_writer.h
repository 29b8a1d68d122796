/* SPDX-License-Identifier: Apache-2.0 */
/* Interface that all output formats for heaps implement.  A writer receives snapshots, from a trace
 * (heap_sink_operations) or from an imported dump, and writes them to a file. */
#ifndef CONVERTER_HEAP_HEAP_WRITER_H
#define CONVERTER_HEAP_HEAP_WRITER_H

#include "converter/heap/heap_snapshot.h"
#include "converter/output/output_stream.h"
#include "converter/trace/heap_moment.h"
#include "converter/trace/trace_format.h"

/* The options that select which part of a heap is shown or written. */
struct event_selection;

struct heap_export {
    const struct event_selection *selected; /* objects to include; borrowed.  NULL: all */
    struct heap_moment at;                  /* the moment, if there is only one */
    bool has_moment;                        /* `at` was given */
    uint64_t every_ns;                      /* not 0: a series with this interval */
    bool every_collection;
    bool allocated; /* all allocations, not only live objects */
    bool v2;        /* memory-infra: write heaps_v2 */
    bool has_least; /* omit nodes smaller than `least` */
    bool least_is_percent;
    double least;
};

/* Returns the limit in bytes for a heap of `total_bytes`; 0 if none was given. */
uint64_t heap_export_least_bytes(const struct heap_export *options, uint64_t total_bytes);
/* Returns the amount of a row that the options select. */
static inline const struct heap_amount *heap_export_amount(const struct heap_export *options,
                                                           const struct heap_row *row)
{
    return options->allocated ? &row->allocated : &row->live;
}

/* Returns its bytes (objects, if sizes are unknown). */
static inline uint64_t heap_export_weight(const struct heap_export *options,
                                          const struct heap_snapshot *snapshot,
                                          const struct heap_row *row)
{
    const struct heap_amount *amount = heap_export_amount(options, row);
    return snapshot->has_sizes ? amount->bytes : amount->objects;
}

/* The options --at; --allocated; and those for series of dumps.  All set a struct heap_export. */
extern const struct format_options heap_moment_options;
extern const struct format_options heap_options;
extern const struct format_options heap_series_options;
extern const struct format_options *const heap_format_options[]; /* the first two */
/* Returns the option values, with defaults. */
struct heap_export heap_export_of(const struct format_settings *settings);

/* Parser of an option value, as in arguments.h. */
bool take_heap_least(void *export_target, const char *value, const char **fault);

struct heap_writer {
    const struct heap_writer_operations *operations;
    const struct heap_sites *sites; /* borrowed; may grow between snapshots */
    struct heap_export options;
    struct trace_text title;         /* description of the program, if there is one */
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

/* A sink of events that passes snapshots of the heap to a writer. */
extern const struct trace_sink_operations heap_sink_operations;

#endif
