/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the replay driver: operations in shared memory, a process for each allocator. */
#ifndef CONVERTER_REPLAY_REPLAY_RUN_H
#define CONVERTER_REPLAY_REPLAY_RUN_H

#include <limits.h>
#include <sys/types.h>

#include "converter/open/format_table.h"
#include "converter/replay/replay_plan.h"

struct replay_settings {
    const char *path;                  /* of a file that can be read again and again */
    const char *name;                  /* what the person calls it */
    const struct trace_format *format; /* NULL: by ending and content */
    bool is_threaded;
    bool is_paced;
    bool refuses;
    uint32_t touch; /* enum replay_touch */
    uint64_t repeat;
    uint64_t memory_bytes; /* for operations; what needs more is streamed; 0: a quarter of all */
    char driver[PATH_MAX];
};

/* An allocator, and the results of its runs. */
struct replay_allocator {
    const char *name;
    char library[PATH_MAX];      /* empty: the C library's */
    struct replay_control *best; /* of the run with the least time */
    uint64_t *busy_ns;           /* of each run */
    uint64_t run_count;
};

struct replay {
    struct replay_settings settings;
    struct replay_counts counts;
    struct replay_allocator driver; /* without an allocator: the loop alone */
    struct replay_allocator *allocators;
    size_t allocator_count;
    bool is_streamed;
    bool is_damaged; /* the trace: what was good is replayed */
    /* the shared memory */
    int file;
    struct replay_control *control;
    struct replay_piece *piece;
    uint64_t piece_count;
    bool is_full; /* the trace needs more than memory_bytes */
    pid_t process;
    bool has_died; /* the driver's process */
    int wait_status;
};

/* Adds an allocator by name ("glibc", "jemalloc", ...) or library ("./my.so").  NOT_FOUND: it is
 * not installed. */
enum step_status replay_add_allocator(struct replay *replay, const char *name,
                                      struct step_error *error);
/* Adds all known ones that are installed. */
enum step_status replay_add_installed(struct replay *replay, struct step_error *error);

/* Decodes the trace and runs all. */
enum step_status replay_run(struct replay *replay, struct step_error *error);
void replay_reset(struct replay *replay);

/* ns a call: of the allocator (without the driver), and of the driver. */
double replay_ns_per_call(const struct replay *replay, const struct replay_allocator *allocator);
double replay_driver_ns_per_call(const struct replay *replay);

#endif
