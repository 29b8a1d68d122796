/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace heap of a trace: its events are followed to the moments that were asked for. */
#ifndef CONVERTER_VERB_PARTS_HEAP_HEAP_FROM_TRACE_H
#define CONVERTER_VERB_PARTS_HEAP_HEAP_FROM_TRACE_H

#include "converter/verb_parts/heap/heap_asked.h"

/* Finds and prints, and judges by the rules; `*failed`: how many of these fail.  Faults and damage
 * are said to people.  The selection is good for nothing afterwards: what it chose was the trace's.
 */
enum step_status heap_from_trace(struct heap_asked *asked, const char *path, size_t *failed);

#endif
