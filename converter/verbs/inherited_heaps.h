/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts the objects that lived in a process when it forked before the trace of its child. */
#ifndef CONVERTER_VERBS_INHERITED_HEAPS_H
#define CONVERTER_VERBS_INHERITED_HEAPS_H

#include "converter/verbs/recorded_traces.h"

/* Rewrites the traces of forked children, if the moment of the fork and the parent's trace are
 * known.  `list` is in the order of process starts.  Reports errors. */
enum step_status inherited_heaps_list(struct trace_list *list);

#endif
