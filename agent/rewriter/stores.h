/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of reference stores, each after the store, with what was stored and where:
 *
 *     putfield    dup2; putfield; push n; storeField
 *     putstatic   dup; putstatic; push n; storeStatic
 *     aastore     astore v; dup2; aload v; aastore; aload v; storeElement
 *     calls       the arguments go to new variables and back; call; probe of some, and of the
 * result
 *
 * Before super() a constructor may put into fields of its uninitialised `this`, which no probe can
 * have: these fields are read and told of when super() has returned.
 */
#ifndef AGENT_REWRITER_STORES_H
#define AGENT_REWRITER_STORES_H

#include "agent/rewriter/method_code.h"

/* More of the stack than the method uses. */
#define STORE_STACK 2u

/* Marks the instruction at `offset` if it stores references; false: a fault. */
bool store_mark(struct method_code *method, uint32_t offset);
/* The putfield at `offset` is one of the uninitialised this. */
bool store_is_early(struct method_code *method, uint32_t offset);

/* Of the probes around an instruction with a mark. */
uint32_t store_bytes_before(const struct method_code *method, uint32_t offset);
uint32_t store_bytes_after(const struct method_code *method, uint32_t offset);
void store_put_before(struct method_code *method, uint32_t offset);
bool store_put_after(struct method_code *method, uint32_t offset);

/* What tells of the early stores, after super(). */
uint32_t store_early_bytes(const struct method_code *method);
bool store_put_early(struct method_code *method);

#endif
