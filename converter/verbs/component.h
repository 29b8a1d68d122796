/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the project's other programs and libraries, and the agent that a JVM is to load. */
#ifndef CONVERTER_VERBS_COMPONENT_H
#define CONVERTER_VERBS_COMPONENT_H

#include <stdbool.h>

#include "converter/attach/attach.h"

/* Finds a file of the project.  A path in `wanted` or else in the environment variable is the only
 * one checked.  Otherwise searches `directory` beside this program (a build tree), then the
 * installation.  `path` has room for PATH_MAX. */
bool component_find(const char *name, const char *directory, const char *wanted,
                    const char *variable, char *path);

/* Finds the agent that a JVM is to load. */

/* Writes a path to `path`, which has PATH_MAX bytes: of the agent that the JVM has already
 * loaded, else `wanted`, else of the installed agent.  Returns false, after reporting it, if
 * there is none. */
bool agent_of(const struct jvm_process *process, const char *wanted, char *path);

#endif
