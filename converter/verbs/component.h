/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the project's other programs and libraries. */
#ifndef CONVERTER_VERBS_COMPONENT_H
#define CONVERTER_VERBS_COMPONENT_H

#include <stdbool.h>

/* Finds a file of the project: at `wanted`, else at the path in the environment variable, else
 * beside this program in a build tree (in `directory`), else where it is installed.  `path` has
 * room for PATH_MAX. */
bool component_find(const char *name, const char *directory, const char *wanted,
                    const char *variable, char *path);

#endif
