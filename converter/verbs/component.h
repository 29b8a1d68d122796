/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the project's other programs and libraries. */
#ifndef CONVERTER_VERBS_COMPONENT_H
#define CONVERTER_VERBS_COMPONENT_H

#include <stdbool.h>

/* Finds a file of the project.  A path in `wanted` or else in the environment variable is the only
 * one checked.  Otherwise searches `directory` beside this program (a build tree), then the
 * installation.  `path` has room for PATH_MAX. */
bool component_find(const char *name, const char *directory, const char *wanted,
                    const char *variable, char *path);

#endif
