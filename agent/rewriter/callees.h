/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the methods that a class file calls, from its constant pool. */
#ifndef AGENT_REWRITER_CALLEES_H
#define AGENT_REWRITER_CALLEES_H

#include "agent/rewriter/class_file.h"

/* Returns true if `is_wanted` accepts any method or interface method of the constant pool. Returns
 * false if the constant pool is malformed. */
bool class_has_callee(const uint8_t *bytes, size_t size_bytes,
                      bool (*is_wanted)(void *context, const struct class_callee *callee),
                      void *context);

#endif
