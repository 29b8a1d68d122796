/* SPDX-License-Identifier: Apache-2.0 */
/* What the compilers stepc and metatfc have in common: faults on stderr, files that are written. */
#ifndef COMPILER_H
#define COMPILER_H

#include <stdio.h>

#include "steptrace/definition.h"

/* "file:line:column: message", then the line with a caret.  A step_fault_visit. */
void compiler_report_fault(void *user, const struct step_fault *fault);

/* Writes BASE.ENDING under a temporary name and renames it; false: said why on stderr. */
bool compiler_write_file(const char *program, const char *base, const char *ending,
                         void (*write)(const void *user, FILE *out), const void *user);

/* The file's name without directories, and "my-trace" as the C name "my_trace".  NULL: it does not
 * do, said on stderr. */
const char *compiler_base(const char *program, const char *path, char *name, size_t size);

#endif
