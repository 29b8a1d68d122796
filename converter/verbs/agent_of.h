/* SPDX-License-Identifier: Apache-2.0 */
/* The path by which a JVM loads the agent. */
#ifndef CONVERTER_VERBS_AGENT_OF_H
#define CONVERTER_VERBS_AGENT_OF_H

#include "converter/attach/jvm_process.h"

/* Writes the path of the agent that the JVM has loaded already, else `wanted`, else where it is
 * installed, to `path` of PATH_MAX bytes.  False: it cannot be found; that has been reported. */
bool agent_of(const struct jvm_process *process, const char *wanted, char *path);

#endif
