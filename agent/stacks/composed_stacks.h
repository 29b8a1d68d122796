/* SPDX-License-Identifier: Apache-2.0 */
/* New stacks put together from what a walk has read, without the JVM. The JVM's answers teach what
 * the frames of walks are. */
#ifndef AGENT_STACKS_COMPOSED_STACKS_H
#define AGENT_STACKS_COMPOSED_STACKS_H

#include "agent/base/tracer.h"
#include "agent/stacks/frame_walk.h"

/* The frames of a trail that are a stack, from `first` (0: the innermost) outwards. `age` is how
 * often methods had been redefined before the walk. */
struct composed_stack {
    struct frame_walker *walker;
    struct frame_trail *trail;
    uint32_t first, wanted;
    uint32_t age;
};

/* Returns the number of the stack's innermost frame; 0: the JVM must be asked. */
uint32_t composed_stack_number(struct session *session, const struct composed_stack *stack);

/* `frames` are what the JVM says of the stack, whose methods' ids have the age `age_of_ids`.
 * Nothing is learnt from an answer that does not have the bytecode indexes of the trail. */
void composed_stack_learn(struct session *session, const struct composed_stack *stack,
                          const jvmtiFrameInfo *frames, size_t count, uint32_t age_of_ids);

#endif
