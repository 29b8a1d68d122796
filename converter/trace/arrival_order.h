/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a heap trace in the order in which they come to hand: each thread's in order, but one
 * thread's farther than another's, as of a trace that is still written.  An address is used again,
 * so its frees and allocations are put in order by their times: what was there before is dead as
 * soon as something newer is told of, and what is told of too late is born dead; the free that was
 * thought of is then passed over when it comes.  What comes out has numbers of objects for
 * addresses, and each object is freed after it was allocated.
 */
#ifndef CONVERTER_TRACE_ARRIVAL_ORDER_H
#define CONVERTER_TRACE_ARRIVAL_ORDER_H

#include "converter/trace/alloc_source.h"

/* Takes the records over, also when it fails.  END is what there is so far: more may come. */
enum step_status arrival_order_create(struct alloc_source *records, struct alloc_source **out,
                                      struct step_error *error);

/* A free that was seen before it came with the records, and is not to come again; or a realloc in
 * place, which is still to come.  False: out of memory. */
bool arrival_order_free(struct alloc_source *source, const struct hatf_record *record);
/* A look at allocations, and reallocs in place, that did not come yet: all are noted, and then it
 * is asked of each whether its object lives, as far as is known. */
void arrival_order_look(struct alloc_source *source);
void arrival_order_note_birth(struct alloc_source *source, uint64_t address, uint64_t time);
bool arrival_order_would_live(struct alloc_source *source, uint64_t address, uint64_t time);

#endif
