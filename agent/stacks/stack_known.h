/* SPDX-License-Identifier: Apache-2.0 */
/* Maps keys of known stacks and frames to their numbers: a hash table that threads read and write
 * without a lock. It grows as needed; at its limit new keys replace old ones. */
#ifndef AGENT_STACKS_STACK_KNOWN_H
#define AGENT_STACKS_STACK_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct stack_known;

/* A hash of everything that identifies a stack's frames, or a frame. */
struct stack_key {
    uint64_t low, high;
};

/* Returns NULL if out of memory. */
struct stack_known *stack_known_create(void);
void stack_known_destroy(struct stack_known *known);

bool stack_known_find(struct stack_known *known, const struct stack_key *key, uint32_t *number);
void stack_known_add(struct stack_known *known, const struct stack_key *key, uint32_t number);

#endif
