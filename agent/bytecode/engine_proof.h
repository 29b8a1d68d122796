/* SPDX-License-Identifier: Apache-2.0 */
/* Self-test: can this JDK's own classes have probes? A few of them get probes before a session
 * begins. If the rewriter does not support their class file version or form, it supports no class
 * of this JDK, as they are alike in that, and a trace would miss nearly everything. */
#ifndef AGENT_BYTECODE_ENGINE_PROOF_H
#define AGENT_BYTECODE_ENGINE_PROOF_H

#include <jni.h>
#include <stdbool.h>

/* Runs the test on a Java thread. Returns NULL if the classes can have probes, and keeps these.
 * Otherwise returns the reason, and the classes have none. switch_engine() switches rewriting and
 * the class file hook on or off. */
const char *engine_proof(JNIEnv *jni, void (*switch_engine)(bool rewrite, bool hook));

/* Returns true if the calling thread runs the test. The engine calls this and the functions
 * below. */
bool engine_proof_runs(void);
/* Call when the hook has seen one of the classes. */
void engine_proof_seen(void);
/* Call when a class, or a method, gets no probes. */
void engine_proof_fail(const char *class_name, const char *method_name, const char *reason);

#endif
