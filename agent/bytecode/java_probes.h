/* SPDX-License-Identifier: Apache-2.0 */
/* The native methods of the probes' class, which rewritten code calls
 * (agent/rewriter/rewrite.h). */
#ifndef AGENT_BYTECODE_JAVA_PROBES_H
#define AGENT_BYTECODE_JAVA_PROBES_H

#include "agent/base/tracer.h"

/* Defines the class in the boot loader, once per process, and links its methods as the options need
 * them: calls may be counted instead of recorded, methods may begin or end the trace. */
bool java_probes_link(JNIEnv *jni, const struct options *options);

#endif
