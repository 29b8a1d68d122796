/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of frames of a session: the dictionary java.Frame of its trace. */
#ifndef AGENT_STACKS_STACK_TREE_H
#define AGENT_STACKS_STACK_TREE_H

#include "agent/base/tracer.h"
#include "agent/stacks/stack_known.h"

/* Returns the number of the innermost of `depth` frames, which are ordered from there outwards; 0
 * if there are none. Defines new frames in the trace. A frame is identified by its method, its
 * bytecode index, and `age`: how often methods had been redefined when the frames were read. */
uint32_t stack_tree_walk(struct session *session, const jvmtiFrameInfo *frames, size_t depth,
                         uint32_t age);

/* A site is a frame without its caller: a method of the trace's dictionary, and a line or a
 * bytecode index in it. `makes`: it is the innermost frame of its stack. stack_tree_site() asks the
 * JVM the first time. Both return 0 if the JVM cannot name the method, or if out of memory. */
uint32_t stack_tree_site(struct session *session, const jvmtiFrameInfo *frame, uint32_t age,
                         bool makes);
/* Returns the number of a frame, by the number of its caller (0: none) and its site. */
uint32_t stack_tree_child(struct session *session, uint32_t parent, uint32_t site);

/* Tables by keys: whole stacks; frames, by all that is further out; sites. */
struct stack_known *stack_tree_known(struct stack_tree *tree);
struct stack_known *stack_tree_places(struct stack_tree *tree);
struct stack_known *stack_tree_sites(struct stack_tree *tree);

#endif
