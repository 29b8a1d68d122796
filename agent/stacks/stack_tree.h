/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of frames of a session: the dictionary java.Frame of its trace. */
#ifndef AGENT_STACKS_STACK_TREE_H
#define AGENT_STACKS_STACK_TREE_H

#include "agent/base/tracer.h"

struct stack_known;

/* Returns NULL if out of memory. */
struct stack_tree *stack_tree_create(void);
void stack_tree_destroy(struct stack_tree *tree);

/* Returns the number of the innermost of `depth` frames, which are ordered from there outwards; 0
 * if there are none. Defines new frames in the trace. A frame is identified by its method, its
 * bytecode index, and `age`: how often methods had been redefined when the frames were read. */
uint32_t stack_tree_walk(struct session *session, const jvmtiFrameInfo *frames, size_t depth,
                         uint32_t age);

/* Returns the table of stacks that are known by their keys. */
struct stack_known *stack_tree_known(struct stack_tree *tree);

#endif
