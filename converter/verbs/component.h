/* SPDX-License-Identifier: Apache-2.0 */
/* Where the project's other programs and libraries lie. */
#ifndef CONVERTER_VERBS_COMPONENT_H
#define CONVERTER_VERBS_COMPONENT_H

#include <stdbool.h>

/* Finds a file of the project: where `wanted` or, if that is NULL, the environment variable says;
 * else beside this program in a build tree (in `directory`), or where it is installed.  `path` has
 * room for PATH_MAX. */
bool component_find(const char *name, const char *directory, const char *wanted,
                    const char *variable, char *path);

#endif
