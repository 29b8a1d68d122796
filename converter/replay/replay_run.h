/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a replay: operations in shared memory, and a driver process for each run of an allocator. */
#ifndef CONVERTER_REPLAY_REPLAY_RUN_H
#define CONVERTER_REPLAY_REPLAY_RUN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/replay/driver/replay_ops.h"
#include "converter/replay/replay_trace.h"
#include "steptrace/status.h"

/* The allocators to replay under: the library and the results of each. */

struct replay_allocator {
    const char *name;            /* borrowed */
    char library[PATH_MAX];      /* empty: the C library's */
    struct replay_control *best; /* the fastest run; NULL: none */
    uint64_t *busy_ns;           /* of each run */
    uint64_t run_count;
};

/* To initialise, zero the structure. */
struct replay_allocators {
    struct replay_allocator *items;
    size_t count;
};

/* Adds an allocator by name ("glibc", "jemalloc", ...) or library ("./my.so").  Returns NOT_FOUND
 * if it is not installed. */
enum step_status replay_allocators_add(struct replay_allocators *allocators, const char *name,
                                       struct step_error *error);
/* Adds all known allocators that are installed. */
enum step_status replay_allocators_add_installed(struct replay_allocators *allocators,
                                                 struct step_error *error);

struct replay {
    struct replay_settings settings;
    struct replay_trace trace;
    struct replay_allocator driver; /* no allocator: the loop alone */
    struct replay_allocators allocators;
    struct replay_pieces pieces;
    struct replay_process process;
};

/* Copies the settings.  The objects that they borrow must outlive the replay. */
void replay_init(struct replay *replay, const struct replay_settings *settings);
/* Decodes the trace and runs all allocators. */
enum step_status replay_run(struct replay *replay, struct step_error *error);
void replay_reset(struct replay *replay);

/* Return ns per call: of the allocator (without the driver's own time), and of the driver. */
double replay_ns_per_call(const struct replay *replay, const struct replay_allocator *allocator);
double replay_driver_ns_per_call(const struct replay *replay);

#endif
