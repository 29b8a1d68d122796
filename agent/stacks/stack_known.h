/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which number a stack has whose key was met before: a hash table that threads read and write
 * without a lock.  It grows with what it holds; at its limit a new stack takes an old one's place.
 */
#ifndef AGENT_STACKS_STACK_KNOWN_H
#define AGENT_STACKS_STACK_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct stack_known;

/* A hash over what decides a stack's frames. */
struct stack_key {
    uint64_t low, high;
};

/* NULL: out of memory. */
struct stack_known *stack_known_create(void);
void stack_known_destroy(struct stack_known *known);

bool stack_known_find(struct stack_known *known, const struct stack_key *key, uint32_t *number);
void stack_known_add(struct stack_known *known, const struct stack_key *key, uint32_t number);

#endif
