/* SPDX-License-Identifier: Apache-2.0 */
/* A StackMapTable with frames for trampolines and guards in it. */
#ifndef AGENT_REWRITER_FRAME_LIST_H
#define AGENT_REWRITER_FRAME_LIST_H

#include "agent/rewriter/method_code.h"

/* Writes all frames in full, in order, with a copy of its target's frame for each trampoline and
 * one for the guard of each handler's probe; *next is one more than the place of the last frame, or
 * 0; *count is how many there are. */
bool frame_list_put(struct method_code *method, uint32_t *next, uint32_t *count);

#endif
