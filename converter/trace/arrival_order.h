/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reorders a heap trace that is still being written.  Its records come in order for each thread,
 * but one thread's may be ahead of another's.  As addresses are reused, the allocations and frees
 * of an address are ordered by time.  An object is considered dead as soon as a newer record uses
 * its address, and a record that comes too late describes an object that is already dead.  The
 * implied free is skipped when its record comes.  In the output, addresses are object numbers, and
 * each object is freed after its allocation.
 */
#ifndef CONVERTER_TRACE_ARRIVAL_ORDER_H
#define CONVERTER_TRACE_ARRIVAL_ORDER_H

#include "converter/trace/alloc_source.h"

/* Creates the source.  Takes ownership of `records`, even on failure.  END means that no more
 * records are available yet. */
enum step_status arrival_order_create(struct alloc_source *records, struct alloc_source **out,
                                      struct step_error *error);

/* Processes a free before `records` returns it, which it then must not do; or a realloc in
 * place, which `records` still returns.  Returns false if out of memory. */
bool arrival_order_free(struct alloc_source *source, const struct hatf_record *record);
/* Inspects allocations and reallocs in place that `records` has not returned yet.  Start with
 * arrival_order_look(), note all of them, then ask for each whether its object is alive as far
 * as is known. */
void arrival_order_look(struct alloc_source *source);
void arrival_order_note_birth(struct alloc_source *source, uint64_t address, uint64_t time);
bool arrival_order_would_live(struct alloc_source *source, uint64_t address, uint64_t time);

#endif
