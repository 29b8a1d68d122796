/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of reference stores, each after the store, with the stored value and its place:
 *
 *     putfield    dup2; putfield; push n; storeField
 *     putstatic   dup; putstatic; push n; storeStatic
 *     aastore     astore v; dup2; aload v; aastore; aload v; storeElement
 *     calls       save and reload the arguments; call; probe of some, and of the result
 *
 * Before super() a constructor may store into fields of its uninitialised `this`, which cannot be
 * passed to a probe. These fields are read and reported when super() has returned.
 */
#ifndef AGENT_REWRITER_STORES_H
#define AGENT_REWRITER_STORES_H

#include "agent/rewriter/method_code.h"

/* Additional stack for these probes. */
#define STORE_STACK 2u

/* Marks the instruction at `offset` if it stores references. Returns false at a fault. */
bool store_mark(struct method_code *method, uint32_t offset);
/* Returns true if the putfield at `offset` sets a field of the uninitialised this. */
bool store_is_early(struct method_code *method, uint32_t offset);

/* Write the code around a marked instruction. */
void store_put_before(struct method_code *method, uint32_t offset);
void store_put_after(struct method_code *method, uint32_t offset);

/* Writes the code that reports the early stores, after super(). */
void store_put_early(struct method_code *method);

#endif
