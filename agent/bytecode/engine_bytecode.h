/* SPDX-License-Identifier: Apache-2.0 */
/* engine=bytecode: the engine that rewrites classes. */
#ifndef AGENT_BYTECODE_ENGINE_BYTECODE_H
#define AGENT_BYTECODE_ENGINE_BYTECODE_H

#include "agent/events/engine.h"

extern const struct engine engine_bytecode;

/* At load, before a session. */
void engine_bytecode_initialize(void);

/* Before a session of any engine begins: takes away the probes that the last one kept
 * (probes=keep), unless they serve this one. */
void engine_bytecode_settle(JNIEnv *jni, const struct session *session);

/* Returns true if leaf methods have one probe (agent/rewriter/method_scan.c), and their calls one
 * time. */
bool leaf_methods_have_one_time(const struct options *options);

#endif
