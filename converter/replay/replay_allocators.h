/* SPDX-License-Identifier: Apache-2.0 */
/* The allocators that a trace is replayed under: where each is, and what its runs gave. */
#ifndef CONVERTER_REPLAY_REPLAY_ALLOCATORS_H
#define CONVERTER_REPLAY_REPLAY_ALLOCATORS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/replay/driver/replay_ops.h"
#include "steptrace/status.h"

struct replay_allocator {
    const char *name;            /* borrowed */
    char library[PATH_MAX];      /* empty: the C library's */
    struct replay_control *best; /* of the run with the least time; NULL: there was none */
    uint64_t *busy_ns;           /* of each run */
    uint64_t run_count;
};

/* Zeroed it is empty. */
struct replay_allocators {
    struct replay_allocator *items;
    size_t count;
};

/* Adds an allocator by name ("glibc", "jemalloc", ...) or library ("./my.so").  NOT_FOUND: it is
 * not installed. */
enum step_status replay_allocators_add(struct replay_allocators *allocators, const char *name,
                                       struct step_error *error);
/* Adds all known ones that are installed. */
enum step_status replay_allocators_add_installed(struct replay_allocators *allocators,
                                                 struct step_error *error);
void replay_allocators_reset(struct replay_allocators *allocators);

/* Keeps a run's result: a copy of it where it is the best. */
enum step_status replay_allocator_keep(struct replay_allocator *allocator,
                                       const struct replay_control *result,
                                       struct step_error *error);
void replay_allocator_reset(struct replay_allocator *allocator);

#endif
