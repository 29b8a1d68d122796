/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects a tracker's snapshots tell of.  The others are followed in one cell, so that
 * moments are those of the whole heap, and are taken off snapshots.
 */
#ifndef CONVERTER_HEAP_HEAP_CHOICE_H
#define CONVERTER_HEAP_HEAP_CHOICE_H

#include "converter/heap/heap_tracker.h"

/* The cell of the objects that are not wanted, where there is a selection. */
#define HEAP_HIDDEN_CELL 0u

/* False: out of memory; reset is allowed then. */
bool heap_choice_init(struct heap_tracker *tracker, const struct event_selection *selected);
void heap_choice_reset(struct heap_tracker *tracker);
bool heap_choice_takes(struct heap_tracker *tracker, const struct trace_event *event,
                       uint32_t site);
/* Takes what is hidden off the snapshot. */
void heap_choice_show(const struct heap_tracker *tracker, struct heap_snapshot *snapshot);

#endif
