/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this JDK's own classes can have probes: a few of them get them before a session begins.
 * A class file of a version, or of a form, that the rewriter does not read is none of a few: all
 * classes of a JDK are alike in that, and without them a trace misses nearly everything.
 */
#ifndef AGENT_BYTECODE_ENGINE_PROOF_H
#define AGENT_BYTECODE_ENGINE_PROOF_H

#include <jni.h>
#include <stdbool.h>

/* On a Java thread.  NULL: they can, and they keep them; else why not, and they have none.
 * switch_engine() switches the rewriting, and the class file hook, on or off. */
const char *engine_proof(JNIEnv *jni, void (*switch_engine)(bool rewrite, bool hook));

/* The calling thread is at it: what follows is for the engine to call. */
bool engine_proof_runs(void);
/* The hook has seen one of the classes. */
void engine_proof_seen(void);
/* A class, or a method, gets no probes. */
void engine_proof_fail(const char *class_name, const char *method_name, const char *reason);

#endif
