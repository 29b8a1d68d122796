/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the agent that a JVM is to load. */
#ifndef CONVERTER_VERBS_AGENT_OF_H
#define CONVERTER_VERBS_AGENT_OF_H

#include "converter/attach/jvm_process.h"

/* Writes a path to `path`, which has PATH_MAX bytes: of the agent that the JVM has already
 * loaded, else `wanted`, else of the installed agent.  Returns false, after reporting it, if
 * there is none. */
bool agent_of(const struct jvm_process *process, const char *wanted, char *path);

#endif
