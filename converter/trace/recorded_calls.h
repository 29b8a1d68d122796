/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder of native programs says in attributes: CALL[,align=N][,existing][;FRAME]...,
 * the innermost frame first (docs/replay.md). */
#ifndef CONVERTER_TRACE_RECORDED_CALLS_H
#define CONVERTER_TRACE_RECORDED_CALLS_H

#include "converter/base/name_index.h"
#include "converter/trace/names.h"

/* Zero-initialised is empty. */
struct recorded_calls {
    struct name_index texts, methods, frames;
    struct id_table stacks; /* uint32_t: the frame, by text */
    bool is_ready;
};

void recorded_calls_reset(struct recorded_calls *calls);

/* Cuts the stack off; false: there is none, or the text is somebody else's. */
bool recorded_call_split(struct step_bytes attributes, struct step_bytes *call,
                         struct step_bytes *stack);

/* Cuts the mark off a call that was made before the trace began, in the process that this one was
 * forked from; false: it has none. */
bool recorded_call_take_existing(struct step_bytes *call);
/* Puts the mark into attributes; `out` has room for them and RECORDED_CALL_EXISTING_BYTES more.
 * Returns how many bytes they are. */
#define RECORDED_CALL_EXISTING_BYTES 16u
size_t recorded_call_put_existing(struct step_bytes attributes, uint8_t *out);

/* The stack's innermost frame in `names`, 0: out of memory. */
uint32_t recorded_calls_frame(struct recorded_calls *calls, struct trace_names *names,
                              struct step_bytes stack);

/* What an enum step_live_heap_call says in attributes; empty: there is none such. */
const char *recorded_call_text(uint32_t call);

#endif
