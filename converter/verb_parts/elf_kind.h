/* SPDX-License-Identifier: Apache-2.0 */
/* What machine a library or program is for: asked before a program is started with a library that
 * its loader would refuse. */
#ifndef CONVERTER_VERB_PARTS_ELF_KIND_H
#define CONVERTER_VERB_PARTS_ELF_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* False: the library cannot be loaded into the command (a path, or found by PATH; what is a script
 * counts as this program), and `reason` says why.  True where that is not known. */
bool elf_kinds_fit(const char *library, const char *command, char *reason, size_t size);

#endif
