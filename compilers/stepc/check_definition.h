/* SPDX-License-Identifier: Apache-2.0 */
/* What the language allows and stepc does not: see docs/formats/step-dl.md, "Faults". */
#ifndef COMPILERS_STEPC_CHECK_DEFINITION_H
#define COMPILERS_STEPC_CHECK_DEFINITION_H

#include "steptrace/definition.h"

/* Where faults and warnings of one definition go to. */
struct definition_check {
    const struct step_definition *definition;
    bool strict; /* warnings are faults */
    size_t faults;
    size_t warnings;
};

/* Attributes that are misspelt, or do not fit what they stand at. */
void check_attributes(struct definition_check *check);

/* All of it: attributes, maps that no reader could follow, and what no writer takes.  An exit code;
 * `path` is for messages without a place. */
int check_definition(const struct step_definition *definition, const char *path, bool strict);

struct dl_place;
/* A fault, or a warning, at its place. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void check_report(struct definition_check *check, const struct dl_place *place, bool warning,
                  const char *format, ...);

#endif
