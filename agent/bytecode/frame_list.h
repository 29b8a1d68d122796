/* SPDX-License-Identifier: Apache-2.0 */
/* A StackMapTable with frames for trampolines in it. */
#ifndef FRAME_LIST_H
#define FRAME_LIST_H

#include "method_code.h"

/* Writes all frames in full, in order, with a copy of its target's frame for each trampoline; *next
 * is one more than the place of the last frame, or 0. */
bool frame_list_put(struct method_code *method, uint32_t *next);

#endif
