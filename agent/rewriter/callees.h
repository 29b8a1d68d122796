/* SPDX-License-Identifier: Apache-2.0 */
/* What a class file calls, by its constant pool. */
#ifndef AGENT_REWRITER_CALLEES_H
#define AGENT_REWRITER_CALLEES_H

#include "agent/rewriter/class_file.h"

/* Does `is_wanted` take any method or interface method of the constant pool?  Malformed class files
 * have none from where they are. */
bool class_has_callee(const uint8_t *bytes, size_t size_bytes,
                      bool (*is_wanted)(void *context, const struct class_callee *callee),
                      void *context);

#endif
