/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the begins and ends of phases, and tells which events are in phases that patterns select
 * (docs/phases.md).  An event is in the open phases of its thread and of the program.  A phase that
 * is nested in itself is open until its outermost end.
 */
#ifndef CONVERTER_TRACE_OPEN_PHASES_H
#define CONVERTER_TRACE_OPEN_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/containers/id_table.h"
#include "converter/trace/event_selection.h"

/* Open phases that match a pattern, and those that match one with `!`. */
struct phase_counts {
    uint32_t wanted, unwanted;
};

struct open_phases {
    const struct selected_globs *globs; /* borrowed */
    bool asks;                          /* a pattern has no `!` */
    struct id_table names;              /* struct phase_counts: of one phase with this name */
    struct id_table threads;            /* struct phase_counts */
    struct phase_counts program;
};

void open_phases_init(struct open_phases *phases, const struct selected_globs *globs);
void open_phases_reset(struct open_phases *phases);
/* Sets the name of phases with this number, before it is used.  Returns false if out of memory. */
bool open_phases_name(struct open_phases *phases, uint32_t number, struct step_bytes name);
/* A phase begins or ends in the thread, or, if `of_program`, for all threads.  Returns false if out
 * of memory. */
bool open_phases_put(struct open_phases *phases, uint32_t thread_id, uint32_t number,
                     bool of_program, bool begins);
/* Returns true if the thread's events are selected now. */
bool open_phases_accept(const struct open_phases *phases, uint32_t thread_id);

/* Returns a bitmap of the patterns that match the name: `*` matches anything. */
uint32_t phase_name_mask(const struct selected_globs *globs, struct step_bytes name);

#endif
