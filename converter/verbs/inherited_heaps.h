/* SPDX-License-Identifier: Apache-2.0 */
/* What lived in a process when it forked is put in front of its child's trace. */
#ifndef CONVERTER_VERBS_INHERITED_HEAPS_H
#define CONVERTER_VERBS_INHERITED_HEAPS_H

#include "converter/verbs/recorded_traces.h"

/* Writes the traces of forked children anew, where the moment of the fork and the parent's trace
 * are known.  `list` is in the order of the processes' starts.  Faults are told. */
enum step_status inherited_heaps_tell(struct trace_list *list);

#endif
