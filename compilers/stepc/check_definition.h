/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that stepc makes beyond the language; see docs/formats/step-dl.md, "Faults". */
#ifndef COMPILERS_STEPC_CHECK_DEFINITION_H
#define COMPILERS_STEPC_CHECK_DEFINITION_H

#include "steptrace/definition.h"

/* Checks attributes, maps that readers could not follow, and constructs that writers refuse.
 * Returns an exit code.  `path` is used in messages without a place. */
int check_definition(const struct step_definition *definition, const char *path, bool strict);

#endif
