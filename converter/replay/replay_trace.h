/* SPDX-License-Identifier: Apache-2.0 */
/* The trace that is replayed, into pieces of operations. */
#ifndef CONVERTER_REPLAY_REPLAY_TRACE_H
#define CONVERTER_REPLAY_REPLAY_TRACE_H

#include "converter/replay/replay_pieces.h"
#include "converter/replay/replay_plan.h"

/* What decoding the trace told. */
struct replay_trace {
    struct replay_counts counts;
    bool is_damaged; /* said to people, once: what was good is replayed */
};

/* Goes through the trace once. */
enum step_status replay_trace_decode(struct replay_trace *trace,
                                     const struct replay_settings *settings,
                                     struct replay_pieces *pieces, struct step_error *error);

#endif
