/* SPDX-License-Identifier: Apache-2.0 */
/* Parses attributes written by the recorder of native programs:
 * CALL[,align=N][,existing][;FRAME]..., innermost frame first (docs/replay.md). */
#ifndef CONVERTER_TRACE_RECORDED_CALLS_H
#define CONVERTER_TRACE_RECORDED_CALLS_H

#include "converter/containers/name_index.h"
#include "converter/trace/names.h"

/* Zero-initialise for an empty cache. */
struct recorded_calls {
    struct name_index texts, methods, frames;
    struct id_table stacks; /* uint32_t: frame, by number of the text */
    bool is_ready;
};

void recorded_calls_reset(struct recorded_calls *calls);

/* Splits attributes into call and stack.  Returns false if there is no stack, or if the recorder
 * did not write the text. */
bool recorded_call_split(struct step_bytes attributes, struct step_bytes *call,
                         struct step_bytes *stack);

/* Removes the mark `existing`, which a call has if it was made before the trace began, in the
 * process that forked the traced one.  Returns false if there is no mark. */
bool recorded_call_take_existing(struct step_bytes *call);
/* Inserts the mark into attributes.  `out` must have room for them plus
 * RECORDED_CALL_EXISTING_BYTES.  Returns the new length. */
#define RECORDED_CALL_EXISTING_BYTES 16u
size_t recorded_call_put_existing(struct step_bytes attributes, uint8_t *out);

/* Returns the id in `names` of the stack's innermost frame; 0 if out of memory. */
uint32_t recorded_calls_frame(struct recorded_calls *calls, struct trace_names *names,
                              struct step_bytes stack);

/* Returns the name of an enum step_live_heap_call in attributes; empty for an unknown value. */
const char *recorded_call_text(uint32_t call);

#endif
