/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sets of phases that are open at an event, by number: what open_phases.h says of a selection's
 * patterns, for all names at once.  A set is a path in a tree, of which each node adds one name, so
 * that memory is proportional to the combinations that occur.  A name that is open several times,
 * or in the thread and the program, is in the set once.
 */
#ifndef CONVERTER_TRACE_PHASE_SETS_H
#define CONVERTER_TRACE_PHASE_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/containers/id_table.h"
#include "converter/containers/name_index.h"
#include "steptrace/status.h"

/* Names that may be open at once in a thread, and in the program. */
#define PHASE_SET_MOST 64u

struct open_names {
    uint32_t numbers[PHASE_SET_MOST];
    uint32_t times[PHASE_SET_MOST]; /* a phase may be nested in one of its name */
    uint32_t count;
};

struct thread_phases {
    struct open_names *open;
    uint32_t set;     /* of the thread and the program, valid at */
    uint32_t version; /* this version of the program's */
};

struct phase_sets {
    struct name_index nodes; /* by parent and name */
    struct open_names program;
    uint32_t version;
    struct id_table threads; /* struct thread_phases */
};

void phase_sets_init(struct phase_sets *sets);
void phase_sets_reset(struct phase_sets *sets);
/* A phase begins or ends, as in open_phases_put().  Returns NO_MEMORY, or CORRUPT if more than
 * PHASE_SET_MOST are open. */
enum step_status phase_sets_put(struct phase_sets *sets, uint32_t thread_id, uint32_t number,
                                bool of_program, bool begins);
/* Sets `*set` to that of the thread's events now; 0: no phase is open.  Returns false if out of
 * memory. */
bool phase_sets_now(struct phase_sets *sets, uint32_t thread_id, uint32_t *set);
/* Returns the number of a name in the set (not 0), and changes `*set` to one without it. */
uint32_t phase_sets_take(const struct phase_sets *sets, uint32_t *set);

#endif
