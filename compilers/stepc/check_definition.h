/* SPDX-License-Identifier: Apache-2.0 */
/* What the language allows and stepc does not: see docs/formats/step-dl.md, "Faults". */
#ifndef COMPILERS_STEPC_CHECK_DEFINITION_H
#define COMPILERS_STEPC_CHECK_DEFINITION_H

#include "steptrace/definition.h"

/* All of it: attributes, maps that no reader could follow, and what no writer takes.  An exit code;
 * `path` is for messages without a place. */
int check_definition(const struct step_definition *definition, const char *path, bool strict);

#endif
