/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of HotSpot's -XX:+LogCompilation: which allocations C2 removed, in which compilations.
 * HotSpot writes one element a line, and leaves a log that is no whole XML document when it is
 * killed; so it is read line by line, in one pass.  Memory grows with the methods that C2 compiled,
 * not with the log.
 */
#ifndef ANALYSES_SITES_JIT_LOG_H
#define ANALYSES_SITES_JIT_LOG_H

#include "converter/containers/id_set.h"
#include "converter/containers/id_table.h"
#include "converter/containers/name_index.h"
#include "format/core/arena.h"
#include "steptrace/status.h"

#define JIT_ROOTS 3u

/* A method, with its counters as the log last gave them: calls and jumps back (loops) in the
 * interpreter and in C1's code, as C2's code does not count. */
struct jit_method {
    uint64_t calls, loops;
    uint32_t compiled; /* finished compilations by C2 that contain it, inlined or not */
};

/* A bytecode index of a method at which C2 removed an allocation. */
struct jit_place {
    uint32_t method, class;    /* numbers of texts */
    uint32_t removed;          /* compilations that removed it wherever they contain the method, */
    uint32_t partly;           /* or only in some places */
    uint32_t discarded;        /* of both, whose code the JVM later discarded */
    uint32_t roots[JIT_ROOTS]; /* first compiled methods that it was inlined into, or itself */
    bool more_roots;
    bool by_call; /* what a called method makes was removed: a box, for one */
    bool matched; /* a site of the trace is there; set by the join */
};

struct jit_parse {
    uint32_t method, count;
};

struct jit_removal {
    uint64_t chain; /* hash of place and callers */
    uint32_t place, root;
};

struct jit_log {
    const char *path; /* borrowed */
    struct name_index texts;
    struct step_arena memory; /* of the texts */
    struct name_index places_index;
    struct jit_method *methods; /* by number of the text */
    size_t method_capacity;
    struct jit_place *places; /* by number of the place; [0] is unused */
    size_t place_count, place_capacity;
    struct id_table ids; /* struct jit_name: those of the running task */
    struct id_set discarded;
    uint64_t compilations, removing, skipped_lines;
    bool is_complete;
    /* the task that is being read */
    uint32_t task, compile_id, class;
    bool in_task, by_call;
    int in_removal;
    struct jit_removal removal;
    struct jit_parse *parses;
    size_t parse_count, parse_capacity;
    struct jit_removal *removals;
    size_t removal_count, removal_capacity;
};

/* Reads the log.  jit_log_reset() is needed in each case.  CORRUPT: it is none; CUT: it was read to
 * its end, which is missing; `error` is set then. */
enum step_status jit_log_read(struct jit_log *log, const char *path, struct step_error *error);
void jit_log_reset(struct jit_log *log);

/* Returns the number of a method, "java/lang/String charAt (I)C", or 0. */
uint32_t jit_log_method(const struct jit_log *log, struct step_bytes text);
/* Returns what was removed there, or NULL. */
struct jit_place *jit_log_place(const struct jit_log *log, uint32_t method, uint64_t bytecode);

#endif
