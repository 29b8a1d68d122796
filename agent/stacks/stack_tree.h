/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of frames of a session: the dictionary java.Frame of its trace. */
#ifndef AGENT_STACKS_STACK_TREE_H
#define AGENT_STACKS_STACK_TREE_H

#include "agent/base/tracer.h"

struct stack_known;

/* NULL: out of memory. */
struct stack_tree *stack_tree_create(void);
void stack_tree_destroy(struct stack_tree *tree);

/* The number of the innermost of `depth` frames, which are given from there out; new frames are
 * defined in the trace.  0: there are none.  A frame is known by its method and bytecode index, and
 * by `age`: how often methods had been redefined when the frames were read. */
uint32_t stack_tree_walk(struct session *session, const jvmtiFrameInfo *frames, size_t depth,
                         uint32_t age);

/* The stacks that are known by their keys. */
struct stack_known *stack_tree_known(struct stack_tree *tree);

#endif
